"""Between a `Trajectory` and its rows: nothing is lost, long texts are stored once, and empty fields take no room."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from agentenv.protocol import TaskRef, canonical_json
from agentenv.trajectory import Trajectory, Turn
from agentenv.wire import clean_text
from evals.store.schema import EpisodeRow, TaskRow, TurnRow

LONG_BYTES = 2048
"""Observations over this many bytes of UTF-8 are stored compressed, once for equal ones."""

_EPISODE_COLUMNS = ("outcome", "success", "reward", "last_reward", "score", "steps", "oracle", "error")
_TURN_COLUMNS = ("observation", "action", "malformed", "reward")
_ELSEWHERE = ("task", "turns")  # have rows of their own


def episode_values(trajectory: Trajectory) -> dict[str, Any]:
    """Columns of the `episodes` row, place and time aside."""
    whole = asdict(trajectory)
    columns = {name: whole[name] for name in _EPISODE_COLUMNS}
    if columns["error"] is not None:
        columns["error"] = clean_text(columns["error"])
    rest = {name: value for name, value in whole.items() if name not in (*_EPISODE_COLUMNS, *_ELSEWHERE)}
    return {
        **columns,
        "outcome": trajectory.outcome.value,
        "valid": trajectory.outcome.valid,
        "malformed": sum(turn.malformed is not None for turn in trajectory.turns),
        "prompt_tokens": tokens(trajectory.turns, "prompt_tokens"),
        "completion_tokens": tokens(trajectory.turns, "completion_tokens"),
        "record": rest,
    }


def tokens(turns: Sequence[Turn], name: str) -> int | None:
    """Sum of what the agent noted in every turn; None where one turn does not say, and for agents without tokens."""
    counts = [turn.info["agent"].get(name) for turn in turns if isinstance(turn.info.get("agent"), Mapping)]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known and len(known) == len(turns) else None


def turn_values(turn: Turn) -> tuple[dict[str, Any], bytes | None]:
    """Columns of a `turns` row, place aside, and the long observation that belongs in `blobs`."""
    observation = clean_text(turn.observation).encode()
    long = len(observation) > LONG_BYTES
    rest = {f.name: getattr(turn, f.name) for f in fields(turn) if f.name not in _TURN_COLUMNS}
    rest = {name: value for name, value in rest.items() if value is not None and value != {}}
    values = {
        "observation": None if long else observation.decode(),
        "observation_blob": hashlib.sha256(observation).hexdigest() if long else None,
        "action": clean_text(turn.action),
        "malformed": None if turn.malformed is None else clean_text(turn.malformed),
        "reward": turn.reward,
        "extra": zlib.compress(canonical_json(rest).encode("utf-8", "surrogatepass")) if rest else None,
    }
    return values, observation if long else None


def trajectory_of(task: TaskRow, episode: EpisodeRow, turns: Iterable[tuple[TurnRow, bytes | None]]) -> Trajectory:
    """The trajectory that the rows were made from; each turn comes with its blob."""
    record = {
        **episode.record,
        **{name: getattr(episode, name) for name in _EPISODE_COLUMNS},
        "task": asdict(task_ref(task)),
        "turns": [_turn(row, blob) for row, blob in turns],
    }
    return Trajectory.from_json(json.dumps(record))


def task_ref(row: TaskRow) -> TaskRef:
    """The task as it travels."""
    return TaskRef(
        id=row.task_id,
        env=row.task_env,
        split=row.split,
        index=row.task_index,
        category=row.category,
        difficulty=row.difficulty,
        template=row.template,
        digest=row.digest,
    )


def _turn(row: TurnRow, blob: bytes | None) -> dict[str, Any]:
    rest = json.loads(zlib.decompress(row.extra)) if row.extra is not None else {}
    observation = zlib.decompress(blob).decode() if blob is not None else row.observation
    malformed = {} if row.malformed is None else {"malformed": row.malformed}
    return {"observation": observation, "action": row.action, "reward": row.reward, **malformed, **rest}
