"""A store with what the pages are there to show: agents that fail in their own ways, a live run, and hostile texts."""

from __future__ import annotations

import random
from typing import Any

from made_runs import ended, new_run

from agentenv.protocol import Outcome, TaskRef
from agentenv.trajectory import Turn
from evals.store.store import Store

SCRIPT = "<script>window.stolen = 1</script><img src=x onerror=window.stolen=1>"
ESCAPES = "\x1b[31mred\x1b[0m \x07bell \u202eright to left\u202c [bold]markup[/bold]"
HOSTILE = f"{SCRIPT} {ESCAPES} \"quoted\" 'too' {{{{ 7 * 7 }}}} </pre></script>"
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Er"
    "kJggg=="
)


def model_turn(number: int, *, action: str, malformed: str | None = None, reward: float = 0.0, **info: Any) -> Turn:
    """A turn of a model whose tokens were recorded."""
    rng = random.Random(f"{number} {action}")
    said = f"Thought: turn {number} needs a look around.\nAction: {action}"
    messages = [{"role": "user", "content": f"You see {number} doors."}, {"role": "assistant", "content": said}]
    if number == 0:
        messages.insert(0, {"role": "system", "content": "Answer with one action."})
    ids = [rng.randrange(50_000) for _ in range(24)]
    return Turn(
        observation=f"You see {number} doors, and a note: room {number}.",
        action=action,
        malformed=malformed,
        reward=reward,
        messages=messages,
        token_ids=ids,
        logprobs=[-rng.expovariate(1.5) for _ in ids],
        prompt_len=100 + 40 * number,
        policy_version=3,
        info={"agent": {"prompt_tokens": 90, "completion_tokens": 24, "cost": 0.0004, "latency_s": 0.8}, **info},
    )


def turns_of(kind: str) -> list[Turn]:
    """Five ways to play."""
    look, go = model_turn(0, action="look"), model_turn(1, action="go north")
    match kind:
        case "solves":
            return [look, go, model_turn(2, action="open door", reward=1.0)]
        case "repeats":
            return [look, *(model_turn(i, action="go north") for i in range(1, 8)), model_turn(8, action="look")]
        case "chatters":
            return [look, model_turn(1, action="well", malformed="no line `Action:`"), model_turn(2, action="go south")]
        case "refused":
            return [look, model_turn(1, action="fly", refused="there is no such verb"), model_turn(2, action="give up")]
        case "sees":
            shown = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}]}
            last = model_turn(1, action="click [4]")
            return [look, Turn(observation="page", action="click [4]", reward=0.0, messages=[shown], info=last.info)]
    raise ValueError(kind)


WAYS = {
    "solves": Outcome.SUCCESS,
    "repeats": Outcome.STEP_LIMIT,
    "chatters": Outcome.FAILURE,
    "refused": Outcome.FAILURE,
    "sees": Outcome.FAILURE,
}


def hostile(task: TaskRef) -> Any:
    """An episode whose every text tries something."""
    turns = [
        Turn(
            observation=HOSTILE,
            action=f"say {HOSTILE}",
            malformed=HOSTILE if i == 1 else None,
            reward=0.0,
            messages=[
                {"role": HOSTILE, "content": HOSTILE, "name": HOSTILE},
                {"role": "assistant", "content": HOSTILE},
            ],
            available_actions=[HOSTILE],
            info={
                "refused": HOSTILE,
                HOSTILE: HOSTILE,
                "screenshot": "https://evil.example/x.png",
                "agent": {"raw": HOSTILE},
            },
        )
        for i in range(3)
    ]
    return ended(Outcome.AGENT_ERROR, task, turns=turns, error=HOSTILE, final_observation=HOSTILE)


def fill(store: Store) -> None:
    """Three agents on one suite, one of them named to do harm, and a run that is still going on."""
    envs = ("maze", "shop")
    weights = {"steady": (7, 1, 1, 1, 0), "hasty": (4, 3, 1, 1, 1), HOSTILE: (1, 1, 1, 1, 1)}
    for number, (agent, weight) in enumerate(weights.items()):
        run = f"s-{'abc'[number]}-1"
        store.add_runs([new_run(run, tasks=12, envs=envs, agent=agent, attempts=2)])
        rng = random.Random(run)
        for slot in store.open_slots(run):
            if agent == HOSTILE and slot.slot < 4:
                trajectory = hostile(slot.task)
            else:
                way = rng.choices(list(WAYS), weight)[0]
                trajectory = ended(WAYS[way], slot.task, turns=turns_of(way))
            store.record(run, slot.slot, slot.tries, trajectory)
        store.finish(run)
    store.add_runs([new_run("s-live-1", tasks=12, envs=envs, agent="slow")])
    for slot in store.open_slots("s-live-1")[:9]:
        play_one(store, "s-live-1", slot)


def play_one(store: Store, run: str, slot: Any) -> None:
    """One episode more."""
    bad = slot.slot % 4 == 3
    trajectory = (
        ended(Outcome.ENV_ERROR, slot.task, turns=1, error="TimeoutError: the shop did not answer")
        if bad
        else ended(Outcome.SUCCESS, slot.task, turns=turns_of("solves"))
    )
    store.record(run, slot.slot, slot.tries, trajectory)
