"""The index of a run: what it counts, and that it follows the database without being read anew. On both databases."""

from __future__ import annotations

import pytest
from made_pages import play_one
from made_runs import ended, new_run, play_all

from agentenv.protocol import Outcome
from evals.store.database import reading
from evals.store.store import Store
from evals.web import queries
from evals.web.database import ReadOnlyStore
from evals.web.index import SUPERSEDED, Group, Indexes, behind
from evals.web.listing import ROWS, Wanted, listed

LIMITS = {"coin": 9}


@pytest.fixture
def reader(url, store):
    with ReadOnlyStore.open(url) as opened:
        yield opened


def index_of(reader: ReadOnlyStore, indexes: Indexes, run: str = "one"):
    with reading(reader.engine) as connection:
        return indexes.of(connection, run, LIMITS)


def test_groups_are_by_env_category_and_outcome(store: Store, reader: ReadOnlyStore):
    store.add_runs([new_run("one", tasks=6, attempts=2)])
    play_all(store, "one", lambda slot: Outcome.SUCCESS if slot % 3 else Outcome.FAILURE)
    index = index_of(reader, Indexes())
    assert {group: len(entries) for group, entries in index.groups.items()} == {
        Group("coin", "even", "success"): 4,
        Group("coin", "odd", "success"): 4,
        Group("coin", "even", "failure"): 2,
        Group("coin", "odd", "failure"): 2,
    }
    assert [entry.slot for entry in index.chosen(outcome="failure")] == [0, 3, 6, 9]
    assert [entry.slot for entry in index.chosen(category="odd", outcome="failure")] == [3, 9]
    assert [entry.slot for entry in index.chosen()] == list(range(12))
    assert index.chosen(outcome="nothing") == []


def test_an_index_grows_with_the_run_and_is_read_anew_when_attempts_are_opened_again(
    store: Store, reader: ReadOnlyStore
):
    store.add_runs([new_run("one", tasks=8), new_run("two", tasks=8)])
    indexes = Indexes()
    first = index_of(reader, indexes)
    assert first.tries == []
    for slot in store.open_slots("one")[:5]:
        play_one(store, "two", slot)  # ids of another run lie between
        play_one(store, "one", slot)
    grown = index_of(reader, indexes)
    assert grown is first
    assert [entry.slot for entry in grown.tries] == [0, 1, 2, 3, 4]
    for slot in store.open_slots("one"):
        store.record("one", slot.slot, slot.tries, ended(Outcome.SUCCESS, slot.task))
    assert len(index_of(reader, indexes).tries) == 9  # an invalid try was played again
    store.reopen("one", reason="for the test", tasks=["coin/test/0"], overwrite=True)
    anew = index_of(reader, indexes)
    assert anew is not first
    assert len(anew.groups[Group("coin", "even", SUPERSEDED)]) == 1
    store.delete("one", reason="for the test")
    assert index_of(reader, indexes).tries == []


def test_a_look_from_a_moment_ago_takes_the_newer_index(store: Store, reader: ReadOnlyStore):
    store.add_runs([new_run("one", tasks=3)])
    indexes = Indexes()
    with reading(reader.engine) as earlier:
        assert queries.state(earlier, "one")[0] == 0
        play_one(store, "one", store.open_slots("one")[0])
        newer = index_of(reader, indexes)
        assert indexes.of(earlier, "one", LIMITS) is newer
        assert len(newer.tries) == 1


def test_the_runs_that_were_looked_at_last_stay_in_memory(
    store: Store, reader: ReadOnlyStore, monkeypatch: pytest.MonkeyPatch
):
    from evals.web import index

    monkeypatch.setattr(index, "KEPT", 5)
    names = ("one", "two", "six")
    store.add_runs([new_run(name, tasks=2 if name != "six" else 6) for name in names])
    for name in names:
        play_all(store, name, lambda slot: Outcome.SUCCESS)
    indexes = Indexes()
    one, two = index_of(reader, indexes), index_of(reader, indexes, "two")
    assert index_of(reader, indexes) is one
    six = index_of(reader, indexes, "six")
    assert index_of(reader, indexes, "six") is six
    assert index_of(reader, indexes, "two") is not two


