"""What a rank claims, and what keeps a row from having one."""

import pytest
from made_rows import run_rows

from evals.leaderboard import leaderboard


def first(solved: int, tasks: int) -> list[tuple[int, int]]:
    """One attempt each, the first `solved` tasks solved."""
    return [(int(i < solved), 1) for i in range(tasks)]


def rows_of(*runs, env="all"):
    return {row.agent: row for row in leaderboard(pair for run in runs for pair in run) if row.env == env}


def spread(row):
    return row.rank, row.rank_low, row.rank_high


def test_rows_that_data_tell_apart_have_ranks_of_their_own_and_others_share_a_range():
    rows = rows_of(
        run_rows("good", first(190, 200)),
        run_rows("near", first(188, 200)),
        run_rows("bad", first(20, 200)),
    )
    assert spread(rows["good"]) == (1, 1, 2)
    assert spread(rows["near"]) == (2, 1, 2)
    assert spread(rows["bad"]) == (3, 3, 3)


def test_a_small_suite_ranks_nobody():
    rows = rows_of(*(run_rows(name, first(k, 4)) for name, k in (("a", 4), ("b", 2), ("c", 0))))
    assert [spread(rows[name])[1:] for name in "abc"] == [(1, 3)] * 3


def test_every_pair_that_is_shown_pays_for_the_others():
    """b = 7, c = 0 has p = 0.016: a claim alone, and none beside five other agents."""
    alone = rows_of(run_rows("a", first(27, 40)), run_rows("b", first(20, 40)))
    assert spread(alone["a"])[1:] == (1, 1)
    crowd = [run_rows(f"x{i}", first(20, 40)) for i in range(5)]
    among = rows_of(run_rows("a", first(27, 40)), run_rows("b", first(20, 40)), *crowd)
    assert spread(among["a"])[1:] == (1, 7)


def test_the_sections_of_a_table_share_one_error_rate_and_a_single_env_counts_once():
    a, b = first(26, 40), first(20, 40)  # p = 2 / 2**6
    single = rows_of(run_rows("a", a), run_rows("b", b))
    assert spread(single["a"])[1:] == (1, 1)
    assert spread(rows_of(run_rows("a", a), run_rows("b", b), env="coin")["a"])[1:] == (1, 1)
    several = rows_of(run_rows("a", {"coin": a, "dice": b}), run_rows("b", {"coin": b, "dice": b}), env="coin")
    assert spread(several["a"])[1:] == (1, 2)


def test_several_attempts_are_ranked_by_task():
    good, bad = [(4, 4), (3, 4)] * 10, [(1, 4), (0, 4)] * 10
    rows = rows_of(run_rows("good", good), run_rows("bad", bad))
    assert spread(rows["good"]) == (1, 1, 1)
    assert spread(rows["bad"]) == (2, 2, 2)


def test_equal_rows_share_a_place():
    rows = rows_of(run_rows("a", first(3, 9)), run_rows("b", first(3, 9)))
    assert spread(rows["a"]) == spread(rows["b"]) == (1, 1, 2)


@pytest.mark.parametrize(
    ("odd", "status"),
    [
        ({"changes": {"reference": True}}, "reference"),
        ({"changes": {"seen": {"coin": 3}}}, "seen: 3"),
        ({"lost": {0: 4}}, "incomplete: 2.4% invalid"),
        ({"tasks": 200}, "partial 160/200"),
    ],
)
def test_a_row_that_may_not_be_ranked_stands_below_and_changes_no_other_rank(odd, status):
    best = run_rows("odd", first(160, 160), **odd)
    rows = rows_of(run_rows("a", first(150, 160)), run_rows("b", first(100, 160)), best)
    assert (rows["odd"].status, *spread(rows["odd"])) == (status, None, None, None)
    assert [spread(rows[name]) for name in "ab"] == [(1, 1, 1), (2, 2, 2)]
    order = [row.agent for row in leaderboard(pair for run in (best, run_rows("a", first(9, 160))) for pair in run)]
    assert order[:2] == ["a", "odd"]


def test_tasks_that_nobody_asked_about_leave_seen_unknown_and_none_of_them_leaves_a_rank():
    rows = rows_of(run_rows("a", first(1, 3)), run_rows("b", first(1, 3), changes={"seen": {}}))
    assert (rows["a"].seen, rows["a"].status) == (None, "ranked")
    assert (rows["b"].seen, rows["b"].status) == (0, "ranked")


