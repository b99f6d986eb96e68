"""A recorded conversation as a trajectory, so that `agentenv sft` can imitate it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentenv import __version__
from agentenv.agents.parse import parse
from agentenv.agents.prompts import load_format
from agentenv.data.agentgym.files import BadData, Message, Row
from agentenv.data.agentgym.kinds import Kind
from agentenv.data.agentgym.places import Place
from agentenv.protocol import Outcome, TaskRef, digest_of
from agentenv.registry import get_spec
from agentenv.trajectory import Trajectory, Turn

ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "system": "system"}
ACKNOWLEDGEMENTS = ("Ok.", "OK. I'll follow your instructions and try my best to solve the task.")
"""Second message of a conversation, put into the agent's mouth; by these where no flag of loss says it."""
UNKNOWN_END = "the record does not say how the episode ended"
OTHER = Kind(name="other", prefixes=(), rounds=1)

Said = tuple[list[dict[str, Any]], dict[str, Any]]


def trajectory_of(row: Row, place: Place) -> Trajectory:
    """The record of a row with a conversation; BadData names its row where that is none.

    What the agent said with `loss` false is a turn whose message has `weight` 0: it is shown, and not imitated.
    """
    kind = place.kind or OTHER
    said, rest = _turns(row)
    earned = None if row.reward is None else kind.reward(row.reward)
    outcome, success = _ended(row, kind)
    turns = [_turn(heard, reply, kind) for heard, reply in said]
    turns[-1] = replace(turns[-1], reward=earned or 0.0)
    return Trajectory(
        task=place.task or _foreign(row, kind),
        env=place.task.env if place.task else _foreign_env(kind),
        env_version=get_spec(place.task.env).version if place.task else "0",
        env_options=dict(place.options),
        tasks_digest=place.tasks_digest,
        max_steps=kind.rounds,
        agent={
            "name": "agentgym",
            "version": __version__,
            "item_id": row.item_id,
            "file": row.file,
            "row": row.number,
            "recorded_reward": row.reward,
        },
        outcome=outcome,
        success=success,
        reward=earned or 0.0,
        last_reward=earned or 0.0,
        score=None,
        steps=len(turns),
        turns=turns,
        final_observation=rest,
        error=None if outcome is not Outcome.STEP_LIMIT else UNKNOWN_END,
    )


def _ended(row: Row, kind: Kind) -> tuple[Outcome, bool]:
    success = row.success
    if row.reward is not None and row.reward >= kind.full:
        success = True  # some recorders take nothing but 1 for success, whatever the scale
    if success is None:
        return Outcome.STEP_LIMIT, False
    return (Outcome.SUCCESS, True) if success else (Outcome.FAILURE, False)


def _turns(row: Row) -> tuple[list[Said], str]:
    """What was heard and said in each turn, and what was heard after the last."""
    said: list[Said] = []
    heard: list[dict[str, Any]] = []
    for number, message in enumerate(row.conversation):
        role = ROLES.get(message.sender)
        if role is None:
            raise BadData(
                f"{row.where}: message {number} is from {message.sender[:40]!r}; known are {', '.join(ROLES)}"
            )
        entry: dict[str, Any] = {"role": role, "content": message.value}
        if role != "assistant":
            heard.append(entry)
            continue
        if not heard or heard[-1]["role"] == "assistant":
            raise BadData(f"{row.where}: message {number} of the agent answers nothing")
        if message.loss is False or _is_opening(row.conversation, number):
            entry["weight"] = 0
        if _is_opening(row.conversation, number):
            heard.append(entry)
            continue
        said.append((heard, entry))
        heard = []
    if not said:
        raise BadData(f"{row.where}: a conversation without a turn of the agent")
    return said, "\n".join(entry["content"] for entry in heard)


def _is_opening(conversation: Sequence[Message], number: int) -> bool:
    """Whether it is the second half of the opening: an acknowledgement that no model said."""
    message = conversation[number]
    if number != 1 or len(conversation) < 3:
        return False
    return message.loss is False or message.value.strip() in ACKNOWLEDGEMENTS


def _turn(heard: list[dict[str, Any]], reply: dict[str, Any], kind: Kind) -> Turn:
    action = parse(reply["content"], load_format(kind.format)).as_action(reply["content"])
    seen = [entry["content"] for entry in heard[-1:] if entry["role"] != "assistant"]
    return Turn(
        observation="".join(seen),
        action=action.text if action.malformed else kind.sent(action.text),
        malformed=action.malformed,
        reward=0.0,
        messages=[*heard, reply],
    )


def _foreign_env(kind: Kind) -> str:
    """No environment of ours: its tasks are not these."""
    return f"agentgym_{kind.name}"


def _foreign(row: Row, kind: Kind) -> TaskRef:
    """A task that is not here, under a digest that all its records share."""
    env = _foreign_env(kind)
    return TaskRef(
        id=f"{env}/{row.role}/{row.number}",
        env=env,
        split=row.role,
        index=row.number,
        category=row.category,
        template=row.item_id,
        digest=digest_of(["agentgym", row.item_id]),
    )