def test_few_more_among_many_are_put_in_their_places(store: Store, reader: ReadOnlyStore):
    store.add_runs([new_run("one", tasks=60)])
    slots = store.open_slots("one")
    for slot in [*slots[:30], *slots[31:]]:
        store.record("one", slot.slot, 0, ended(Outcome.SUCCESS, slot.task))
    indexes = Indexes()
    index_of(reader, indexes)
    store.record("one", 30, 0, ended(Outcome.FAILURE, slots[30].task))
    index = index_of(reader, indexes)
    assert [entry.slot for entry in index.tries] == list(range(60))
    assert [entry.slot for entry in index.chosen(category="even")] == list(range(0, 60, 2))


def test_the_page_behind_a_place_begins_with_the_next_one(store: Store, reader: ReadOnlyStore):
    store.add_runs([new_run("one", tasks=ROWS + 5)])
    play_all(store, "one", lambda slot: Outcome.SUCCESS)
    index = index_of(reader, Indexes())
    with reading(reader.engine) as connection:
        first = listed(connection, index, Wanted())
        second = listed(connection, index, Wanted(), after=first.after or (-1, -1))
    assert [item.entry.slot for item in first.items] == list(range(ROWS))
    assert [item.entry.slot for item in second.items] == list(range(ROWS, ROWS + 5))
    assert (first.chosen, second.after) == (ROWS + 5, None)
    assert behind(index.tries, (3, 0)) == 4


def test_a_page_never_reads_more_turns_than_it_may_and_says_where_to_go_on(
    store: Store, reader: ReadOnlyStore, monkeypatch: pytest.MonkeyPatch
):
    from evals.web import listing

    monkeypatch.setattr(listing, "TURNS", 12)
    store.add_runs([new_run("one", tasks=20)])
    play_all(store, "one", lambda slot: Outcome.SUCCESS, turns=2)
    index = index_of(reader, Indexes())
    after, looked, rounds = (-1, -1), 0, 0
    with reading(reader.engine) as connection:
        while True:
            page = listed(connection, index, Wanted(text="nowhere"), after=after)
            assert page.items == []
            assert page.looked <= 8
            looked, rounds = looked + page.looked, rounds + 1
            if page.after is None:
                break
            after = page.after
    assert (looked, rounds > 2) == (20, True)


def test_a_text_is_found_wherever_it_is(store: Store, reader: ReadOnlyStore):
    store.add_runs([new_run("one", tasks=3)])
    slots = store.open_slots("one")
    store.record("one", 0, 0, ended(Outcome.FAILURE, slots[0].task, error="the Disk is full"))
    store.record("one", 1, 0, ended(Outcome.FAILURE, slots[1].task, final_observation="x" * 3000 + ' a "Disk"'))
    long = [*ended(Outcome.FAILURE, slots[2].task).turns]
    store.record("one", 2, 0, ended(Outcome.FAILURE, slots[2].task, turns=long))
    index = index_of(reader, Indexes())

    def slots_with(text: str) -> list[tuple[int, str]]:
        with reading(reader.engine) as connection:
            found = listed(connection, index, Wanted(text=text)).items
        return [(item.entry.slot, item.found.where if item.found else "") for item in found]

    assert slots_with("disk") == [(0, "error"), (1, "last observation")]
    assert slots_with('"disk"') == [(1, "last observation")]
    assert slots_with("GO 1") == [(0, "action"), (1, "action"), (2, "action")]
    assert slots_with("test/2") == [(2, "task")]
    assert slots_with("%") == []


def test_an_episode_is_read_whole(store: Store, reader: ReadOnlyStore):
    store.add_runs([new_run("one", tasks=2)])
    play_all(store, "one", lambda slot: Outcome.SUCCESS)
    written = list(store.trajectories("one"))
    with reading(reader.engine) as connection:
        ids = [entry.id for entry in Indexes().of(connection, "one", LIMITS).tries]
        read = [queries.episode(connection, id_) for id_ in ids]
        assert queries.episode(connection, 10**6) is None
    assert [found[2] for found in read if found is not None] == written


def test_the_connections_cannot_write(store: Store, reader: ReadOnlyStore):
    from evals.store.database import StoreError, writing

    store.add_runs([new_run("one")])
    with pytest.raises(StoreError, match=r"read-?only"), writing(reader.engine) as connection:
        connection.exec_driver_sql("UPDATE runs SET agent = 'mine'")
    with pytest.raises(StoreError, match=r"read-?only"):
        reader.stop("one", "no")
    assert store.run("one").agent == "a"
