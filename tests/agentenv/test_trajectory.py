"""The record: what is written is read back equal, and what cannot be read is named with its place."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentenv.errors import BadCall
from agentenv.protocol import Outcome, TaskRef
from agentenv.trajectory import VERSION, Trajectory, Turn, read_jsonl, write_jsonl

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=32)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
INFO = st.dictionaries(TEXT, JSON, max_size=3)
IDS = st.lists(st.integers(0, 200_000), max_size=5)
MAYBE_IDS = st.none() | IDS

TURNS = st.builds(
    Turn,
    observation=TEXT,
    action=TEXT,
    reward=NUMBER,
    malformed=st.none() | TEXT,
    available_actions=st.none() | st.lists(TEXT, max_size=3),
    messages=st.none() | st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2),
    prompt_ids=MAYBE_IDS,
    fresh=st.none() | st.booleans(),
    prompt_len=st.none() | st.integers(0, 10**6),
    token_ids=MAYBE_IDS,
    logprobs=st.none() | st.lists(NUMBER, max_size=5),
    policy_version=st.none() | st.integers(0, 10**6),
    image=st.none() | st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
    info=INFO,
)
TASKS = st.builds(
    TaskRef,
    id=TEXT,
    env=TEXT,
    split=TEXT,
    index=st.integers(0, 10**6),
    category=TEXT,
    difficulty=st.integers(0, 9),
    template=TEXT,
    digest=TEXT,
)
TRAJECTORIES = st.builds(
    Trajectory,
    task=TASKS,
    env=TEXT,
    env_version=TEXT,
    agent=INFO,
    outcome=st.sampled_from(list(Outcome)),
    success=st.booleans(),
    reward=NUMBER,
    last_reward=NUMBER,
    score=st.none() | NUMBER,
    steps=st.integers(0, 10**6),
    turns=st.lists(TURNS, max_size=3),
    env_options=INFO,
    max_steps=st.integers(0, 10**6),
    tasks_digest=TEXT,
    oracle=st.booleans(),
    final_observation=TEXT,
    error=st.none() | TEXT,
    time=st.dictionaries(TEXT, NUMBER, max_size=3),
)

SMALL = Trajectory(
    task=TaskRef(id="e/test/0", env="e", split="test", index=0, digest="d"),
    env="e",
    env_version="1",
    agent={"name": "a"},
    outcome=Outcome.SUCCESS,
    success=True,
    reward=1.0,
    last_reward=1.0,
    score=None,
    steps=1,
    turns=[Turn(observation="o", action="a", reward=1.0)],
)


@settings(max_examples=40)
@given(TRAJECTORIES)
def test_what_is_written_is_read_back_equal(trajectory: Trajectory) -> None:
    line = trajectory.to_json()
    assert "\n" not in line
    assert Trajectory.from_json(line) == trajectory
    assert Trajectory.from_json(line.encode()) == trajectory
    assert Trajectory.from_json(line).to_json() == line


def test_a_file_of_them_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    several = [changed(steps=n, final_observation="a\nb\r\nc") for n in range(5)]
    with path.open("w", encoding="utf-8") as file:
        assert write_jsonl(several, file) == 5
    assert list(read_jsonl(path)) == several


def test_a_file_with_any_line_separator_in_its_texts_is_read_line_by_line(tmp_path: Path) -> None:
    odd = [SMALL.to_json().replace('"o"', json.dumps(c, ensure_ascii=False)) for c in ("\u2028", "\x85", "\x1c", "\r")]
    path = tmp_path / "odd.jsonl"
    path.write_bytes("\n".join(odd).encode() + b"\n")
    assert [t.turns[0].observation for t in read_jsonl(path)] == ["\u2028", "\x85", "\x1c", "\r"]


def test_what_is_none_or_empty_in_a_turn_is_left_out_but_a_missing_score_is_null() -> None:
    record = json.loads(SMALL.to_json())
    assert record["turns"] == [{"observation": "o", "action": "a", "reward": 1.0}]
    assert record["score"] is None
    assert record["version"] == 1
    assert record["task"] == {
        "id": "e/test/0", "env": "e", "split": "test", "index": 0, "category": "", "difficulty": 0, "template": "",
        "digest": "d",
    }  # fmt: skip


def test_lone_surrogates_are_replaced_so_that_the_line_can_be_encoded() -> None:
    turn = Turn(observation="a\ud800", action="\udfff\U0001f642", reward=0.0, info={"k\ud801": ["\ud802"]})
    line = changed(turns=[turn]).to_json()
    line.encode()
    back = Trajectory.from_json(line).turns[0]
    assert (back.observation, back.action) == ("a\ufffd", "\ufffd\U0001f642")
    assert back.info == {"k\ufffd": ["\ufffd"]}


def changed(**fields: Any) -> Trajectory:
    values = {name: getattr(SMALL, name) for name in Trajectory.__dataclass_fields__}
    return Trajectory(**{**values, **fields})


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_number_that_json_does_not_know_is_never_written(number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        changed(reward=number).to_json()


# What cannot be read.


def record(**fields: Any) -> str:
    return json.dumps({**json.loads(SMALL.to_json()), **fields})


def without(name: str) -> str:
    return json.dumps({k: v for k, v in json.loads(SMALL.to_json()).items() if k != name})


TURN = {"observation": "o", "action": "a", "reward": 1.0}
TASK = json.loads(SMALL.to_json())["task"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (record(version=VERSION + 1), f"version {VERSION + 1} is newer than {VERSION}"),
        (record(version=0), "version 0"),
        (record(version="1"), "version '1'"),
        (record(version=True), "version True"),
        (without("version"), "version"),
        (without("outcome"), "no field outcome"),
        (without("turns"), "no field turns"),
        (record(colour="red"), "not a trajectory: unknown field colour"),
        (record(outcome="glorious"), "glorious"),
        (record(reward="much"), r"\$.reward"),
        (record(success=1), r"\$.success"),
        (record(steps=None), r"\$.steps"),
        (record(turns=None), r"\$.turns"),
        (record(turns=3), r"\$.turns"),
        (record(turns=["text"]), "not a turn: str, not an object"),
        (record(turns=[{**TURN, "rewrad": 1.0}]), "not a turn: unknown field rewrad"),
        (record(turns=[{"observation": "o", "action": "a"}]), "not a turn: no field reward"),
        (record(turns=[TURN, {**TURN, "token_ids": ["a"]}]), r"\$.turns\[1\].token_ids\[0\]"),
        (record(task=None), "not a task: NoneType, not an object"),
        (record(task={**TASK, "seed": 1}), "not a task: unknown field seed"),
        (record(task={"id": "x"}), "not a task: no field env, split, index"),
        ("", "not a trajectory"),
        ("[]", "not a trajectory"),
        ("3", "not a trajectory"),
        ("null", "not a trajectory"),
        (SMALL.to_json()[:-5], "not a trajectory: JSONDecodeError"),
    ],
)
def test_a_line_that_is_no_trajectory_names_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(BadCall, match=message):
        Trajectory.from_json(line)


@pytest.mark.parametrize("bad", [b"{}", b"not json", b"\xff\xfe", b"", SMALL.to_json()[:40].encode()])
def test_an_error_in_a_file_names_file_and_line(bad: bytes, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    good = SMALL.to_json().encode()
    path.write_bytes(b"\n".join([good, good, bad, good]) + b"\n")
    found = []
    with pytest.raises(BadCall, match="not a trajectory") as caught:
        found.extend(read_jsonl(path))
    assert caught.value.message.startswith(f"{path}:3: ")
    reader = read_jsonl(path)
    assert [next(reader), next(reader)] == [SMALL, SMALL]
