"""What the meter locks: every try counts, unknown is never free, and what is shown is what was spent."""

import pytest
from made_runs import ended, new_run

from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from evals.limits import Limits, Meter
from evals.progress import progress, spent
from evals.store.store import OpenSlot

TASK = new_run(tasks=1).plan.tasks[0].task


def episode(outcome=Outcome.SUCCESS, **notes):
    turn = Turn(observation="", action="", reward=0.0, info={"agent": {"latency_s": 0.1, **notes}})
    return ended(outcome, TASK, turns=[turn])


def test_an_invalid_try_is_paid_for_too():
    meter = Meter(Limits(cost=1.0), cost=0.5)
    paid = episode(Outcome.INFRA_LOST, prompt_tokens=90, completion_tokens=10, cost=0.5)
    meter.add(paid)
    assert (meter.tokens, meter.cost) == (100, 1.0)
    assert meter.reached(paid) == "the limit of 1 is reached: 1.0000"


def test_below_its_limits_nothing_stops():
    meter = Meter(Limits(cost=1.0, tokens=101))
    paid = episode(prompt_tokens=90, completion_tokens=10, cost=0.99)
    meter.add(paid)
    assert meter.reached(paid) is None


@pytest.mark.parametrize(
    ("limits", "notes", "why"),
    [
        (Limits(cost=1.0), {"prompt_tokens": 1, "completion_tokens": 1}, "what an episode cost is unknown"),
        (Limits(tokens=9), {"cost": 0.1}, "does not say how many it took"),
    ],
)
def test_a_limit_that_cannot_be_kept_stops_at_the_first_episode(limits, notes, why):
    meter, unknown = Meter(limits), episode(**notes)
    meter.add(unknown)
    assert why in meter.reached(unknown)


def test_an_agent_that_asks_no_model_costs_nothing():
    meter, free = Meter(Limits(cost=1.0, tokens=1)), ended(Outcome.SUCCESS, TASK)
    meter.add(free)
    assert meter.reached(free) is None


def test_progress_shows_tokens_and_cost_only_where_they_are_known():
    meter = Meter(Limits())
    meter.add(ended(Outcome.SUCCESS, TASK))
    assert spent(meter) == []
    meter.add(episode(prompt_tokens=1200, completion_tokens=34))
    assert spent(meter) == ["1,234 tokens"]
    meter.add(episode(prompt_tokens=1, completion_tokens=0, cost=0.25))
    assert spent(meter) == ["1,235 tokens", "cost 0.2500"]


def test_lines_of_progress_tell_rate_rest_tokens_and_cost(capsys, monkeypatch):
    monkeypatch.setattr("evals.progress.LINE_S", 0.0)
    slot = OpenSlot(run="r", slot=0, attempt=0, tries=0, left=3, env="coin", task=TASK)
    with progress(total=4, done=1, quiet=False) as on_episode:
        on_episode(slot, episode(prompt_tokens=9, completion_tokens=1, cost=0.5))
    line = capsys.readouterr().err
    assert line.startswith("2/4 episodes, ")
    assert " s left, 10 tokens, cost 0.5000" in line
