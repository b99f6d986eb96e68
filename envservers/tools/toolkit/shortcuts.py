"""Agents that take a shortcut through a tool environment; what they reach stays under the ceilings of the card."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter, deque
from typing import Any

from agentenv.agents.base import Move, Seat
from agentenv.protocol import Action
from agentenv.registry import get_spec
from envservers.tools.toolkit.answers import IMPOSSIBLE
from envservers.tools.toolkit.env import ToolEnv
from envservers.tools.toolkit.table import Finish, action_of

_NAMED = re.compile(r'"(?:content|name)": "((?:[^"\\]|\\.)*)"')


def _finish(answer: Any = None) -> Move:
    return Move(action=Action(text=action_of(Finish(answer=answer))))


class _Seated:
    async def start(self, seat: Seat) -> None:
        """Take note of the episode."""
        self.seat = seat
        self._left = deque(function["name"] for function in seat.spec.functions if function["name"] != "finish")

    async def _next(self) -> Move | None:
        """The next tool, with the first arguments that are on offer; None when none is left."""
        offered = await self.seat.view.available_actions() or []
        while self._left:
            name = self._left.popleft()
            for text in offered:
                if text.startswith(f"{name} "):
                    return Move(action=Action(text=text))
        return None


class EachTool(_Seated):
    """Calls each tool once, in the order of the card, then finishes."""

    async def act(self, observation: str) -> Move:
        """The next tool."""
        return await self._next() or _finish()


class EachRead(_Seated):
    """Calls each tool that changes nothing once, then answers with the last name that it read."""

    async def start(self, seat: Seat) -> None:
        """Take note of the tools that read."""
        await super().start(seat)
        self._left = deque(name for name in self._left if name.startswith("get_"))
        self._last = ""

    async def act(self, observation: str) -> Move:
        """The next tool."""
        if named := _NAMED.findall(observation):
            self._last = json.loads(f'"{named[-1]}"')
        return await self._next() or _finish(self._last)


class Impossible(_Seated):
    """Says that it is impossible."""

    async def act(self, observation: str) -> Move:
        """Finish at once."""
        return _finish(IMPOSSIBLE)


class Frequent(_Seated):
    """Gives the answer that is most frequent in train for the same kind of task."""

    async def act(self, observation: str) -> Move:
        """Finish at once."""
        return _finish(_frequent(self.seat.spec.id).get(self.seat.task.template))


@functools.cache
def _frequent(env: str) -> dict[str, Any]:
    spec = get_spec(env)
    made = spec.make()
    assert isinstance(made, ToolEnv)
    tasks, counts = spec.task_set({}), dict[str, Counter[str]]()
    for index in range(tasks.count("train")):
        task = tasks.get("train", index)
        answer = made.case_of(task).answer
        if answer is not None and answer["value"] != IMPOSSIBLE:
            counts.setdefault(task.template, Counter())[json.dumps(answer["value"])] += 1
    return {template: json.loads(counter.most_common(1)[0][0]) for template, counter in counts.items()}