def test_further_runs_abandoned_ones_and_tombstones_stand_in_the_row():
    early = {"agent_hash": "h", "created_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T01:00:00Z"}
    later = {**early, "created_at": "2026-01-02T00:00:00Z", "finished_at": None}
    gone = {**early, "created_at": "2026-01-01T00:30:00Z", "deleted_at": "2026-01-03T00:00:00Z"}
    row = rows_of(
        run_rows("a", first(2, 4), id="one", changes=early),
        run_rows("a", first(1, 4), id="two", changes=later),
        run_rows("a", first(3, 4), id="three", changes=gone),
    )["a"]
    assert (row.runs, row.unfinished, row.deleted, row.extended) == (3, 1, 1, 1)
    assert (row.measure.n, row.measure.success) == (12, 0.5)  # the tombstone's attempts count


def test_configurations_of_one_agent_are_counted_on_test_and_not_elsewhere():
    warm, cold = ({"agent": "m", "agent_hash": h, "agent_data": {"sampling": h}} for h in ("warm", "cold"))
    again = {"agent": "m", "agent_hash": "again", "agent_data": {"sampling": "cold", "rescored": "cold"}}
    runs = [run_rows("m", first(1, 4), id=c["agent_hash"], changes=c) for c in (warm, cold, again)]
    found = leaderboard(pair for run in [*runs, run_rows("other", first(1, 4))] for pair in run)
    assert {row.agent_hash: row.configurations for row in found if row.env == "all"} == {
        "warm": 2, "cold": 2, "again": 2, "hash-other": 1,
    }  # fmt: skip
    dev = run_rows("m", first(1, 4), changes=warm, split="dev")
    assert {row.configurations for row in leaderboard(dev)} == {None}


def test_a_limit_that_leaves_nothing_out_gives_no_second_row_to_choose_from():
    one = run_rows("a", first(1, 4), id="one")
    two = run_rows("a", first(4, 4), id="two", changes={"task_limit": 100})
    row = rows_of(one, two)["a"]
    assert (row.runs, row.measure.success) == (2, 0.625)


def test_attempts_at_temperature_0_are_flagged():
    several = [(1, 2), (0, 2)]
    greedy, warm = {"name": "m", "temperature": 0}, {"name": "m", "sampling": {"temperature": 0.7}}
    assert rows_of(run_rows("a", several, changes={"agent_data": greedy}))["a"].dependent
    assert not rows_of(run_rows("a", several, changes={"agent_data": warm}))["a"].dependent
    assert not rows_of(run_rows("a", first(1, 2), changes={"agent_data": greedy}))["a"].dependent


def test_a_graded_suite_is_sorted_and_tested_by_its_scores():
    graded = {"suite_data": {"name": "s", "metric": "mean_score"}}
    low, high = [float(i) for i in range(12)], [float(i) + 10 for i in range(12)]
    rows = rows_of(
        run_rows("high", first(0, 12), scores=high, changes=graded),
        run_rows("low", first(12, 12), scores=low, changes=graded),
    )
    assert (rows["high"].score, rows["low"].score) == (15.5, 5.5)
    assert spread(rows["high"]) == (1, 1, 1)
    part = rows["high"].measure
    assert part.score_low < 15.5 < part.score_high
    assert part.score_method == "bootstrap"


def test_pass_at_k_stands_on_the_board_only_where_every_task_has_k_attempts():
    row = rows_of(run_rows("a", [(0, 4), (1, 4), (4, 4)]))["a"]
    assert row.measure.pass_at_k == {"1": pytest.approx(5 / 12), "2": pytest.approx(0.5), "4": pytest.approx(2 / 3)}
    assert row.measure.pass_hat_k["4"] == pytest.approx(1 / 3)
    short = rows_of(run_rows("a", [(0, 4), (1, 1), (4, 4)], attempts=4))["a"]
    assert short.measure.pass_at_k == {}


def test_the_same_rows_give_the_same_ranges():
    runs = [run_rows(name, [(i % k, 3) for i in range(40)]) for name, k in (("a", 4), ("b", 3), ("c", 2))]
    assert rows_of(*runs) == rows_of(*runs)
