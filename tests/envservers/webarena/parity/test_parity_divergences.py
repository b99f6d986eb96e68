"""What once differed between the engines stays mended; what still does is listed as open."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from parity import Pair, report
from tiny_site import TinySite, page, tiny_session

from envservers.webarena.act import Verb
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.lite.engine import LiteEngine

FILES = sorted((Path(__file__).parent / "divergences").glob("*.json"))


def cases():
    for path in FILES:
        case = json.loads(path.read_text(encoding="utf-8"))
        marks = [pytest.mark.xfail(reason=case["open"], raises=AssertionError)] if case.get("open") else []
        yield pytest.param(case, id=path.stem, marks=marks)


@pytest.mark.parametrize("case", list(cases()))
def test_a_divergence_that_was_found_is_gone(tmp_path, case):
    async def play():
        pair = Pair(ChromiumEngine(), LiteEngine())
        for engine in pair.engines:
            (tmp_path / engine.name).mkdir()
            site = TinySite({"/": page(case["html"]), "/other": page("<p>other</p>")})
            await engine.open(tiny_session(tmp_path / engine.name, site), ["http://shop.test/"])
        shown = await pair.compare("start")
        for verb, text, *line in case["acts"]:
            number = shown.names.index(line[0]) + 1 if line else 0
            truth, ours = await pair.act(Verb(verb), number, **({"text": text} if text else {}))
            pair.note(f"{verb} {text}", [truth], [ours])
            shown = await pair.compare(f"{verb} {text} {line}")
        await pair.close()
        return pair.differences

    differences = asyncio.run(play())
    assert not differences, report(differences)
