"""The board that was kept is the one computed from nothing, whoever writes what in between."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from made_runs import ended, new_run, play_all
from written_at_random import Writer

from agentenv.protocol import Outcome
from evals.boards import board, pooled, put_together, with_breaks
from evals.kept import ATTEMPTS, CLAIMS, RANGES, ROWS, Kept, code_hash, state_hash
from evals.leaderboard import Row, leaderboard, row_key
from evals.store.database import reading
from evals.store.store import Store
from evals.store.view import View
from evals.web.database import ReadOnlyStore


def bits(rows: Iterable[Row]) -> list[str]:
    """Rows as texts that differ where a bit does; without marks, which are no part of what is kept."""
    return [json.dumps(asdict(replace(row, verified="", verifications=[]))) for row in rows]


def from_nothing(store: Store) -> list[Row]:
    """By the plain functions, over all tasks."""
    pools = {run.id: runs for runs in pooled(store.runs()[::-1]).values() for run in runs}
    found = []
    for row in leaderboard(store.tasks()):
        [whole] = with_breaks(store, [row], pools[row.run])
        table = [run for run in store.runs() if (run.suite_hash, run.world_hash) == (row.suite_hash, row.world_hash)]
        found.append(replace(whole, table_hash=state_hash(table)))
    return found


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_after_every_write_the_board_is_the_one_computed_from_nothing(store, url, seed):
    """Two writers, pages that keep what they compute to themselves, and somebody who keeps what is outdated."""
    writers = [Writer(store, name=name, seed=seed) for name in ("x", "y")]
    rng = random.Random(seed)
    outdated: list[dict[str, tuple[str, bytes]]] = []
    ranked = 0
    with ReadOnlyStore.open(url) as pages:
        for _ in range(60):
            done = rng.choice(writers).write()
            if rng.random() < 0.3:
                with store.view() as view:
                    outdated.append(put_together(view, view.runs())[1])
            elif outdated and rng.random() < 0.5:
                store.keep(outdated.pop())
            if rng.random() < 0.4:  # else several writes come together
                expected = from_nothing(store)
                assert bits(board(store)) == bits(expected), done
                assert bits(board(pages)) == bits(expected), done
                assert bits(board(store)) == bits(expected), done
                ranked = max(ranked, sum(row.rank is not None for row in expected))
        assert bits(board(store)) == bits(board(pages)) == bits(from_nothing(store))
    assert ranked >= 4


WRITER = """
import itertools, sys, time
sys.path.insert(0, sys.argv[3])
from written_at_random import Writer
from evals.store.store import Store
with Store.open() as store:
    writer = Writer(store, name=sys.argv[1], seed=int(sys.argv[2]))
    for count in itertools.count():
        if count == 1:
            print("wrote", flush=True)
        writer.write()
        time.sleep(0.02)
"""

READER = """
import itertools
from evals.boards import board
from evals.store.store import Store
with Store.open() as store:
    for count in itertools.count():
        if count == 1:
            print("read", flush=True)
        board(store)
"""


@contextmanager
def process(code: str, url, *words: str) -> Iterator[subprocess.Popen[str]]:
    """One that goes on until it is killed, wherever it is; begun."""
    started = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "AGENTENV_DB": url.render_as_string(hide_password=False)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout.readline() in ("wrote\n", "read\n")
        yield started
        assert started.poll() is None, "it ended by itself"
    finally:
        started.send_signal(signal.SIGKILL)
        started.wait()
        started.stdout.close()


class Bare(View):
    """A view to which nothing was ever kept."""

    def cached(self, keys):
        return {}


@pytest.mark.slow
def test_while_processes_write_read_and_die_no_board_is_older_than_what_it_was_read_from(store, url):
    """Every board that is read here is compared with the one computed from nothing over the same state."""
    here = str(Path(__file__).parent)
    states = set()
    with process(WRITER, url, "x", "1", here), process(READER, url):
        for number in range(3):  # one writer after the other dies in the midst of what it writes
            with process(WRITER, url, f"y{number}", "2", here):
                for _ in range(4):
                    with reading(store.engine) as connection:
                        runs = View(connection).runs()
                        rows, fresh = put_together(View(connection), runs)
                        assert bits(rows) == bits(put_together(Bare(connection), runs)[0])
                    states.add(state_hash(runs))
                    store.keep(fresh)
    assert len(states) > 3
    assert bits(board(store)) == bits(from_nothing(store))


def three_agents(store: Store) -> None:
    for number, agent in enumerate("abc"):
        store.add_runs([new_run(agent, agent=agent, tasks=8, attempts=2)])
        play_all(store, agent, lambda slot, n=number: Outcome.SUCCESS if slot % 3 <= n else Outcome.FAILURE)


def test_an_episode_makes_nothing_anew_but_its_own_row_and_the_claims_on_it(store):
    three_agents(store)
    board(store)
    place, state = row_key(store.run("b")), state_hash([store.run("b")])
    with store.view() as view:
        kept = Kept(view, [])
        marked = [{**row, "agent": "as it was kept"} for row in kept.get(ROWS, place, state)]
        kept.put(ROWS, place, state, marked)
        [(section, (names, p_values))] = kept.get(CLAIMS, place[:3], code_hash()).items()
        kept.put(CLAIMS, place[:3], code_hash(), {section: [names, [*p_values[:2], 0.123]]})  # of b and c
    store.keep(kept.fresh)
    store.add_runs([new_run("more", agent="a", tasks=8)])
    slot = store.open_slots("more")[0]
    store.record("more", slot.slot, 0, ended(Outcome.SUCCESS, slot.task))
    found = {row.agent: row for row in board(store) if row.env == "coin"}
    assert found["a"].measure.n == 17
    assert found["as it was kept"].measure.n == 16
    with store.view() as view:
        [(section, (now, p_now))] = Kept(view, []).get(CLAIMS, place[:3], code_hash()).items()
    assert [name in names for name in now] == [False, True, True]
    assert p_now[2] == 0.123


def test_what_another_version_kept_is_not_read(store):
    three_agents(store)
    expected = bits(board(store))
    place = row_key(store.run("b"))
    with store.view() as view:
        kept = Kept(view, [])
        for kind, where in ((ROWS, place), (ATTEMPTS, place), (RANGES, place[:3]), (CLAIMS, place[:3])):
            kept.put(kind, where, "0" * 64, "of a form that nobody knows")
    store.keep(kept.fresh)
    assert bits(board(store)) == expected
