"""How a reply is read."""

import time

import pytest
from fruit_folder import spider

from agentenv.protocol import Action
from envservers.sql.env import SQLEnv
from envservers.sql.replies import NOTHING, Kind, Reply, read_reply
from envservers.sql.tasks import make_tasks

T = "```"


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        (f"{T}sql\nSELECT 1;\n{T}", "SELECT 1;"),
        (f"{T}sql\nSELECT 1\n{T}\nno, better:\n{T}sql\nSELECT 2\n{T}", "SELECT 2"),
        ("SELECT 3", "SELECT 3"),
        (f"{T}SQL\nSELECT 4\n{T}", "SELECT 4"),
        (f"{T}sql\nSELECT '{T}' AS ticks\n{T}", f"SELECT '{T}' AS ticks"),
        (f"{T}sql\n-- note\nSELECT 6\n{T}", "-- note\nSELECT 6"),
        (f"Thought: x\n\nAction: {T}sql\nSELECT 7", "SELECT 7"),
        (f"With this it works:\n{T}\nSELECT 8\n{T}", "SELECT 8"),
        (f"{T}sql\nSELECT 14\n{T}\nIt gives:\n{T}\n14\n{T}", "SELECT 14"),
        (f"Action:\n{T}sql\nSELECT 0\n{T}\nNo.\nAction:\n{T}sql\nSELECT 15\n{T}", "SELECT 15"),
        ("WITH a AS (SELECT 16) SELECT * FROM a; -- all", "WITH a AS (SELECT 16) SELECT * FROM a; -- all"),
        ("Action: SELECT 9\nFROM t", "SELECT 9\nFROM t"),
        (f"{T}sql SELECT 10;{T}", "SELECT 10;"),
        (f"SELECT '{T}'", f"SELECT '{T}'"),
        ("submit SELECT 11\nFROM t", "SELECT 11\nFROM t"),
        ("Action: submit[SELECT [a] FROM t]", "SELECT [a] FROM t"),
        (f"<think>{T}sql\nSELECT 0\n{T}</think>SELECT 12", "SELECT 12"),
        ("SELECT 13\r\nFROM t", "SELECT 13\nFROM t"),
    ],
)
def test_the_query_of_a_reply_is_found(reply, sql):
    assert read_reply(reply, bare=Kind.SUBMIT) == Reply(Kind.SUBMIT, sql)


@pytest.mark.parametrize(
    "reply", ["I do not know", "", f"{T}sql\n\n{T}", "noop", "<think>SELECT 1", "💥", "select", "["]
)
def test_a_reply_without_a_query_is_refused_with_a_reason(reply):
    read = read_reply(reply, bare=Kind.SUBMIT)
    assert read.kind is Kind.REFUSED or read.text == "select"
    assert read.text


@pytest.mark.parametrize("statement", ["DROP TABLE f", "explain SELECT 1", "Action: PRAGMA table_info(f)"])
def test_another_statement_than_a_query_is_told_what_is_allowed(statement):
    assert read_reply(statement, bare=Kind.SUBMIT) == Reply(Kind.REFUSED, "only a SELECT query is allowed")


def test_words_before_a_bare_query_are_told_where_it_should_stand():
    read = read_reply("Here it is:\nSELECT 1", bare=Kind.SUBMIT)
    assert read == Reply(Kind.REFUSED, "there is no SQL query in a fenced block, or as the whole reply")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("Action: describe a\nAction: describe b", Reply(Kind.DESCRIBE, "a")),
        ("Action: query SELECT 1\nObservation: 1\nAction: submit SELECT 2", Reply(Kind.QUERY, "SELECT 1")),
        (f"Action: query\n{T}sql\nSELECT 1\n{T}\nAction: submit\n{T}sql\nSELECT 2\n{T}", Reply(Kind.QUERY, "SELECT 1")),
        ("Action:\n\nAction: tables", Reply(Kind.TABLES)),
        ("Action: I look at the tables first.\nAction: tables\nAction: submit SELECT 1", Reply(Kind.TABLES)),
        (
            "Action: query DROP TABLE f\nAction: submit SELECT 1",
            Reply(Kind.REFUSED, "`query` needs a SELECT query behind it"),
        ),
        ("Action: I look.\nObservation: a, b\nAction: submit SELECT 1", NOTHING),
        ("query SELECT 1\nObservation: 1\nsubmit SELECT 2", Reply(Kind.QUERY, "SELECT 1")),
        ("Observation: a, b\nThought: good.\nAction: describe a", Reply(Kind.DESCRIBE, "a")),
        ("Action: tables\n**Observation:** a, b", Reply(Kind.TABLES)),
    ],
)
def test_where_one_may_look_around_the_first_action_counts_and_what_follows_was_imagined(reply, read):
    assert read_reply(reply, bare=Kind.QUERY) == read


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("tables", Reply(Kind.TABLES)),
        ("Thought: x\nAction: tables", Reply(Kind.TABLES)),
        ("describe order lines", Reply(Kind.DESCRIBE, "order lines")),
        ('Describe ["books"].', Reply(Kind.DESCRIBE, "books")),
        ("query: SELECT 1", Reply(Kind.QUERY, "SELECT 1")),
        (f"Action: submit\n{T}sql\nSELECT 2\n{T}", Reply(Kind.SUBMIT, "SELECT 2")),
        (f"{T}\nquery SELECT 3\n{T}", Reply(Kind.QUERY, "SELECT 3")),
        ("SELECT 4", Reply(Kind.QUERY, "SELECT 4")),
        ("Query the table first.\nsubmit SELECT 5", Reply(Kind.SUBMIT, "SELECT 5")),
        ("query DROP TABLE f", Reply(Kind.REFUSED, "`query` needs a SELECT query behind it")),
        ("describe", Reply(Kind.REFUSED, "write `describe` and the name of one table")),
    ],
)
def test_verbs_are_read_where_one_may_look_around(reply, read):
    assert read_reply(reply, bare=Kind.QUERY) == read


def test_a_note_in_front_is_no_part_that_swallows_the_query(tmp_path):
    options = {"folder": str(spider(tmp_path, "SELECT 6"))}
    env = SQLEnv(**options)
    env.reset(make_tasks(options).get("dev", 0))
    assert env.step(Action(text=f"{T}sql\n-- note\nSELECT 6\n{T}")).success


@pytest.mark.parametrize("reply", ["", f"{T}sql\n{T}", "-- only a note", f"{T}sql\n;\n{T}"])
def test_an_empty_statement_is_not_right_where_nothing_is(tmp_path, reply):
    options = {"folder": str(spider(tmp_path, "SELECT name FROM f WHERE 0"))}
    env = SQLEnv(**options)
    env.reset(make_tasks(options).get("dev", 0))
    result = env.step(Action(text=reply))
    assert (result.terminated, result.success, result.reward) == (True, False, 0.0)


@pytest.mark.parametrize("bare", [Kind.SUBMIT, Kind.QUERY])
@pytest.mark.parametrize("before", ["", "Action: ", T, f"{T}\n", "describe ", "query "])
@pytest.mark.parametrize("run", [" ", "\n", "\t", "`", T, f"{T} ", "/**/", "-- x\n", "Action:", "query ", "*"])
def test_no_reply_takes_long_to_read(run, before, bare):
    reply = before + run * (60_000 // len(run)) + "x"
    start = time.process_time()
    read_reply(reply, bare=bare)
    assert time.process_time() - start < 2.0  # milliseconds, or hours where a pattern tries every way to split a run
