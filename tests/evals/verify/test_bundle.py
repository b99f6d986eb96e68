"""Bundles: what goes in comes out, and nothing else gets through."""

import asyncio
import json
import os
import zipfile
from dataclasses import replace

import pytest

from agentenv.errors import BadCall
from evals.verify import bundle
from evals.verify.bundle import PARTS, BadBundle, read_bundle, write_bundle
from evals.verify.chain import canonical, chain_root
from evals.verify.signing import new_key
from evals.verify.verify import verify


@pytest.fixture
def path(record, tmp_path):
    write_bundle(record, tmp_path / "run.zip")
    return tmp_path / "run.zip"


def rewritten(path, change):
    """The bundle with `change(parts)` applied to its entries, hashes left as they are."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    other = path.with_name("other.zip")
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return other


def test_a_run_comes_out_of_its_bundle_as_it_went_in_and_verifies_there(record, path):
    found, signer = read_bundle(path)
    assert found == record
    assert signer == ""
    verdict = asyncio.run(verify(found, by="other"))
    assert verdict.ok
    assert verdict.by == "other"


def test_equal_runs_give_equal_files(record, path, tmp_path):
    write_bundle(record, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.zip", "run.zip"]


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_was_changed_is_named(path, name):
    other = rewritten(path, lambda parts: parts.update({name: parts[name].replace(b"1", b"2", 1)}))
    with pytest.raises(BadBundle, match=f"{name} was changed"):
        read_bundle(other)


def test_episodes_that_do_not_make_the_chain_are_found_even_when_the_hashes_were_made_anew(path):
    def change(parts):
        import hashlib

        parts["attempts.jsonl"] = parts["attempts.jsonl"].replace(b'"heads"', b'"tails"', 1)
        manifest = json.loads(parts["manifest.json"])
        manifest["sha256"]["attempts.jsonl"] = hashlib.sha256(parts["attempts.jsonl"]).hexdigest()
        parts["manifest.json"] = canonical(manifest)

    with pytest.raises(BadBundle, match="chain's root"):
        read_bundle(rewritten(path, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.update({"../../evil": b"x"}),
        lambda parts: parts.pop("plan.jsonl"),
        lambda parts: parts.update({"manifest.json": b"[]"}),
        lambda parts: parts.update({"manifest.json": parts["manifest.json"].replace(b'"format":1', b'"format":9')}),
    ],
)
def test_what_is_no_bundle_is_refused(path, change):
    with pytest.raises(BadBundle):
        read_bundle(rewritten(path, change))


def test_a_file_that_is_no_zip_and_one_that_is_not_there_are_refused(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK no")
    for name in ("x.zip", "y.zip"):
        with pytest.raises(BadBundle, match="not a bundle"):
            read_bundle(tmp_path / name)


def test_sizes_are_bounded(path, monkeypatch):
    bomb = rewritten(path, lambda parts: parts.update({"suite.jsonl": b"0" * 10**7 + b"\n"}))
    with pytest.raises(BadBundle, match="times its size"):
        read_bundle(bomb)
    monkeypatch.setattr(bundle, "MOST_BYTES", 100)
    with pytest.raises(BadBundle, match="more than 100 bytes"):
        read_bundle(path)


def test_a_line_without_end_is_not_read_whole(path, monkeypatch):
    monkeypatch.setattr(bundle, "MOST_LINE", 64)
    with pytest.raises(BadBundle, match="a line of over 64 bytes"):
        read_bundle(path)


def test_a_signature_names_its_key_and_holds_for_its_manifest_alone(record, tmp_path):
    public = new_key(tmp_path / "key.pem")
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    write_bundle(record, tmp_path / "signed.zip", key=tmp_path / "key.pem")
    assert read_bundle(tmp_path / "signed.zip")[1] == public
    write_bundle(replace(record, agent="other"), tmp_path / "run2.zip", key=tmp_path / "key.pem")
    with zipfile.ZipFile(tmp_path / "run2.zip") as archive:
        stolen = archive.read("signature.json")
    with pytest.raises(BadBundle, match="not of this manifest"):
        read_bundle(rewritten(tmp_path / "signed.zip", lambda parts: parts.update({"signature.json": stolen})))


def test_a_key_that_others_can_read_and_one_that_is_none_are_refused(record, tmp_path):
    new_key(tmp_path / "key.pem")
    with pytest.raises(BadCall, match="never written over"):
        new_key(tmp_path / "key.pem")
    os.chmod(tmp_path / "key.pem", 0o644)
    with pytest.raises(BadCall, match="chmod 600"):
        write_bundle(record, tmp_path / "a.zip", key=tmp_path / "key.pem")
    (tmp_path / "no.pem").write_text("no")
    os.chmod(tmp_path / "no.pem", 0o600)
    with pytest.raises(BadCall, match="not a private key"):
        write_bundle(record, tmp_path / "a.zip", key=tmp_path / "no.pem")
    assert not (tmp_path / "a.zip").exists()


def test_the_chain_changes_with_any_turn_and_with_their_order(record):
    root = chain_root(record.tries)
    assert chain_root(record.tries[::-1]) != root
    one = record.tries[5]
    info = [replace(turn, info={"agent": {"x": 1}}) for turn in one.trajectory.turns]
    changed = [*record.tries[:5], replace(one, trajectory=replace(one.trajectory, turns=info)), *record.tries[6:]]
    assert chain_root(changed) != root


def test_canonical_json_is_that_of_the_standard():
    assert canonical({"b": 1.0, "a": [1e21, "\u20ac", -0.0]}) == '{"a":[1e+21,"€",0],"b":1}'.encode()
    with pytest.raises(BadCall, match="cannot"):
        canonical({"n": 2**60})
