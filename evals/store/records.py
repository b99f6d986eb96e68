"""Between a `Trajectory` and its rows: nothing is lost, long texts are stored once, and empty fields take no room."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from agentenv.protocol import TaskRef, canonical_json
from agentenv.trajectory import Trajectory, Turn, as_values
from agentenv.wire import clean_text
from evals.store.schema import EpisodeRow, TaskRow, TurnRow

LONG_BYTES = 2048
"""Observations over this many bytes of UTF-8 are stored compressed, once for equal ones."""

_EPISODE_COLUMNS = ("outcome", "success", "reward", "last_reward", "score", "steps", "oracle", "error")
_TOKEN_COLUMNS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_TURN_COLUMNS = ("observation", "action", "malformed", "reward")
_ELSEWHERE = ("task", "turns")  # have rows of their own
_NUL = "\x00"  # no text column of PostgreSQL takes one; the exact text is then kept beside it, in JSON


def episode_values(trajectory: Trajectory) -> dict[str, Any]:
    """Columns of the `episodes` row, place and time aside."""
    whole = as_values(replace(trajectory, turns=[]))
    columns = {name: whole[name] for name in _EPISODE_COLUMNS}
    rest = {name: value for name, value in whole.items() if name not in (*_EPISODE_COLUMNS, *_ELSEWHERE)}
    if columns["error"] is not None:
        exact = clean_text(columns["error"])
        columns["error"] = _shown(exact)
        rest.update({"error": exact} if _NUL in exact else {})
    return {
        **columns,
        "outcome": trajectory.outcome.value,
        "valid": trajectory.outcome.valid,
        "malformed": sum(turn.malformed is not None for turn in trajectory.turns),
        "seconds": trajectory.time.get("total_s", 0.0),
        **{name: tokens(trajectory.turns, name) for name in _TOKEN_COLUMNS},
        "cost": cost(trajectory.turns),
        "record": rest,
    }


def tokens(turns: Sequence[Turn], name: str) -> int | None:
    """Sum of what the agent noted in every turn; None where one turn does not say, and for agents without tokens."""
    counts = _noted(turns, name)
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known and len(known) == len(turns) else None


def cost(turns: Sequence[Turn]) -> float | None:
    """The cost that the agent noted in every turn; None where one turn does not say."""
    known = [float(count) for count in _noted(turns, "cost") if isinstance(count, int | float)]
    return math.fsum(known) if known and len(known) == len(turns) else None


def _noted(turns: Sequence[Turn], name: str) -> list[Any]:
    return [turn.info["agent"].get(name) for turn in turns if isinstance(turn.info.get("agent"), Mapping)]


def turn_values(turn: Turn) -> tuple[dict[str, Any], bytes | None]:
    """Columns of a `turns` row, place aside, and the long observation that belongs in `blobs`."""
    texts = {"observation": clean_text(turn.observation), "action": clean_text(turn.action)}
    if turn.malformed is not None:
        texts["malformed"] = clean_text(turn.malformed)
    observation = texts["observation"].encode()
    long = len(observation) > LONG_BYTES
    rest = {f.name: getattr(turn, f.name) for f in fields(turn) if f.name not in _TURN_COLUMNS}
    rest = {name: value for name, value in rest.items() if value is not None and value != {}}
    rest.update(
        {name: value for name, value in texts.items() if _NUL in value and not (long and name == "observation")}
    )
    values = {
        "observation": None if long else _shown(texts["observation"]),
        "observation_blob": hashlib.sha256(observation).hexdigest() if long else None,
        "action": _shown(texts["action"]),
        "malformed": _shown(texts["malformed"]) if "malformed" in texts else None,
        "reward": turn.reward,
        "extra": zlib.compress(canonical_json(rest).encode("utf-8", "surrogatepass")) if rest else None,
    }
    return values, observation if long else None


def _shown(text: str) -> str:
    return text.replace(_NUL, "\N{REPLACEMENT CHARACTER}")


def trajectory_of(task: TaskRow, episode: EpisodeRow, turns: Iterable[tuple[TurnRow, bytes | None]]) -> Trajectory:
    """The trajectory that the rows were made from; each turn comes with its blob."""
    record = {
        **{name: getattr(episode, name) for name in _EPISODE_COLUMNS},
        **episode.record,
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
