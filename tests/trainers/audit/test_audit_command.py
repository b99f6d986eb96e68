import json

import pytest
from token_records import played
from toy_tokenizers import CHATML, chat_tokenizer
from typer.testing import CliRunner

from agentenv.cli.main import app
from agentenv.errors import BadCall
from agentenv.render import Renderer
from agentenv.trajectory import write_jsonl


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer")
    chat_tokenizer(CHATML).save_pretrained(path)
    return path


@pytest.fixture
def file(tmp_path, folder):
    renderer = Renderer(chat_tokenizer(CHATML))
    said = [renderer.reply("left"), renderer.reply("up", ended=False)]
    path = tmp_path / "episodes.jsonl"
    with path.open("w") as out:
        write_jsonl([played(renderer, ["one", "two é"], said, index=n) for n in range(2)], out)
    return path


def run(*words):
    return CliRunner().invoke(app, ["audit-tokens", *map(str, words)])


def test_the_command_shows_tokens_turn_by_turn_and_ends_well(file, folder):
    done = run(file, "--tokenizer", folder)
    assert done.exit_code == 0, done.output
    assert "episode 0  toy/train/0  failure" in done.output
    assert "turn 1  prompt +" in done.output
    assert "two é" in done.output
    assert "left<|im_end|>" in done.output
    assert "0 errors" in done.output
    assert "episode 1" not in run(file, "--tokenizer", folder, "--show", "1").output


def test_the_renderer_is_the_one_that_the_records_name(file, folder):
    options = {"enable_thinking": False}
    described = {"history": "template", "date": "2026-02-03", "options": options, "template": "", "vocabulary": ""}
    lines = [json.loads(line) | {"agent": {"renderer": described}} for line in file.read_text().splitlines()]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    renderer = json.loads(run(file, "--tokenizer", folder, "--json").output)["renderer"]
    assert (renderer["history"], renderer["date"], renderer["options"]) == ("template", "2026-02-03", options)
    words = ("--history", "append", "--date", "2024-01-01")
    renderer = json.loads(run(file, "--tokenizer", folder, "--json", *words).output)["renderer"]
    assert (renderer["history"], renderer["date"]) == ("append", "2024-01-01")


def test_json_has_stable_keys(file, folder):
    done = run(file, "--tokenizer", folder, "--json")
    told = json.loads(done.output)
    assert sorted(told) == ["counts", "file", "findings", "ok", "renderer"]
    assert told["ok"] is True
    assert (told["counts"]["episodes"], told["counts"]["cut_turns"], told["findings"]) == (2, 2, [])


def test_an_error_in_the_file_is_exit_code_one(file, folder):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[1]["turns"][0]["token_ids"][0] += 1
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    done = run(file, "--tokenizer", folder, "--json")
    assert done.exit_code == 1
    told = json.loads(done.output)
    assert {f["rule"] for f in told["findings"]} == {"prefix"}
    assert told["findings"][0]["where"] == "episode 1 (toy/train/1), turn 1"
    assert "1 errors" in run(file, "--tokenizer", folder).output


def test_a_file_that_is_absent_or_empty_is_a_wrong_call(tmp_path, file, folder):
    missing = run(tmp_path / "no.jsonl", "--tokenizer", folder)
    assert isinstance(missing.exception, BadCall)
    (tmp_path / "empty.jsonl").touch()
    assert "holds no episode" in str(run(tmp_path / "empty.jsonl", "--tokenizer", folder).exception)
    assert "no folder" in str(run(file, "--tokenizer", tmp_path / "no").exception)


def test_ids_that_the_tokenizer_does_not_have_are_shown_and_reported(file, folder):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[0]["turns"][1]["token_ids"][0] = 9_999
    file.write_text(json.dumps(lines[0]) + "\n")
    done = run(file, "--tokenizer", folder)
    assert done.exit_code == 1
    assert "<id 9999>" in done.output
    assert "vocabulary" in done.output
