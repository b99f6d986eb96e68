"""The board of the pages is that of the moment, whoever writes."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor

from made_runs import ended, new_run, play_all
from sqlalchemy.engine import URL
from starlette.testclient import TestClient

from agentenv.protocol import Outcome
from evals.store.store import Store
from evals.web.app import make_app
from evals.web.database import ReadOnlyStore


def shown(pages: TestClient) -> dict[str, int]:
    """Valid attempts by agent."""
    rows = csv.DictReader(io.StringIO(pages.get("/leaderboard.csv").text))
    return {row["agent"]: int(row["n"]) for row in rows if row["env"] == "all"}


def test_every_view_shows_the_last_episode_and_the_newest_run(file_url: URL):
    with Store.open(file_url) as store, ReadOnlyStore.open(file_url) as seen:
        pages = TestClient(make_app(seen))
        assert shown(pages) == {}
        store.add_runs([new_run("one", tasks=6)])
        for count, slot in enumerate(store.open_slots("one")):
            assert shown(pages) == {"a": count}
            store.record("one", slot.slot, 0, ended(Outcome.SUCCESS, slot.task))
        store.add_runs([new_run("two", tasks=6, agent="b")])
        assert shown(pages) == {"a": 6, "b": 0}


def test_whoever_looks_at_the_same_time_sees_the_same(file_url: URL):
    with Store.open(file_url) as store, ReadOnlyStore.open(file_url) as seen:
        store.add_runs([new_run(name, tasks=20, agent=name) for name in "abc"])
        play_all(store, "b", lambda slot: Outcome.SUCCESS if slot % 3 else Outcome.FAILURE)
        pages = TestClient(make_app(seen))
        with ThreadPoolExecutor(max_workers=8) as threads:
            found = list(threads.map(lambda _: shown(pages), range(8)))
        assert found == [{"a": 0, "b": 20, "c": 0}] * 8
