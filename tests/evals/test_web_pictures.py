"""A real browser's pictures: every turn of a web task has one, and drawing them changes nothing that is measured."""

import asyncio
import sys
from dataclasses import replace

import pytest
from sqlalchemy.engine import URL

from agentenv.pictures import HEAD_BYTES, pictures_of, size_of
from envservers.webarena.engines.chromium.find import find_chromium, have_playwright
from evals.harness import play_runs, start
from evals.players import Player
from evals.store.pictures import pictures_in
from evals.store.store import Store
from evals.suite import parse
from evals.verify.record import from_store
from evals.verify.verify import verify

SUITE = {
    "name": "web",
    "envs": [
        {"env": "webarena", "split": "smoke", "tasks": [0, 2], "options": {"engine": "chromium", "size": "small"}},
    ],
}


@pytest.fixture(autouse=True)
def _no_browser_stays():
    if not have_playwright() or find_chromium() is None:
        pytest.skip("no Chromium: apt-get install chromium-headless-shell")
    yield
    if "envservers.webarena.engines.chromium.runtime" in sys.modules:
        from envservers.webarena.engines.chromium.runtime import shutdown

        shutdown()


@pytest.mark.slow
def test_a_web_tasks_pictures_are_kept_and_the_episode_is_the_same_with_them_and_without(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTENV_HOME", str(tmp_path / "home"))
    with Store.open(URL.create("sqlite", database=str(tmp_path / "runs.db"))) as store:
        runs = [start(store, parse(SUITE, where="x"), [Player(name="oracle")], images=i)[0] for i in (True, False)]
        for run in runs:
            asyncio.run(play_runs(store, [run], concurrency=2))
        drawn, plain = (list(store.trajectories(run)) for run in runs)
        assert all(record.success for record in drawn)
        bare = [[replace(turn, image=None) for turn in record.turns] for record in drawn]
        assert bare == [record.turns for record in plain]
        names = [turn.image for record in drawn for turn in record.turns]
        assert None not in names
        assert 2 < len(set(names)) < len(names)  # pages differ, and some are seen twice
        kept = pictures_in(store).pictures
        assert {path.stem for path in kept.all()} == {sha for record in drawn for sha in pictures_of(record)}
        for name in set(names):
            assert size_of(kept.path(str(name)).read_bytes()[:HEAD_BYTES]) == (1280, 720)
        verdict = asyncio.run(verify(from_store(store, runs[0]), concurrency=2))
        assert (verdict.level, verdict.verified) == ("verified", 2)
