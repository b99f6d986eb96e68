"""What an agent is told before it has looked anything up, read through a session as an agent reads it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from agentenv.pool import EnvPool
from agentenv.protocol import Action, Task
from agentenv.registry import EnvSpec
from agentenv.testing.subject import spaced

TELLING = 4
"""Characters from which a text is no chance hit; numbers count from the first digit on."""
ODD = (Action(text="hm"), Action(text="", malformed="no action"))


async def told(
    spec: EnvSpec, splits: Sequence[str], *, most: int, options: Mapping[str, Any], odd: Sequence[Action] = ODD
) -> AsyncIterator[tuple[Task, str]]:
    """`most` tasks of each split, with what is told of each before and after an action that reveals nothing.

    A line that was also told of the task before it is left out: what is said of every task tells nothing of one.
    """
    tasks = spec.task_set(options)
    async with EnvPool(spec.id, size=1, options=options) as pool:
        before: set[str] = set()
        for split in splits:
            refs = await pool.task_refs(split)
            for index in spaced(len(refs), most):
                ref = refs[index]
                async with pool.session(ref.id) as session:
                    state = await session.get(actions=True)
                    listed = [session.observation, repr(session.info), state.task.category, state.task.template]
                    listed += state.available_actions or []
                    for action in odd:
                        reply = await session.step(action)
                        listed += [reply.observation, repr(reply.info)]
                lines = "\n".join(listed).splitlines()
                yield tasks.get(split, index), "\n".join(line for line in lines if line not in before)
                before = set(lines)


def names(answer: str, text: str) -> bool:
    """Whether the text has the answer as words of its own, whatever the case and the marks between words."""
    if re.fullmatch(r"-?[\d.,/]+", answer):
        return bool(re.search(rf"(?<![\w.,]){re.escape(answer)}(?![\w/]|[.,]\d)", text))
    plain = _words(answer)
    return len(plain) >= TELLING and f" {plain} " in f" {_words(text)} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
