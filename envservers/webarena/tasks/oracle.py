"""Carries a plan out by observation texts and action texts alone, as an agent would."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from envservers.webarena.tasks.observed import Line, below, inside, joined, read_lines
from envservers.webarena.tasks.plan import (
    Back,
    Choose,
    Click,
    Fill,
    Gather,
    Go,
    Page,
    Plan,
    Read,
    Step,
    Stop,
    Text,
    Within,
)

MOST_SCREENS = 20
"""Of one page."""
MOST_PAGES = 40
"""That a list is followed over."""
TEXT_ROLES = ("textbox", "searchbox", "spinbutton")
END = "©"
"""So begins the last line of a page: below it there is nothing to scroll to."""

Acting = Generator[str, str, None]
"""Yields action texts, is sent observation texts."""


class PlanFailed(Exception):
    """The page does not have what the plan names."""


def solve(observation: str, plan: Plan) -> Acting:
    """The plan's actions, one by one; the first observation is reset's."""
    runner = _Runner(observation)
    for step in plan:
        yield from runner.run(step)


class _Runner:
    def __init__(self, observation: str) -> None:
        self.screen = read_lines(observation)
        self.seen = list(self.screen)  # of this page, from its top
        self.memory: dict[str, str] = {}

    def run(self, step: Step) -> Acting:
        match step:
            case Click():
                line = yield from self._found((step.role,), step.name, step.within, step.starts)
                yield from self._act(f"click [{line.id}]", new_page=step.new_page)
            case Fill():
                line = yield from self._found(TEXT_ROLES, step.name, step.within)
                yield from self._act(
                    f"type [{line.id}] [{self._text(step.text)}] [{int(step.enter)}]", new_page=step.enter
                )
            case Choose():
                line = yield from self._found(("combobox", "listbox"), step.name, step.within)
                option = self._option(line, self._text(step.option), step.starts)
                yield from self._act(f"select [{line.id}] [{option}]", new_page=False)
            case Page():
                yield from self._page(step)
            case Read():
                yield from self._read(step)
            case Gather():
                yield from self._gather(step)
            case Go():
                yield from self._act(f"goto [{step.url}]")
            case Back():
                yield from self._act("go_back")
            case Stop():
                yield from self._act(f"stop [{self._text(step.answer)}]")

    def _text(self, text: Text) -> str:
        return text if isinstance(text, str) else text(self.memory)

    def _act(self, action: str, *, new_page: bool = True) -> Acting:
        observation = yield action
        self.screen = read_lines(observation)
        if new_page:
            self.seen = list(self.screen)

    def _found(
        self, roles: Sequence[str], name: Text, within: Within | None = None, starts: bool = False
    ) -> Generator[str, str, Line]:
        """The line on a screen of this page; scrolls down, and then up, to find it."""
        wanted = self._text(name)
        for down in (True, False):
            for _ in range(MOST_SCREENS):
                line = self._on_screen(roles, wanted, within, starts)
                if line is not None:
                    return line
                if not (yield from self._scroll(down=down)):
                    break
            if not any(line.role in roles and _named(line, wanted, starts) for line in self.seen):
                break  # so it does not stand above either
        raise PlanFailed(f"no {'/'.join(roles)} {wanted!r}{f' within {within}' if within else ''} on the page")

    def _on_screen(self, roles: Sequence[str], name: str, within: Within | None, starts: bool) -> Line | None:
        parts = inside(self.screen, within.role, self._text(within.text)) if within else iter((self.screen,))
        for part in parts:
            for line in part:
                if line.id and line.role in roles and _named(line, name, starts):
                    return line
        return None

    def _option(self, line: Line, wanted: str, starts: bool) -> str:
        """The whole name of an option of a list on the screen."""
        options = [each.name for each in below(self.screen, self.screen.index(line)) if each.role == "option"]
        found = next((name for name in options if name == wanted or (starts and name.startswith(wanted))), None)
        if found is None:
            raise PlanFailed(f"no option {wanted!r} in {line.name!r}")
        return found

    def _scroll(self, *, down: bool) -> Generator[str, str, bool]:
        """One screen further; False when there is none."""
        if down and self.screen and self.screen[-1].name.startswith(END):
            return False
        before = [(line.role, line.name, line.rest) for line in self.screen]
        yield from self._act(f"scroll [{'down' if down else 'up'}]", new_page=False)
        if before == [(line.role, line.name, line.rest) for line in self.screen]:
            return False
        if down:
            self.seen = joined(self.seen, self.screen)
        return True

    def _page(self, step: Page) -> Acting:
        for _ in range(MOST_PAGES):
            try:
                yield from self._found((step.role,), step.name, None, step.starts)
                return
            except PlanFailed:
                line = yield from self._found(("link",), step.next)
                yield from self._act(f"click [{line.id}]")
        raise PlanFailed(f"no {step.role} {step.name!r} on {MOST_PAGES} pages")

    def _read(self, step: Read) -> Acting:
        found = step.reader(self.screen)
        for _ in range(MOST_SCREENS):
            if found is not None or not (yield from self._scroll(down=True)):
                break
            found = step.reader(self.screen)
        found = step.reader(self.seen) if found is None else found  # what no screen has as a whole
        if found is None:
            raise PlanFailed(f"{step.into}: not found on the page")
        self.memory[step.into] = found

    def _gather(self, step: Gather) -> Acting:
        results: dict[str, None] = {}
        for _ in range(MOST_PAGES):
            results.update(dict.fromkeys(step.reader(self.screen)))
            while (yield from self._scroll(down=True)):
                results.update(dict.fromkeys(step.reader(self.screen)))
            line = self._on_screen(("link",), step.next, None, False)
            if line is None:
                break
            yield from self._act(f"click [{line.id}]")
        self.memory[step.into] = "\n".join(results)


def _named(line: Line, name: str, starts: bool) -> bool:
    return line.name.startswith(name) if starts else line.name == name
