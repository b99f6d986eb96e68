"""Texts of others: visible in pages, harmless in spreadsheets and shells."""

import csv
import io
import shlex
import subprocess

import pytest
from made_pages import ESCAPES
from made_runs import ended

from agentenv.protocol import Outcome, TaskRef
from agentenv.trajectory import Turn
from evals.web.commands import replaying
from evals.web.site import templates
from evals.web.spreadsheet import cell, table
from evals.web.texts import visible

TASK = TaskRef(id="maze/test/0", env="maze", split="test", index=0)


def test_what_acts_on_a_terminal_or_turns_letters_is_named():
    assert visible(ESCAPES) == "⟨ESC⟩[31mred⟨ESC⟩[0m ⟨BEL⟩bell ⟨U+202E⟩right to left⟨U+202C⟩ [bold]markup[/bold]"
    assert visible("a\r\nb\tc\x00\x7f\x9b\u200b\ufeff") == "a⟨CR⟩\nb\tc⟨NUL⟩⟨U+007F⟩⟨U+009B⟩⟨U+200B⟩⟨U+FEFF⟩"


@pytest.mark.parametrize("text", ["Ünïcode ✓ 漢字 🙂", "two\nlines\tand a tab", ""])
def test_ordinary_texts_stay(text: str):
    assert visible(text) == text


def test_templates_escape_and_show_everything_they_print():
    page = templates().from_string('<p title="{{ t }}">{{ t }}</p>{{ n }}{{ nothing }}')
    assert page.render(t="<b>\x1b\"'&", n=1.5, nothing=None) == (
        '<p title="&lt;b&gt;⟨ESC⟩&#34;&#39;&amp;">&lt;b&gt;⟨ESC⟩&#34;&#39;&amp;</p>1.5'
    )


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", "|cmd", "\n=1"])
def test_a_cell_that_a_spreadsheet_would_calculate_is_a_text(text: str):
    assert cell(text) == "'" + text


@pytest.mark.parametrize("value", ["agent", "a=b", "", -1.5, -3, None, True])
def test_other_cells_stay(value: object):
    assert cell(value) == value


def test_a_table_reads_back_whatever_its_cells_hold():
    rows = [("a,b", 'say "x"', "two\nlines"), ("=1", "", "z\x00")]
    read = list(csv.reader(io.StringIO(table(("x", "y", "z"), rows), newline="")))
    assert read == [["x", "y", "z"], ["a,b", 'say "x"', "two\nlines"], ["'=1", "", "z\N{REPLACEMENT CHARACTER}"]]


def actions_of(*texts: str) -> list[Turn]:
    return [Turn(observation="", action=text, reward=0.0) for text in texts]


def test_the_command_gives_the_shell_the_actions_as_they_were(tmp_path):
    actions = ["go north", "say 'it''s' \"$HOME\" `id` $(id) \\n %s !!", "-n", "; rm -rf /", "漢字"]
    record = ended(Outcome.FAILURE, TASK, turns=actions_of(*actions), env_options={"size": 4, "mode": "a b"})
    command = replaying("run-1", record)
    played, _, player = command.partition(" | agentenv ")
    shown = subprocess.run(["sh", "-c", played], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert shown.splitlines() == actions
    assert shlex.split(player) == [
        "play", "maze", "--task", "maze/test/0", "--max-steps", "9", "--env-option", "size=4", "--env-option",
        "mode=a b",
    ]  # fmt: skip


@pytest.mark.parametrize("action", ["", "?", " go", "two\nlines", "\x1b[201~\rid", "a\u202eb", "x" * 5000])
def test_actions_that_the_terminal_cannot_carry_are_played_by_the_verification(action: str):
    record = ended(Outcome.FAILURE, TASK, turns=actions_of("go", action))
    assert replaying("run-1", record) == "agentenv eval verify run-1"


def test_a_completion_that_was_no_action_cannot_be_typed_either():
    turns = [Turn(observation="", action="well", malformed="no action", reward=0.0)]
    assert replaying("run 1", ended(Outcome.FAILURE, TASK, turns=turns)) == "agentenv eval verify 'run 1'"
