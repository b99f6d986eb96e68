"""Episodes as rows of a parquet file: what one filters by as columns, and the whole record beside them."""

from __future__ import annotations

from typing import Any

from agentenv.data.export.conversation import messages_of, text_of
from agentenv.trajectory import Trajectory


def row(trajectory: Trajectory, style: str | None = None) -> dict[str, Any]:
    """The columns; `record` is the line of our own JSON."""
    task = trajectory.task
    return {
        "task": task.id,
        "task_digest": task.digest,
        "env": trajectory.env,
        "env_version": trajectory.env_version,
        "split": task.split,
        "index": task.index,
        "category": task.category,
        "difficulty": task.difficulty,
        "agent": str(trajectory.agent.get("name", "")),
        "outcome": trajectory.outcome.value,
        "success": trajectory.success,
        "reward": trajectory.reward,
        "score": trajectory.score,
        "steps": trajectory.steps,
        "messages": [
            {"role": str(m["role"]), "content": text_of(m), "weight": 0 if m.get("weight") == 0 else 1}
            for m in messages_of(trajectory, style)
        ],
        "record": trajectory.to_json(),
    }


def schema() -> Any:
    """The columns' types, whatever the first rows hold."""
    import pyarrow as pa

    message = pa.struct({"role": pa.string(), "content": pa.string(), "weight": pa.int8()})
    text, whole = pa.string(), pa.int64()
    return pa.schema(
        {
            "task": text,
            "task_digest": text,
            "env": text,
            "env_version": text,
            "split": text,
            "index": whole,
            "category": text,
            "difficulty": whole,
            "agent": text,
            "outcome": text,
            "success": pa.bool_(),
            "reward": pa.float64(),
            "score": pa.float64(),
            "steps": whole,
            "messages": pa.list_(message),
            "record": text,
        }
    )
