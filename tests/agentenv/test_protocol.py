"""The vocabulary: tasks and their digests, what travels of a task, seeds, and the table of endings."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import asdict, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentenv.protocol import CUT_BY_ROLLOUT, Outcome, Task, TaskRef, canonical_json, digest_of, index_of_seed
from agentenv.wire import TaskRefBody

TASK = Task(
    id="textcraft/test/12",
    env="textcraft",
    split="test",
    index=12,
    category="tools",
    difficulty=3,
    template="craft",
    seed=77,
    payload={"goal": "swörd", "b": [1, 2.5, None], "a": {"z": True, "y": "\u2028"}},
    max_steps=30,
)

# outcome: terminated, truncated, counts in scores, trained on, bootstraps, set by a rollout
ENDINGS = {
    "success": (True, False, True, True, False, False),
    "failure": (True, False, True, True, False, False),
    "step_limit": (False, True, True, True, True, False),
    "time_limit": (False, True, True, False, False, True),
    "context_full": (False, True, True, True, False, True),
    "agent_error": (False, True, True, False, False, True),
    "env_error": (False, False, False, False, False, False),
    "infra_lost": (False, False, False, False, False, True),
    "cancelled": (False, False, False, False, False, True),
}


def test_the_table_of_endings_is_complete() -> None:
    assert [o.value for o in Outcome] == list(ENDINGS)


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_has_the_properties_of_its_row(name: str) -> None:
    outcome = Outcome(name)
    found = (outcome.terminated, outcome.truncated, outcome.valid, outcome.trains, outcome.bootstraps)
    assert (*found, outcome in CUT_BY_ROLLOUT) == ENDINGS[name]


def test_what_travels_of_a_task_is_everything_but_seed_and_payload() -> None:
    ref = TASK.ref()
    kept = {f.name for f in fields(Task)} - {"seed", "payload", "max_steps"}
    assert {f.name for f in fields(TaskRef)} == kept | {"digest"}
    assert all(getattr(ref, name) == getattr(TASK, name) for name in kept)
    assert ref.digest == TASK.digest
    assert set(TaskRefBody.__struct_fields__) == {f.name for f in fields(TaskRef)}
    assert "77" not in repr(ref).replace(ref.digest, "")
    assert "swörd" not in repr(ref)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "x/y/1"},
        {"env": "x"},
        {"split": "train"},
        {"index": 13},
        {"category": ""},
        {"difficulty": 4},
        {"template": ""},
        {"seed": 78},
        {"payload": {}},
        {"payload": {**TASK.payload, "goal": "sword"}},
        {"max_steps": None},
    ],
)
def test_any_change_of_a_task_changes_its_digest(change: dict[str, object]) -> None:
    assert replace(TASK, **change).digest != TASK.digest  # type: ignore[arg-type]


def test_the_order_of_a_payloads_keys_does_not() -> None:
    assert replace(TASK, payload=dict(reversed(TASK.payload.items()))).digest == TASK.digest


def test_a_digest_is_the_same_in_any_process_and_under_any_hash_seed() -> None:
    program = "import json, sys; from agentenv.protocol import Task; print(Task(**json.loads(sys.argv[1])).digest)"
    for seed in ("0", "1", "12345"):
        done = subprocess.run(
            [sys.executable, "-c", program, json.dumps(asdict(TASK))],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == TASK.digest


def test_a_digest_is_sha256_of_the_canonical_json_of_every_field() -> None:
    values = [
        "textcraft/test/12", "textcraft", "test", 12, "tools", 3, "craft", 77,
        {"a": {"y": "\u2028", "z": True}, "b": [1, 2.5, None], "goal": "swörd"}, 30,
    ]  # fmt: skip
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    assert TASK.digest == hashlib.sha256(text.encode()).hexdigest()


@given(st.text(max_size=20), st.integers(-(2**63), 2**63), st.integers(1, 10**6))
def test_a_seed_names_the_index_that_sha256_of_split_and_seed_gives(split: str, seed: int, count: int) -> None:
    head = hashlib.sha256(f"{split}:{seed}".encode()).hexdigest()[:16]
    assert index_of_seed(split, seed, count) == int(head, 16) % count
    assert 0 <= index_of_seed(split, seed, count) < count


def test_the_seeds_of_a_split_reach_every_task_about_equally_often() -> None:
    counts = [0] * 10
    for seed in range(5000):
        counts[index_of_seed("train", seed, 10)] += 1
    assert min(counts) > 400
    assert [index_of_seed("train", s, 10) for s in range(50)] != [index_of_seed("test", s, 10) for s in range(50)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"x": float("-inf")}])
def test_a_number_that_json_does_not_know_has_no_digest(value: object) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        digest_of(value)


def test_canonical_json_has_one_form() -> None:
    assert canonical_json({"b": 1, "a": [True, None, "é"]}) == '{"a":[true,null,"é"],"b":1}'
    assert len(digest_of("\ud800")) == 64  # text that cannot be encoded still has a digest
