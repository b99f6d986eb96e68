"""The same acts lead both engines to the same pages: walks drawn from a seed, compared after every step."""

from __future__ import annotations

import ast
import asyncio
import random

import pytest
from parity import SITES, Pair, report
from test_parity_pages import STATES

from envservers.webarena.act import Verb
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.lite.engine import LiteEngine

STEPS = 30
TEXTS = (
    "",
    "lamp",
    "Quill & Co",
    "3",
    "0",
    "-1",
    "someone@example.test",
    "two\nlines",
    "日本 €",
    "x" * 300,
    "<b>bold</b>",
)
KEYS = ("Enter", "Tab", "Space", "ArrowDown", "Control+a", "Backspace", "Escape", "a", "Nonsense")
CLICKED = ("link", "button", "checkbox", "radio", "combobox", "option", "DisclosureTriangle", "textbox", "StaticText")
TYPED = ("textbox", "searchbox", "spinbutton")


def draw(rng, names):
    """An act for a page with these lines: mostly what people do, sometimes anything."""
    numbered = list(enumerate(names, start=1))

    def one(*roles):
        fit = [number for number, name in numbered if name.split(" ", 1)[0] in roles]
        return rng.choice(fit) if fit else rng.choice(numbered)[0]

    draws = (
        (30, lambda: (Verb.CLICK, one("button"), {})),
        (25, lambda: (Verb.CLICK, one("link"), {})),
        (15, lambda: (Verb.CLICK, one(*CLICKED), {})),
        (25, lambda: (Verb.TYPE, one(*TYPED), {"text": rng.choice(TEXTS), "enter": rng.random() < 0.3})),
        (15, lambda: (Verb.SELECT, one("combobox"), {"text": option_name(rng, names)})),
        (10, lambda: (Verb.PRESS, 0, {"text": rng.choice(KEYS)})),
        (8, lambda: (Verb.GO_BACK, 0, {})),
        (4, lambda: (Verb.GO_FORWARD, 0, {})),
        (2, lambda: (Verb.HOVER, one(*CLICKED), {})),
        (2, lambda: (Verb.NEW_TAB, 0, {})),
        (3, lambda: (Verb.TAB_FOCUS, 0, {"tab": rng.randrange(2)})),
        (2, lambda: (Verb.CLOSE_TAB, 0, {})),
        (
            3,
            lambda: (
                Verb.GOTO,
                0,
                {"text": rng.choice(("http://shop.test/", "shop.test/cart", "file:///etc/hostname"))},
            ),
        ),
    )
    weights, acts = zip(*draws, strict=True)
    return rng.choices(acts, weights)[0]()


def option_name(rng, names):
    options = [name_in(name) for name in names if name.startswith("option ")]
    return rng.choice(options) if options and rng.random() < 0.9 else "no such option"


def name_in(line):
    """The name in a printed line, as Python's repr wrote it."""
    quote = line.split(" ", 1)[1]
    end = quote.index(quote[0], 1)
    return ast.literal_eval(quote[: end + 1])


async def walk(pair, rng, steps, trail):
    shown = await pair.compare("start")
    for step in range(steps):
        verb, number, fields = draw(rng, shown.names)
        what = f"{step}: {verb} {shown.names[number - 1] if number else ''} {fields or ''}"
        trail.append(what)
        truth, ours = await pair.act(verb, number, **fields)
        pair.note(what, [truth], [ours])
        shown = await pair.compare(what)
        if pair.differences:  # what follows would only repeat it
            return


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
def test_a_walk_reads_the_same_at_every_step(tmp_path, seed):
    rng = random.Random(seed)
    host, prepare = STATES[seed % len(STATES)].values
    trail = []

    async def play():
        pair = Pair(ChromiumEngine(), LiteEngine())
        await pair.open(tmp_path, SITES, host, prepare, f"http://{host}/")
        await walk(pair, rng, STEPS, trail)
        await pair.close()
        return pair

    pair = asyncio.run(play())
    assert not pair.differences, "\n".join([*trail, report(pair.differences)])
