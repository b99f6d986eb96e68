"""`agentenv data export`: what the forms hold, what is left out, and what comes back."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentenv.agents.prompts import opening_of
from agentenv.agents.scripted import noop, oracle
from agentenv.cli.main import main
from agentenv.data.agentgym.files import read_folder
from agentenv.data.agentgym.places import Place, Status
from agentenv.data.agentgym.records import trajectory_of
from agentenv.data.export.atif import SCHEMA, atif
from agentenv.data.export.chats import openai, sharegpt
from agentenv.data.export.conversation import messages_of, text_of
from agentenv.data.export.exporting import Choice, export_to
from agentenv.errors import BadCall
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.registry import get_spec
from agentenv.rollout import rollout
from agentenv.trained_on import trained_on
from agentenv.trajectory import read_jsonl, write_jsonl

OPTIONS = {"size": 4}


@pytest.fixture(scope="module")
def played():
    """Two mazes solved, and one in which nothing was done."""

    async def play():
        async with EnvPool("maze", options=OPTIONS, max_steps=20) as pool:
            tasks = await pool.task_refs("train", 3)
            return [*await rollout(pool, tasks[:2], oracle()), *await rollout(pool, tasks[2:], noop())]

    return asyncio.run(play())


@pytest.fixture
def source(played, tmp_path):
    path = tmp_path / "episodes.jsonl"
    with path.open("w") as file:
        write_jsonl(played, file)
    return path


@pytest.fixture
def cli(capsys):
    """Call the command line in this process: exit code, stdout, stderr."""

    def call(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit:
            main(["data", "export", *map(str, words)])
        out, err = capsys.readouterr()
        return int(exit.value.code or 0), out, err

    return call


def spoken(record):
    """The record as a model would have made it: system, opening, replies; the second one not to be learned."""
    turns = []
    for number, turn in enumerate(record.turns):
        opening = [{"role": "system", "content": "You walk."}] if number == 0 else []
        said = {"role": "assistant", "content": f"Action:\n{turn.action}", **({"weight": 0} if number == 1 else {})}
        messages = [*opening, {"role": "user", "content": f"<{turn.observation}>"}, said]
        notes = {"prompt_tokens": 10 + number, "completion_tokens": 2, "cost": 0.5}
        turns.append(replace(turn, messages=messages, info={"agent": notes}))
    return replace(record, turns=turns, agent={"name": "react", "version": "3", "model": "some", "temperature": 0.7})


def called(record):
    """A turn of native calls: the reply has no text, and the observation is the answer to its call."""
    call = {"id": "c1", "type": "function", "function": {"name": "move", "arguments": '{"direction": "up"}'}}
    first, second = record.turns[:2]
    said = {"role": "assistant", "content": None, "reasoning_content": "Up.", "tool_calls": [call]}
    turns = [
        replace(first, messages=[{"role": "user", "content": "a"}, said]),
        replace(
            second,
            messages=[
                {"role": "tool", "tool_call_id": "c1", "content": "b"},
                {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "image_url"}]},
            ],
        ),
    ]
    return replace(record, turns=turns, steps=2)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# Chats


def test_messages_are_those_of_the_episode_and_end_with_its_last_reply(played):
    record = spoken(played[0])
    [*_, last] = messages = openai(record)["messages"]
    assert [m["role"] for m in messages[:3]] == ["system", "user", "assistant"]
    assert sum(m["role"] == "assistant" for m in messages) == record.steps
    assert last == record.turns[-1].messages[-1]
    assert [m.get("weight") for m in messages if m["role"] == "assistant"][:3] == [None, 0, None]
    assert set(openai(record)) == {"messages"}, "what fine-tuning does not know is refused there"


def test_a_script_says_its_action_or_what_a_model_would(played):
    [first, *_] = played[0].turns
    plain = messages_of(played[0])
    assert plain[:2] == [
        {"role": "user", "content": first.observation},
        {"role": "assistant", "content": first.action},
    ]
    taught = messages_of(played[0], "react")
    opening, mouth = opening_of(get_spec("maze"), "react").prompt.messages
    assert taught[:2] == [opening, {**mouth, "weight": 0}]
    assert taught[3]["content"] == f"Action:\n{first.action}"
    assert len(taught) == len(plain) + 2
    assert messages_of(spoken(played[0]), "react") == messages_of(spoken(played[0])), "a model's words stay"


def test_calls_and_their_answers_keep_their_places(played):
    chat = openai(called(played[0]))["messages"]
    assert chat[1]["tool_calls"][0]["function"]["name"] == "move"
    assert chat[2] == {"role": "tool", "tool_call_id": "c1", "content": "b"}
    said = sharegpt(called(played[0]))["conversations"]
    assert [m["from"] for m in said] == ["human", "function_call", "observation", "gpt"]
    assert json.loads(said[1]["value"]) == [{"name": "move", "arguments": {"direction": "up"}}]
    assert said[3]["value"] == "x\n[image_url]"


def test_a_conversation_of_sharegpt_comes_back_as_the_same_turns(played, tmp_path):
    record = spoken(played[0])
    (tmp_path / "a.json").write_text(json.dumps([sharegpt(record)]))
    [row] = read_folder(tmp_path)
    back = trajectory_of(row, Place(kind=None, status=Status.NOT_PORTABLE))
    assert [turn.messages for turn in back.turns] == [turn.messages for turn in record.turns]
    assert [turn.action for turn in back.turns] == [turn.action for turn in record.turns]
    assert (back.reward, back.success) == (record.reward, record.success)


# ATIF


def told_by(document):
    """Replies, and what was heard after each, as the document tells them."""
    agent = [step for step in document["steps"] if step["source"] == "agent" and "observation" in step]
    return [(step["message"], [r["content"] for r in step["observation"]["results"]]) for step in agent]


def test_a_document_of_atif_tells_the_whole_episode(played):
    record = spoken(played[0])
    document = atif(record, 7)
    assert document["schema_version"] == SCHEMA == "ATIF-v1.7"
    assert document["trajectory_id"] == f"{record.task.id}:7"
    assert document["agent"] == {
        "name": "react", "version": "3", "model_name": "some", "extra": {"temperature": 0.7},
    }  # fmt: skip
    assert [step["source"] for step in document["steps"][:3]] == ["system", "user", "agent"]
    assert told_by(document) == [
        (turn.messages[-1]["content"], [f"<{after.observation}>"])
        for turn, after in zip(record.turns, record.turns[1:], strict=False)
    ] + [(record.turns[-1].messages[-1]["content"], [record.final_observation])]
    acted = [step for step in document["steps"] if "extra" in step]
    assert [step["extra"]["action"] for step in acted] == [turn.action for turn in record.turns]
    assert [step["extra"]["reward"] for step in acted] == [turn.reward for turn in record.turns]
    assert document["extra"]["task"]["digest"] == record.task.digest
    assert document["final_metrics"]["extra"]["success"] is True


def test_every_document_keeps_the_rules_of_the_format(played):
    for record in (
        played[0],
        played[2],
        spoken(played[0]),
        called(played[0]),
        replace(played[0], final_observation=""),
    ):
        steps = atif(record, 0, "react")["steps"]
        assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
        for step in steps:
            assert isinstance(step["message"], str)
            if step["source"] != "agent":
                assert set(step) <= {"step_id", "source", "message"}
            if step.get("llm_call_count") == 0:
                assert not {"metrics", "reasoning_content"} & set(step)
            ids = {call["tool_call_id"] for call in step.get("tool_calls", ())}
            for result in step.get("observation", {"results": ()})["results"]:
                assert result.get("source_call_id") in {None, *ids}


def test_metrics_are_those_that_were_noted(played):
    record = spoken(played[0])
    document = atif(record, 0)
    metrics = [step["metrics"] for step in document["steps"] if "metrics" in step]
    assert metrics[0] == {"prompt_tokens": 10, "completion_tokens": 2, "extra": {"cost": 0.5}}
    assert len(metrics) == record.steps
    assert not any("metrics" in step for step in atif(played[0], 0)["steps"]), "a script asks no model"
    assert document["final_metrics"]["total_completion_tokens"] == 2 * record.steps
    assert "total_cached_tokens" not in document["final_metrics"]


def test_token_ids_of_the_prompt_are_the_whole_prompt(played):
    record = spoken(replace(played[0], turns=played[0].turns[:3]))
    parts = [([1, 2], [3], True), ([4], [5, 6], False), ([7, 8], [9], True)]
    turns = [
        replace(turn, prompt_ids=prompt, token_ids=said, logprobs=[-0.5] * len(said), fresh=fresh)
        for turn, (prompt, said, fresh) in zip(record.turns, parts, strict=True)
    ]
    found = [step["metrics"] for step in atif(replace(record, turns=turns), 0)["steps"] if "metrics" in step]
    assert [m["prompt_token_ids"] for m in found] == [[1, 2], [1, 2, 3, 4], [7, 8]]
    assert [m["completion_token_ids"] for m in found] == [[3], [5, 6], [9]]
    assert found[1]["logprobs"] == [-0.5, -0.5]
    assert [m["prompt_tokens"] for m in found] == [2, 4, 2]


def test_a_call_and_its_answer_stand_in_one_step(played):
    first, *_ = [step for step in atif(called(played[0]), 0)["steps"] if step["source"] == "agent"]
    assert first["tool_calls"] == [
        {"tool_call_id": "c1", "function_name": "move", "arguments": {"direction": "up"}},
    ]
    assert first["observation"]["results"] == [{"source_call_id": "c1", "content": "b"}]
    assert first["reasoning_content"] == "Up."
    assert first["message"] == text_of({"content": None}) == ""


# Files


def test_our_own_form_comes_back_equal(cli, source, played, tmp_path):
    out = tmp_path / "out.jsonl"
    code, said, _ = cli(source, "--format", "jsonl", "--out", out)
    assert (code, said.splitlines()[0]) == (0, f"3 episodes of 3 tasks in {out}")
    assert list(read_jsonl(out)) == list(read_jsonl(source))
    assert trained_on(out) == {record.task.digest for record in played}


@pytest.mark.parametrize("form", ["openai", "sharegpt", "parquet", "atif"])
def test_every_other_form_has_the_digests_of_its_tasks_beside_it(cli, source, played, tmp_path, form):
    out = tmp_path / "out.jsonl"
    code, said, _ = cli(source, "--format", form, "--success", "--out", out, "--json")
    told = json.loads(said)
    assert (code, told["episodes"], told["tasks"], told["left_out"]) == (0, 2, 2, {"without success": 1})
    assert trained_on(Path(told["trained_on"])) == {record.task.digest for record in played[:2]}


def test_a_folder_of_atif_has_a_file_an_episode(cli, source, played, tmp_path):
    code, _, _ = cli(source, "--format", "atif", "--out", tmp_path / "out")
    assert code == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["000000.json", "000001.json", "000002.json", "trained_on.json"]
    assert json.loads((tmp_path / "out" / "000001.json").read_text()) == atif(next_of(source, 1), 1)
    assert trained_on(tmp_path / "out") == {record.task.digest for record in played}


def next_of(source, number):
    return list(read_jsonl(source))[number]


def test_parquet_has_columns_to_filter_by_and_the_record_comes_back_equal(source, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    from agentenv.trajectory import Trajectory

    records = list(read_jsonl(source))
    records[1] = replace(spoken(records[1]), score=0.5)  # the first has no score, and the column is one of numbers
    export_to(str(tmp_path / "out.parquet"), "parquet", records, Choice())
    table = pq.read_table(tmp_path / "out.parquet")
    assert [Trajectory.from_json(line) for line in table["record"].to_pylist()] == records
    assert table["score"].to_pylist() == [None, 0.5, None]
    assert table["success"].to_pylist() == [True, True, False]
    assert [m["weight"] for m in table["messages"].to_pylist()[1]][:5] == [1, 1, 1, 1, 0]


def test_what_is_left_out_is_counted_by_reason(played, tmp_path):
    records = [
        played[0],
        replace(played[0], turns=[]),
        replace(played[0], outcome=Outcome.ENV_ERROR),
        replace(played[0], env="other"),
        replace(played[0], success=False),
        replace(played[0], reward=0.5),
    ]
    choice = Choice(success=True, min_reward=0.9, envs=["maze"])
    done = export_to(str(tmp_path / "out.jsonl"), "jsonl", records, choice)
    assert list(read_jsonl(tmp_path / "out.jsonl")) == [played[0]]
    assert done.left_out == {
        "without a turn": 1, "ended as env_error": 1, "of another environment": 1, "without success": 1,
        "under the reward": 1,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["jsonl", "openai", "parquet", "atif"])
def test_with_nothing_left_nothing_is_written(played, tmp_path, form):
    with pytest.raises(BadCall, match="no episode is left to export: 1 without success"):
        export_to(str(tmp_path / "out"), form, played[2:], Choice(success=True))
    assert list(tmp_path.iterdir()) == []


def test_wrong_calls_name_what_is_wrong(cli, source, tmp_path):
    assert "one of jsonl, sharegpt, openai, atif, parquet" in cli(source, "--format", "csv", "--out", "x")[2]
    assert "no such file" in cli(tmp_path / "none", "--format", "jsonl", "--out", "x")[2]
    (tmp_path / "there").touch()
    code, _, err = cli(source, "--format", "jsonl", "--out", tmp_path / "there")
    assert (code, "--force" in err) == (2, True)
    source.write_text(source.read_text() + "{}\n")
    code, _, err = cli(source, "--format", "openai", "--out", tmp_path / "new")
    assert (code, "episodes.jsonl:4: not a trajectory" in err) == (2, True)
    assert not (tmp_path / "new").exists()
