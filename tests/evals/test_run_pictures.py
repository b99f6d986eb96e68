"""Pictures of runs: kept with the run's own settings, carried by a resume, shared between runs, and swept with them."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import easel_env
import pytest
from easel_env import png
from sqlalchemy.engine import URL

from agentenv import registry
from agentenv.cli.main import main
from agentenv.errors import BadCall
from agentenv.pictures import NotKept, Pictures, pictures_of
from evals.harness import RunStopped, play_runs, player_of, start
from evals.players import Player
from evals.store.pictures import RunPictures, folder_of, pictures_in
from evals.store.store import Store
from evals.suite import parse
from evals.verify.chain import chain_root
from evals.verify.record import from_store
from evals.verify.rescore import rescore
from evals.verify.verify import verify

SUITE = {"name": "easels", "envs": [{"env": "easel"}]}


@pytest.fixture(autouse=True)
def easel(monkeypatch):
    whole = registry.all_specs()
    monkeypatch.setattr(registry, "all_specs", lambda: {**whole, "easel": easel_env.SPEC})


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTENV_HOME", str(tmp_path / "home"))


def begun(store, *, agent="oracle", images=True, **entry):
    suite = parse({**SUITE, "envs": [{**SUITE["envs"][0], **entry}]}, where="easels.yaml")
    return start(store, suite, [Player(name=agent)], images=images)[0]


def played(store, **settings):
    run = begun(store, **settings)
    asyncio.run(play_runs(store, [run]))
    return run


def kept(store):
    """The files of pictures, by name."""
    return {path.stem for path in pictures_in(store).pictures.all()}


def referred(store, run):
    return {sha for record in store.trajectories(run) for sha in pictures_of(record)}


def test_a_run_keeps_what_its_episodes_refer_to_and_no_more(store):
    run = played(store)
    assert kept(store) == referred(store, run) == set(pictures_in(store).of(run))
    assert len(kept(store)) == 5  # one blank canvas for all, and the shade of each task
    [first] = [record for record in store.trajectories(run) if record.task.index == 0]
    assert pictures_in(store).pictures.path(first.final_image).read_bytes() == png(1)
    assert {player_of(store.run(run)).name: dict(player_of(store.run(run)).settings)} == {"oracle": {}}


def test_a_run_that_did_not_ask_keeps_nothing_and_is_the_same_agent_in_the_same_world(store):
    drawn, plain = store.run(played(store)), store.run(played(store, images=False))
    assert referred(store, plain.id) == set()
    for name in ("agent_hash", "world_hash", "suite_hash", "agent_data"):
        assert getattr(drawn, name) == getattr(plain, name)
    assert (drawn.first_attempt, plain.first_attempt) == (0, 1)  # pooled: further attempts of one row
    assert not (folder_of(store.engine.url) / "runs" / f"{plain.id}.txt").exists()


def test_a_resume_keeps_them_too(store):
    run = begun(store)

    def stop(slot, episode):
        raise RunStopped("enough")

    with pytest.raises(RunStopped):
        asyncio.run(play_runs(store, [run], concurrency=1, on_episode=stop))
    assert 0 < store.progress(run).done < 4
    asyncio.run(play_runs(store, [run]))
    assert store.progress(run).done == 4
    assert all(turn.image for record in store.trajectories(run) for turn in record.turns)
    assert kept(store) == referred(store, run)


def test_deleting_a_run_leaves_what_others_refer_to_and_nothing_else(store):
    one, other = played(store), played(store, agent="noop")
    shared, own = referred(store, one) & referred(store, other), referred(store, one) - referred(store, other)
    assert shared
    assert own
    store.delete(one, reason="room")
    assert kept(store) == referred(store, other) == shared
    store.delete(other, reason="room")
    assert kept(store) == set()
    assert not list((folder_of(store.engine.url) / "runs").iterdir())


def test_what_a_killed_sitting_left_goes_with_its_run(store):
    run = played(store)
    pictures = pictures_in(store)
    pictures.keep(run)(png(99))  # of an episode that was never stored
    pictures.pictures.keep(png(98))  # of nobody
    store.delete(played(store, agent="noop"), reason="room")
    assert kept(store) == {*referred(store, run), Pictures(Path("x")).path(_sha(99)).stem}
    store.delete(run, reason="room")
    assert kept(store) == set()


def _sha(shade):
    import hashlib

    return hashlib.sha256(png(shade)).hexdigest()


def test_a_deletion_without_pictures_makes_no_folder(store):
    store.delete(played(store, images=False), reason="room")
    assert not folder_of(store.engine.url).exists()


def test_a_picture_that_comes_back_after_a_sweep_is_stored_again(tmp_path):
    mine = RunPictures(tmp_path / "p")
    first = mine.keep("a")(png(0))
    assert mine.sweep(lambda: []) == 1
    assert mine.keep("b")(png(0)) == first
    assert mine.sweep(lambda: ["b"]) == 0
    assert mine.pictures.path(first).exists()


def test_what_is_stored_while_others_sweep_stays(tmp_path):
    """Three processes' worth of threads: a run that plays never loses what it has just stored, shared or its own."""
    folder, stop = tmp_path / "p", threading.Event()

    def sweeping():
        while not stop.is_set():
            RunPictures(folder).sweep(lambda: ["a", "b"])

    def playing(run):
        keep = RunPictures(folder).keep(run)
        return [keep(png(shade)) for _ in range(3) for shade in range(40)]

    sweeper = threading.Thread(target=sweeping)
    sweeper.start()
    try:
        with ThreadPoolExecutor(3) as pool:
            a, b, gone = pool.map(playing, ("a", "b", "deleted"))
    finally:
        stop.set()
        sweeper.join()
    mine = RunPictures(folder)
    mine.sweep(lambda: ["a", "b"])
    assert len({*a}) == 40
    assert {*a, *b} == {path.stem for path in mine.pictures.all()} == {*gone}
    assert mine.of("deleted") == []


