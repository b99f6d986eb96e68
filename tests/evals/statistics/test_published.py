"""What may be done with a score that somebody else has published."""

import pytest
from made_rows import run_rows, world

from evals.leaderboard import leaderboard
from evals.report import print_board
from evals.statistics.published import (
    BadPublished,
    Comparability,
    Published,
    comparability,
    read_published,
    standings,
)


def score(**changes):
    fields = {
        "agent": "Theirs", "env": "coin", "world": "agentenv-coin-v1", "score": 0.6, "source": "a paper",
        "date": "2026-01-01", "version": "1", "split": "test", "tasks_digest": "d", "max_steps": 9,
    }  # fmt: skip
    return Published(**{**fields, **changes})


OURS = world("coin", 10)


def test_equal_in_everything_is_exact():
    assert comparability(score(), OURS, "success") == (Comparability.EXACT, [])


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"version": "2"}, ["version"]),
        ({"version": None}, ["version"]),
        ({"split": "dev"}, ["split"]),
        ({"tasks_digest": "e"}, ["tasks_digest"]),
        ({"max_steps": 30}, ["max_steps"]),
        ({"options": {"size": 4}}, ["options"]),
        ({"metric": "mean_score"}, ["metric"]),
    ],
)
def test_the_same_engine_otherwise_used_is_a_footnote(change, differs):
    assert comparability(score(**change), OURS, "success") == (Comparability.SAME_ENGINE, differs)


@pytest.mark.parametrize("change", [{"world": ""}, {"world": "agentenv-coin-v2"}, {"env": "dice"}])
def test_another_world_never_stands_beside_ours(change):
    assert comparability(score(**change), OURS, "success")[0] is Comparability.DIFFERENT_WORLD
    assert standings([score(**change)], [OURS], "success") == []


def test_the_table_marks_an_exact_score_as_not_run_here_and_puts_the_rest_below(capsys):
    rows = leaderboard([*run_rows("good", [(1, 1)] * 8 + [(0, 1)] * 2), *run_rows("bad", [(1, 1)] * 2 + [(0, 1)] * 8)])
    found = standings([score(), score(agent="Old", version="0"), score(agent="Elsewhere", world="")], [OURS], "success")
    print_board(rows, {(rows[0].suite_hash, rows[0].world_hash): found})
    out = capsys.readouterr().out
    lines = [line for line in out[out.index("coin") :].splitlines() if line.strip()]
    assert [name for line in lines[:3] for name in ("good", "Theirs", "bad") if name in line] == [
        "good",
        "Theirs",
        "bad",
    ]
    assert "not run here: a paper" in lines[1]
    assert "1-2" not in lines[1]
    assert "Published on coin, not comparable (version differ): Old 0.600" in out
    assert "Elsewhere" not in out
    assert [item["comparability"] for item in (s.to_json() for s in found)] == ["exact", "same_engine"]


def test_a_published_score_above_all_rows_takes_no_column_away(capsys):
    rows = leaderboard(run_rows("bad", [(1, 1)] * 2 + [(0, 1)] * 8))
    print_board(rows, {(rows[0].suite_hash, rows[0].world_hash): standings([score()], [OURS], "success")})
    out = capsys.readouterr().out
    assert "95% CI" in out
    [line] = [line for line in out.splitlines() if "bad" in line and "all" not in line]
    assert "[0.057, 0.510]" in line
    assert out.index("Theirs") < out.index(line)


def test_a_file_is_read_and_its_mistakes_are_named(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("- {agent: a, env: coin, score: 0.5, source: s, date: 2026-01-31, max_steps: 9}\n")
    [found] = read_published(file)
    assert (found.agent, found.date, found.max_steps, found.version) == ("a", "2026-01-31", 9, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "must be a list of scores"),
        ("- 1", r"p.yaml\[0\]: must be a mapping"),
        ("- {agent: a}", "env is missing"),
        ("- {agent: a, env: e, score: x, source: s, date: d}", "score='x': must be int or float"),
        ("- {agent: a, env: e, score: 1, source: s, date: d, scor: 2}", "scor is not a key"),
        ("[", "p.yaml"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path, text, message):
    file = tmp_path / "p.yaml"
    file.write_text(text)
    with pytest.raises(BadPublished, match=message):
        read_published(file)
