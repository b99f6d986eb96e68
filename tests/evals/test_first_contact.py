"""A model behind an endpoint that we script: what the commands print of what it did, cost and answered."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_endpoint import USAGE, ScriptedEndpoint, chat

from agentenv.cli.main import main

PRICES = """
currency: USD
models:
  tiny: {input: 1000, output: 2000, date: 2026-01-31, source: "a list"}
"""


def commands(capsys, reply: object, *calls: Callable[[str], list[str]]) -> list[tuple[int, str, str]]:
    """Exit code, stdout and stderr of each command, which is made of the endpoint's URL."""

    def one(words: list[str]) -> int:
        with pytest.raises(SystemExit) as ended:
            main(words)
        return int(ended.value.code or 0)

    async def run() -> list[tuple[int, str, str]]:
        found = []
        async with ScriptedEndpoint([reply]) as endpoint:
            for call in calls:
                code = await asyncio.to_thread(one, call(endpoint.url))
                found.append((code, *capsys.readouterr()))
        return found

    return asyncio.run(run())


def play(url: str, *words: str) -> list[str]:
    return ["eval", "run", "smoke", "--limit", "1", "--agent", "react", "--model", "tiny", "--model-url", url, *words]


def test_answers_that_are_no_actions_are_called_a_format_problem_with_one_example(capsys):
    reply = chat("I would \x1b[31mgo north, I think")
    ran, shown, board = commands(
        capsys,
        reply,
        play,
        lambda url: ["eval", "show", "smoke-react"],
        lambda url: ["leaderboard", "--json"],
    )
    line = "react:tiny on maze: 100% of the answers were no action: likely a format problem, for example "
    assert line + "'I would \\x1b[31mgo north, I think' (" in ran[1]
    assert 'no line starts with "Action:"' in ran[1]
    assert "\x1b[31m" not in ran[1] + ran[2] + shown[1]
    assert shown[1].count("likely a format problem, for example") == 3
    assert {row["malformed"] for row in json.loads(board[1])} == {1.0}
    assert "tiny: " in ran[2]  # the preflight shows what was replied
    assert "go north" in ran[2]


def test_a_run_tells_tokens_and_cost_of_an_attempt_and_the_next_dry_run_expects_them(capsys, tmp_path: Path):
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    priced = ("--agent-option", f"prices={prices}")
    ran, dry, unknown = commands(
        capsys,
        chat("Action: left"),
        lambda url: play(url, "--json", *priced),
        lambda url: play(url, "--dry-run", "--json", *priced),
        lambda url: ["eval", "run", "smoke", "--agent", "noop", "--dry-run", "--json"],
    )
    row = next(row for row in json.loads(ran[1])["rows"] if row["env"] == "wordle")
    turn = (USAGE["prompt_tokens"] * 1000 + USAGE["completion_tokens"] * 2000) / 1e6
    assert row["mean_cost"] == pytest.approx(row["mean_steps"] * turn)
    assert row["mean_tokens"] == row["mean_steps"] * USAGE["total_tokens"]
    assert row["cost_per_success"] is None
    [expected] = json.loads(dry[1])["estimates"]
    assert expected["episodes"] == 3
    assert expected["cost"] == pytest.approx(json.loads(ran[1])["runs"][0]["cost"])
    assert expected["tokens"] == json.loads(ran[1])["runs"][0]["tokens"]
    assert expected["seconds"] > 0
    assert json.loads(unknown[1])["estimates"][0]["cost"] is None
