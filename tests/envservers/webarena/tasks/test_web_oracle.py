"""The oracle against pages made of text: it scrolls, pages, reads, and knows nothing else."""

import itertools
from collections.abc import Sequence

import pytest

from envservers.webarena.tasks.observed import Line, joined, read_lines
from envservers.webarena.tasks.oracle import PlanFailed, solve
from envservers.webarena.tasks.plan import Choose, Click, Fill, Gather, Page, Read, Step, Stop, Within, acts, level


def page(*lines: str, at: int = 0, size: int = 100) -> str:
    shown = lines[at : at + size]
    tabs = ["\t" * (len(line) - len(line.lstrip("\t"))) for line in shown]
    printed = [f"\t{tabs[n]}[{n + 2}] {line.lstrip()}" for n, line in enumerate(shown)]
    tree = ["[1] RootWebArea 'Shop' focused: True", *printed]
    return "\n".join(["OBSERVATION:", "Tab 0 (current): Shop", "", *tree, "URL: http://shop.test/", "OBJECTIVE: x"])


class Book:
    """Pages in screens; clicking the link `Next` turns one. All that there is of an env."""

    def __init__(self, pages: Sequence[Sequence[str]], size: int = 100) -> None:
        self.pages, self.size, self.number, self.at = pages, size, 0, 0
        self.sent: list[str] = []

    def show(self) -> str:
        return page(*self.pages[self.number], at=self.at, size=self.size)

    def play(self, *plan: Step) -> list[str]:
        steps = solve(self.show(), plan)
        action = next(steps, None)
        while action is not None:
            self.sent.append(action)
            self.do(action)
            try:
                action = steps.send(self.show())
            except StopIteration:
                break
        return self.sent

    def do(self, action: str) -> None:
        if action == "scroll [down]":
            self.at = min(self.at + self.size, max(0, (len(self.pages[self.number]) - 1) // self.size * self.size))
        elif action == "scroll [up]":
            self.at = max(0, self.at - self.size)
        elif action.startswith("click"):
            number = int(action[7:-1])
            if "Next" in self.show().splitlines()[number + 2]:
                self.number, self.at = self.number + 1, 0


def count_of(role: str) -> Read:
    return Read("count", lambda lines: str(sum(line.role == role for line in lines)))


def names(lines: Sequence[Line]) -> list[str]:
    return [line.name for line in lines if line.role == "heading"]


def test_printedare_read_with_their_quotes_and_depth() -> None:
    text = "[1] RootWebArea 'A' focused: True\n\t[2] link \"it's\"\n\t\tMenuListPopup ''\nURL: http://x"
    lines = read_lines(text)
    assert [(line.depth, line.id, line.role, line.name) for line in lines] == [
        (0, 1, "RootWebArea", "A"),
        (1, 2, "link", "it's"),
        (2, 0, "MenuListPopup", ""),
    ]
    assert lines[0].rest == "focused: True"


def test_a_name_that_looks_like_code_stays_a_name() -> None:
    lines = read_lines("[2] link '__import__(\\'os\\')\\n[3]'")
    assert lines[0].name == "__import__('os')\n[3]"


def test_screens_are_joined_where_they_overlap() -> None:
    one = read_lines(page("a 'x'", "a 'y'"))
    two = read_lines(page("a 'y'", "a 'z'"))
    assert [line.name for line in joined(one, two)] == ["Shop", "x", "y", "z"]
    assert [line.name for line in joined(one, read_lines(page("a 'z'")))] == ["Shop", "x", "y", "z"]


def test_it_clicks_types_and_chooses_by_role_and_name() -> None:
    book = Book([["link 'Cart'", "textbox 'Email'", "combobox 'Sort by'", "\toption 'Price, low'", "button 'Send'"]])
    choose = Choose("Sort by", "Price", starts=True)
    sent = book.play(Fill("Email", "a@b.example"), choose, Click("button", "Send"), Stop())
    assert sent == ["type [3] [a@b.example] [0]", "select [4] [Price, low]", "click [6]", "stop []"]


def test_it_scrolls_down_and_then_up_to_what_it_looks_for() -> None:
    book = Book([["link 'Top'", *[f"link '{n}'" for n in range(8)], "link 'Bottom'"]], size=4)
    sent = book.play(Click("link", "Bottom", new_page=False), Click("link", "Top"))
    assert sent == [
        *["scroll [down]"] * 2,
        "click [3]",
        "scroll [down]",
        *["scroll [up]"] * 2,
        "click [2]",
    ]


def test_it_does_not_scroll_below_the_page_s_end() -> None:
    book = Book([["link 'Top'", "StaticText '© 2026'"]])
    with pytest.raises(PlanFailed):
        book.play(Click("link", "Absent"))
    assert "scroll [down]" not in book.sent


def test_it_looks_within_the_part_that_has_a_text() -> None:
    text = "[1] RootWebArea 'Shop'\n" + "\n".join(
        f"\t[{n * 3 + 2}] row ''\n\t\t[{n * 3 + 3}] cell '{name}'\n\t\t[{n * 3 + 4}] button 'Remove'"
        for n, name in enumerate(("Pot", "Kettle"))
    )
    assert next(solve(text, [Click("button", "Remove", Within("row", "Kettle"))])) == "click [7]"


def test_what_it_answers_was_read_from_observations() -> None:
    book = Book([["heading 'a'", "link 'Next'"], ["heading 'b'"]])
    answer = Stop(lambda memory: f"{memory['names'].splitlines()}")
    assert book.play(Gather("names", names), answer)[-1] == "stop [['a', 'b']]"


def test_it_turns_pages_until_it_finds() -> None:
    turn = ["link 'Next'", "StaticText '© 2026'"]
    book = Book([turn, turn, ["link 'Kettle'"]])
    assert book.play(Page("link", "Kettle"), Click("link", "Kettle")) == ["click [2]", "click [2]", "click [2]"]


def test_it_reads_on_below_the_fold() -> None:
    book = Book([["link 'x'", "link 'y'", "term 'Weight'", "definition '3 kg'"]], size=2)

    def weight(lines: Sequence[Line]) -> str | None:
        return next((b.name for a, b in itertools.pairwise(lines) if a.name == "Weight"), None)

    assert book.play(Read("weight", weight), Stop(lambda m: m["weight"])) == ["scroll [down]", "stop [3 kg]"]


def test_difficulty_counts_actions_and_not_reading() -> None:
    assert acts([Click("link", "a"), count_of("link"), Stop()]) == 2
    assert [level([Stop()] * n) for n in (4, 5, 8, 9, 15, 16)] == [1, 2, 2, 3, 3, 4]
