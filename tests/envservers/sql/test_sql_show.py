"""What an agent is shown of a result."""

import pytest
from fruit_folder import spider

from agentenv.protocol import Action
from envservers.sql.env import SQLEnv
from envservers.sql.guard import Result
from envservers.sql.show import MAX_TEXT, cell_text, result_text
from envservers.sql.tasks import make_tasks


def test_rows_beyond_the_limit_are_counted():
    text = result_text(Result(("id",), tuple((n,) for n in range(1000))), 3)
    assert text == "id\n0\n1\n2\n(1000 rows, the first 3 shown)"


def test_a_long_text_is_cut_and_says_by_how_much():
    text = result_text(Result(("a", "b"), (("x" * 5000, 1),) * 3), 20)
    assert text.count("(and 4,800 characters more) | 1") == 3
    assert text.endswith("(3 rows)")


def test_no_value_an_empty_text_the_word_and_bytes_look_different():
    assert [cell_text(c) for c in (None, "", "NULL", b"\x00\xff", 1, 1.0)] == [
        "NULL",
        "''",
        "'NULL'",
        "x'00ff'",
        "1",
        "1.0",
    ]


def test_a_cut_never_splits_a_character_of_two_halves():
    text = cell_text("😀" * 300)
    assert text.encode()
    assert "(and 100 characters more)" in text


def test_a_result_never_takes_more_than_its_limit_and_keeps_names_and_count():
    text = result_text(Result(tuple(f"column{n}" for n in range(100)), (("y" * 190,) * 100,) * 100), 100)
    assert len(text) <= MAX_TEXT
    assert text.startswith("column0 | ")
    assert "(100 rows, the first 0 shown; 60 more columns not shown)" in text


def test_no_rows_keep_the_columns():
    assert result_text(Result(("name",), ()), 20) == "name\n(0 rows)"


@pytest.mark.parametrize("sql", ["SELECT", "SELECT nothing FROM f", "SELECT * FROM nowhere", "SELECT 'a"])
def test_an_error_is_told_without_a_path_of_the_machine(tmp_path, sql):
    options = {"folder": str(spider(tmp_path / "secret-place", "SELECT name FROM f")), "mode": "multi"}
    env, task = SQLEnv(**options), make_tasks(options).get("dev", 0)
    assert "secret-place" not in env.reset(task).observation
    result = env.step(Action(text=f"query {sql}"))
    assert "secret-place" not in result.observation
    assert result.reward == 0
    assert result.info


def test_what_is_shown_is_cut_and_what_is_scored_is_not(tmp_path):
    options = {"folder": str(spider(tmp_path, "SELECT a.qty, b.qty FROM f a, f b, f c")), "rows": 1}
    env, task = SQLEnv(**options), make_tasks(options).get("dev", 0)
    for extra, right in (("", True), (" LIMIT 63", False)):
        env.reset(task)
        result = env.step(Action(text=f"SELECT a.qty, b.qty FROM f c, f b, f a{extra}"))
        assert result.success is right
        assert "the first 1 shown" in result.observation
