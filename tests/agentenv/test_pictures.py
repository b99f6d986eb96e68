"""Pictures beside records: stored once, named by what they hold, and of no effect on anything else."""

import asyncio
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import easel_env
import pytest
from easel_env import png
from serving import running
from toy_agents import Item, Scripted

from agentenv import registry
from agentenv.cli.main import main
from agentenv.errors import BadCall, EnvFailed
from agentenv.pictures import MOST_BYTES, NotKept, Pictures, Undrawn, beside, pictures_of, size_of
from agentenv.pool import EnvPool
from agentenv.protocol import Action, Outcome
from agentenv.rollout import play
from agentenv.server.sessions import Sessions
from agentenv.trajectory import Trajectory, Turn, as_values, read_jsonl

SHA = hashlib.sha256(png(0)).hexdigest()


@pytest.fixture(autouse=True)
def easel(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = registry.all_specs()
    monkeypatch.setattr(registry, "all_specs", lambda: {**whole, "easel": easel_env.SPEC})


@pytest.fixture
def pictures(tmp_path: Path) -> Pictures:
    return Pictures(tmp_path / "p")


def played(pictures: Pictures | None, *words: Item, images: bool = True, index: int = 0, **pool: Any) -> Trajectory:
    async def work() -> Trajectory:
        async with EnvPool("easel", images=images, **pool) as opened:
            refs = await opened.task_refs("test", index + 1)
            return await play(opened, refs[index], Scripted(*words).spec, keep=pictures.keep if pictures else None)

    return asyncio.run(asyncio.wait_for(work(), 60))


def file_of(pictures: Pictures, sha: str | None) -> bytes:
    assert sha is not None
    return pictures.path(sha).read_bytes()


# The folder.


def test_equal_pictures_are_one_file_named_by_its_sha256(pictures: Pictures) -> None:
    assert [pictures.keep(png(shade)) for shade in (0, 0, 1)] == [SHA, SHA, hashlib.sha256(png(1)).hexdigest()]
    assert pictures.path(SHA) == pictures.folder / SHA[:2] / f"{SHA}.png"
    assert file_of(pictures, SHA) == png(0)
    assert len([p for p in pictures.folder.rglob("*") if p.is_file()]) == 2


def test_a_file_that_a_power_cut_has_emptied_is_written_again(pictures: Pictures) -> None:
    pictures.path(pictures.keep(png(0))).write_bytes(b"")
    assert file_of(pictures, pictures.keep(png(0))) == png(0)


@pytest.mark.parametrize("name", ["", "x" * 64, SHA.upper(), SHA + "\n", SHA[:-1], f"../{SHA[3:]}", f"/{SHA[1:]}"])
def test_only_a_sha256_leads_to_a_file(pictures: Pictures, name: str) -> None:
    with pytest.raises(BadCall, match="no sha256"):
        pictures.path(name)


@pytest.mark.parametrize(
    "image",
    [
        b"",
        b"GIF89a",
        png(0)[:20],
        png(0)[:8] + b"x" * 40,
        png(0)[:16] + bytes(8),
        png(0, width=20_000, height=1),
        png(0) + bytes(MOST_BYTES),
    ],
)
def test_what_is_no_picture_or_a_huge_one_is_the_environments_fault(pictures: Pictures, image: bytes) -> None:
    with pytest.raises(EnvFailed, match="no PNG"):
        pictures.keep(image)
    assert not pictures.folder.exists()


def test_the_size_in_pixels_is_read_from_the_head() -> None:
    assert size_of(png(3, width=1280, height=720)[:24]) == (1280, 720)


def test_a_folder_that_cannot_be_written_is_named_and_blames_neither_env_nor_agent(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("a file")
    with pytest.raises(NotKept, match=f"pictures go to {tmp_path / 'p'}"):
        played(Pictures(tmp_path / "p"), "look")


def test_only_pictures_are_ever_deleted(pictures: Pictures) -> None:
    kept, gone = pictures.keep(png(0)), pictures.keep(png(1))
    (pictures.folder / "notes.png").write_text("mine")
    (pictures.path(gone).parent / f".{gone}.1-2").write_bytes(b"half")
    assert pictures.keep_only(frozenset({kept})) == 1
    left = sorted(str(p.relative_to(pictures.folder)) for p in pictures.folder.rglob("*") if p.is_file())
    assert left == sorted([f"{kept[:2]}/{kept}.png", "notes.png"])


def test_pictures_are_brought_to_another_folder_and_missing_ones_counted(pictures: Pictures, tmp_path: Path) -> None:
    other = Pictures(tmp_path / "other")
    assert pictures.copy_to(other, [pictures.keep(png(0)), "0" * 64]) == (1, 1)
    assert file_of(other, SHA) == png(0)


# The record.


def test_each_turn_has_the_picture_of_what_was_seen_before_it_and_the_end_its_own(pictures: Pictures) -> None:
    episode = played(pictures, "look", "paint 7", "paint 1")
    assert [file_of(pictures, turn.image) for turn in episode.turns] == [png(0), png(0), png(7)]
    assert file_of(pictures, episode.final_image) == png(1)
    assert len(pictures_of(episode)) == len(list(pictures.all())) == 3


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_they_come_from_a_server_as_from_this_process(pictures: Pictures, transport: str) -> None:
    with running(Sessions([easel_env.SPEC])) as url:
        there = played(pictures, "look", "paint 1", servers=[url], transport=transport)
    assert pictures_of(there) == pictures_of(played(pictures, "look", "paint 1"))
    assert file_of(pictures, there.final_image) == png(1)


def test_pictures_change_nothing_else_of_a_record(pictures: Pictures) -> None:
    drawn, plain = played(pictures, "look", "paint 1"), played(None, "look", "paint 1", images=False)
    bare = replace(
        drawn, turns=[replace(t, image=None) for t in drawn.turns], final_image=None, time=plain.time, version=1
    )
    assert bare == plain


def test_without_a_folder_nothing_is_noted_of_what_was_drawn() -> None:
    assert pictures_of(played(None, "look")) == []


def test_a_record_without_pictures_is_written_as_before_and_one_with_them_as_version_2(pictures: Pictures) -> None:
    plain, drawn = (json.loads(played(p, "look", images=p is not None).to_json()) for p in (None, pictures))
    assert (plain["version"], drawn["version"]) == (1, 2)
    assert [turn.pop("image") for turn in drawn["turns"]] == [SHA] * 4
    assert drawn.pop("final_image") == SHA
    assert {**drawn, "version": 1, "time": 0} == {**plain, "time": 0}


def test_it_is_read_back_equal_and_bounds_are_held(pictures: Pictures) -> None:
    episode = played(pictures, "look")
    line = episode.to_json()
    assert Trajectory.from_json(line) == episode
    for wrong in (SHA.upper(), SHA + "\\n", "../../etc/passwd", SHA[:-1]):
        with pytest.raises(BadCall, match=r"not a trajectory: .*image"):
            Trajectory.from_json(line.replace(SHA, wrong, 1))
    with pytest.raises(BadCall, match="not a trajectory"):
        Trajectory.from_json(line.replace(f'"{SHA}"', "7", 1))


def test_a_field_for_pictures_is_no_part_of_a_digest_where_there_is_none() -> None:
    turn = Turn(observation="o", action="a", reward=0.0)
    assert "image" not in as_values(turn)
    assert as_values(replace(turn, image=SHA))["image"] == SHA
    assert as_values(turn)["malformed"] is None  # as it always was


def test_a_picture_that_is_none_ends_the_episode_as_the_environments_fault(pictures: Pictures) -> None:
    episode = played(pictures, "look", "smear", "look")
    assert (episode.outcome, episode.steps) == (Outcome.ENV_ERROR, 2)
    assert "no PNG" in str(episode.error)
    assert played(None, "look", "smear", "look", images=False).outcome is not Outcome.ENV_ERROR


def test_nothing_is_drawn_for_a_completion_that_was_no_action(pictures: Pictures) -> None:
    episode = played(pictures, "look", Action(text="?", malformed="no line"), "look")
    assert [turn.image is not None for turn in episode.turns] == [True, True, False, True]


def test_an_env_that_does_not_draw_is_told_of_once() -> None:
    said: list[str] = []
    undrawn = Undrawn(said.append)
    undrawn.opened("maze", draws=False)
    undrawn.opened("maze", draws=False)
    undrawn.opened("easel", draws=True)
    episode = played(None, "look", options={"draws": False})
    for _ in range(2):
        undrawn.ended(episode)
        undrawn.ended(replace(episode, env="maze"))
    assert [line.split()[0] for line in said] == ["maze", "easel"]
    assert "agentenv envs easel" in said[1]


# The command.


def cli(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(("rollout", "easel", "--agent", "oracle", *words))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_rollout_keeps_its_pictures_beside_its_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    code, text, err = cli(capsys, "--images", "--out", str(out))
    assert (code, "draw" in err) == (0, False)
    records = list(read_jsonl(out))
    wanted = {sha for record in records for sha in pictures_of(record)}
    found = Pictures(beside(out))
    assert {path.stem for path in found.all()} == wanted
    assert len(wanted) == 5  # one blank canvas for all, and the shade of each task
    assert f"4 episodes in {out}, 5 pictures in {tmp_path / 'o.jsonl.images'}" in text
    assert all(file_of(found, record.turns[0].image) == png(0) for record in records)
    assert b"PNG" not in out.read_bytes()


def test_a_file_that_is_overwritten_takes_its_pictures_with_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "o.jsonl"
    assert cli(capsys, "--images", "--out", str(out))[0] == 0
    os.remove(out)
    code, _, err = cli(capsys, "--images", "--out", str(out))
    assert (code, "--force" in err) == (2, True)
    code, text, _ = cli(capsys, "--images", "--out", str(out), "--force", "--limit", "1", "--json")
    assert (code, json.loads(text)["pictures"], len(list(Pictures(beside(out)).all()))) == (0, 2, 2)
    assert cli(capsys, "--out", str(out), "--force")[0] == 0
    assert not beside(out).exists()


def test_without_a_file_there_is_no_place_for_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = cli(capsys, "--images")
    assert (code, "--images needs --out" in err) == (2, True)


def test_an_env_that_draws_nothing_says_so_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    code, text, err = cli(capsys, "--images", "--env-option", "draws=false", "--out", str(out))
    assert (code, err.count("--images keeps none of it"), "pictures" in text) == (0, 1, False)
    assert not beside(out).exists()


def exported(capsys: pytest.CaptureFixture[str], source: Path, out: Path, *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(("data", "export", str(source), "--out", str(out), *words))
    said, err = capsys.readouterr()
    assert ended.value.code == 0, err
    return said


def test_records_that_are_exported_take_their_pictures_along(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, out = tmp_path / "o.jsonl", tmp_path / "best.jsonl"
    assert cli(capsys, "--images", "--limit", "2", "--out", str(source))[0] == 0
    first = source.read_text().splitlines(keepends=True)[0]
    assert f"3 pictures in {out}.images" in exported(capsys, source, out, "--format", "jsonl")
    assert [p.name for p in Pictures(beside(out)).all()] == [p.name for p in Pictures(beside(source)).all()]
    source.write_text(first)
    assert f"2 pictures in {out}.images" in exported(capsys, source, out, "--format", "jsonl", "--force")
    assert {p.stem for p in Pictures(beside(out)).all()} == set(pictures_of(Trajectory.from_json(first)))
    Pictures(beside(source)).path(SHA).unlink()
    said = exported(capsys, source, tmp_path / "third.jsonl", "--format", "jsonl")
    assert ("1 pictures in" in said, "without 1 pictures" in said) == (True, True)
    assert "without 2 pictures" in exported(
        capsys, source, tmp_path / "chats.jsonl", "--format", "openai", "--as", "react"
    )


def test_a_card_says_whether_an_env_draws(capsys: pytest.CaptureFixture[str]) -> None:
    for env, draws in (("easel", True), ("wordle", False)):
        with pytest.raises(SystemExit):
            main(("envs", env))
        assert ("\n  pictures: " in capsys.readouterr().out) is draws
