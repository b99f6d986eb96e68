"""Bundles of runs with pictures: they travel along, each is what an episode names, and nothing else gets in."""

import asyncio
import json
import re
import zipfile

import easel_env
import pytest
from easel_env import png
from sqlalchemy.engine import URL

from agentenv import registry
from agentenv.cli.main import main
from agentenv.errors import BadCall
from agentenv.pictures import Pictures
from evals.harness import Player, play_runs, start
from evals.store.pictures import pictures_in
from evals.store.store import Store
from evals.suite import parse
from evals.verify import bundle
from evals.verify.bundle import BadBundle, picture_names, read_bundle, write_bundle
from evals.verify.record import from_store
from evals.verify.verify import verify


@pytest.fixture(autouse=True)
def easel(monkeypatch):
    whole = registry.all_specs()
    monkeypatch.setattr(registry, "all_specs", lambda: {**whole, "easel": easel_env.SPEC})


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """A record with five pictures, and where they are; also the database of the commands."""
    url = URL.create("sqlite", database=str(tmp_path / "runs.db"))
    monkeypatch.setenv("AGENTENV_DB", url.render_as_string())
    with Store.open(url) as store:
        suite = parse({"name": "easels", "envs": [{"env": "easel"}]}, where="x")
        [run] = start(store, suite, [Player(name="oracle")], images=True)
        asyncio.run(play_runs(store, [run]))
        return from_store(store, run), pictures_in(store).pictures


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def test_pictures_travel_along_and_the_run_verifies_there(drawn, tmp_path):
    record, pictures = drawn
    root = write_bundle(record, tmp_path / "run.zip", pictures=pictures)
    found, _ = read_bundle(tmp_path / "run.zip")
    assert found == record
    assert asyncio.run(verify(found, by="other")).ok
    parts = entries(tmp_path / "run.zip")
    assert {name for name in parts if "/" in name} == {f"pictures/{sha}.png" for sha in picture_names(record)}
    assert len(picture_names(record)) == 5
    assert png(0) in parts.values()
    assert json.loads(parts["manifest.json"])["format"] == 2
    assert write_bundle(record, tmp_path / "plain.zip") == root  # the chain is over the names
    assert json.loads(entries(tmp_path / "plain.zip")["manifest.json"])["format"] == 1
    assert read_bundle(tmp_path / "plain.zip")[0] == record


def test_equal_runs_give_equal_files(drawn, tmp_path):
    record, pictures = drawn
    for name in ("a.zip", "b.zip"):
        write_bundle(record, tmp_path / name, pictures=pictures)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


OTHER = "0" * 64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts, sha: parts.update({f"pictures/{sha}.png": png(77)}), "was changed"),
        (lambda parts, sha: parts.update({f"pictures/{OTHER}.png": png(0)}), "no episode names"),
        (lambda parts, sha: parts.update({"pictures/../evil.png": png(0)}), "a bundle holds"),
        (lambda parts, sha: parts.update({f"pictures/{sha}.svg": b"<svg/>"}), "a bundle holds"),
        (lambda parts, sha: parts.update({f"pictures/{sha}.png": bytes(5000)}), "more than 4000 bytes"),
    ],
)
def test_only_the_pictures_that_episodes_name_are_taken(drawn, tmp_path, monkeypatch, change, message):
    record, pictures = drawn
    write_bundle(record, tmp_path / "run.zip", pictures=pictures)
    parts = entries(tmp_path / "run.zip")
    change(parts, picture_names(record)[0])
    monkeypatch.setattr(bundle, "MOST_PICTURE", 4000)
    with pytest.raises(BadBundle, match=re.escape(message)):
        read_bundle(written(tmp_path / "other.zip", parts))


def test_a_picture_that_was_changed_on_the_disk_is_not_packed(drawn, tmp_path):
    record, pictures = drawn
    file = pictures.path(picture_names(record)[0])
    file.write_bytes(png(77))
    with pytest.raises(BadCall, match="its hash is not its name"):
        write_bundle(record, tmp_path / "run.zip", pictures=pictures)
    assert not (tmp_path / "run.zip").exists()


def call(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    out, err = capsys.readouterr()
    assert ended.value.code == 0, err
    return out


def test_the_command_says_which_pictures_are_in_the_file(capsys, drawn, tmp_path):
    record, pictures = drawn
    file = str(tmp_path / "run.zip")
    assert "4 episodes, 5 pictures. Publish" in call(capsys, "eval", "bundle", "easels", file)
    assert "0 pictures (without 5 that episodes name)" in call(capsys, "eval", "bundle", "easels", file, "--no-images")
    pictures.path(picture_names(record)[0]).unlink()
    assert "4 pictures (without 1 that episodes name)" in call(capsys, "eval", "bundle", "easels", file)
    assert "0 pictures (without 5" in call(capsys, "eval", "bundle", file, str(tmp_path / "again.zip"))


def test_the_pictures_of_a_bundle_can_be_taken_out_as_they_are(drawn, tmp_path):
    record, pictures = drawn
    write_bundle(record, tmp_path / "run.zip", pictures=pictures)
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        archive.extractall(tmp_path / "out")
    other = Pictures(tmp_path / "p")
    assert {other.keep(file.read_bytes()) for file in (tmp_path / "out" / "pictures").iterdir()} == set(
        picture_names(record)
    )