def test_reopened_attempts_keep_the_pictures_of_both_tries(store):
    run = played(store)
    before = referred(store, run)
    store.reopen(run, reason="again", overwrite=True)
    asyncio.run(play_runs(store, [run]))
    assert before <= referred(store, run) == kept(store)


def test_a_folder_that_cannot_be_written_stops_the_sitting_and_blames_no_agent(file_url):
    with Store.open(file_url) as store:
        folder_of(file_url).write_text("a file")
        run = begun(store)
        with pytest.raises(NotKept, match="pictures are in"):
            asyncio.run(play_runs(store, [run]))
        assert store.episodes(run) == []
        assert "pictures are in" in store.run(run).stopped
        folder_of(file_url).unlink()
        asyncio.run(play_runs(store, [run]))
        assert store.progress(run).done == 4


def test_each_database_has_a_folder_of_its_own(tmp_path):
    urls = [URL.create("sqlite", database=str(tmp_path / name)) for name in ("a.db", "a", "b.db")]
    urls += [URL.create("postgresql", host="h", port=p, database=d) for p, d in ((5432, "x"), (5433, "x"), (5432, "y"))]
    assert len({folder_of(url) for url in urls}) == 6
    assert folder_of(urls[0]) == tmp_path / "a.db.images"
    assert folder_of(urls[3]) == folder_of(URL.create("postgresql+psycopg", "me", "secret", "h", database="x"))
    (tmp_path / "link.db").symlink_to(tmp_path / "a.db")
    assert folder_of(URL.create("sqlite", database=str(tmp_path / "link.db"))) == folder_of(urls[0])


# Verification.


def test_a_run_with_pictures_is_verified_without_drawing_and_its_chain_covers_them(store):
    from dataclasses import replace

    record = from_store(store, played(store))
    verdict = asyncio.run(verify(record))
    assert (verdict.level, verdict.verified) == ("verified", 4)
    one = record.tries[0]
    changed = [replace(turn, image=_sha(200)) for turn in one.trajectory.turns]
    other = [replace(one, trajectory=replace(one.trajectory, turns=changed)), *record.tries[1:]]
    assert chain_root(other) != chain_root(record.tries)


def test_the_chain_of_a_record_without_pictures_is_what_it_was(store):
    """Roots that were published stay good: the hash is over the fields that there were."""
    import hashlib
    from dataclasses import asdict

    from evals.verify.chain import START, canonical

    record = from_store(store, played(store, images=False))
    link = START
    for one in record.tries:
        head = {k: v for k, v in asdict(one.trajectory).items() if k != "final_image"}
        items = [{"slot": one.slot, "try": one.number, "superseded": one.superseded, "episode": {**head, "turns": []}}]
        items += [{k: v for k, v in asdict(turn).items() if k != "image"} for turn in one.trajectory.turns]
        assert "image" not in json.dumps(items)
        for item in items:
            link = hashlib.sha256(link + canonical(item)).digest()
    assert link.hex() == chain_root(record.tries)


def test_a_rescored_run_keeps_the_pictures_when_the_old_one_is_deleted(store):
    run = played(store)
    found = rescore(store, run)
    wanted = referred(store, run)
    assert referred(store, found.run) == wanted
    store.delete(run, reason="room")
    assert kept(store) == wanted


# The commands.


def call(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture
def suite_file(tmp_path):
    file = tmp_path / "easels.yaml"
    file.write_text(json.dumps(SUITE))
    return file


def test_the_command_keeps_them_and_its_settings_say_so(capsys, suite_file):
    code, out, err = call(capsys, "eval", "run", str(suite_file), "--agent", "oracle", "--images")
    assert (code, "--images keeps none" in err) == (0, False)
    assert "agentenv.db.images. Next" in out
    with Store.open() as store:
        [row] = store.runs()
        assert row.agent_settings == {"name": "oracle", "--images": True}
        assert kept(store) == referred(store, row.id)
        assert pictures_in(store).folder == Path(store.name).with_name("agentenv.db.images")
    code, _, _ = call(capsys, "eval", "delete", row.id, "--reason", "room")
    assert code == 0
    with Store.open() as store:
        assert kept(store) == set()


def test_envs_that_draw_nothing_are_named_once(capsys, tmp_path):
    file = tmp_path / "none.yaml"
    envs = [{"env": "maze", "split": "double_t", "tasks": 2}, {"env": "easel", "options": {"draws": False}}]
    file.write_text(json.dumps({"name": "none", "envs": envs}))
    code, _, err = call(capsys, "eval", "run", str(file), "--agent", "noop", "--agent", "oracle", "--images")
    told = [line.split()[0] for line in err.splitlines() if "--images keeps none of it" in line]
    assert (code, told) == (0, ["maze", "easel"])


def test_what_is_no_setting_of_an_agent_cannot_be_one(store):
    with pytest.raises(BadCall):
        Player(name="react", settings={"--images": True, "model": "m", "model_url": "http://x/v1"}).make()
