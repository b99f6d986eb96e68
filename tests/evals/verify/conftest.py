"""One run, played once for the tests of this folder: two attempts by chance at twelve coins and six mazes."""

import asyncio
from collections.abc import Iterator

import coin_env
import pytest
from sqlalchemy.engine import URL

from agentenv import registry
from evals.harness import Player, play_runs, start
from evals.store.store import Store
from evals.suite import parse
from evals.verify.record import RunRecord, from_store

SUITE = {"name": "s", "envs": [{"env": "coin"}, {"env": "maze", "split": "double_t", "tasks": 6, "max_steps": 8}]}


@pytest.fixture(scope="module", autouse=True)
def coin() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        whole = registry.all_specs()
        patch.setattr(registry, "all_specs", lambda: {**whole, "coin": coin_env.SPEC})
        yield


@pytest.fixture(scope="module")
def played(coin: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[URL, str]:
    """The database and the run's id."""
    url = URL.create("sqlite", database=str(tmp_path_factory.mktemp("verify") / "runs.db"))
    with Store.open(url) as store:
        [run] = start(store, parse(SUITE, where="s"), [Player(name="random")], attempts=2)
        asyncio.run(play_runs(store, [run]))
    return url, run


@pytest.fixture(scope="module")
def record(played: tuple[URL, str]) -> RunRecord:
    url, run = played
    with Store.open(url) as store:
        return from_store(store, run)
