"""The warm start: what is imitated, what is reported, when it ends, and what comes after it."""

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentenv.agents.scripted import oracle
from agentenv.cli.main import main
from agentenv.errors import BadCall
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.registry import get_spec
from agentenv.render import load_renderer
from agentenv.rollout import rollout
from agentenv.trained_on import trained_on
from agentenv.trajectory import Trajectory, write_jsonl
from trainers.audit import audit_record
from trainers.config import EnvironmentSettings, TrainConfig
from trainers.episodes import episode_of
from trainers.settings import BadSetting
from trainers.sft.config import DemonstrationSettings, SftConfig
from trainers.sft.demonstrations import chosen, demonstrate, read, with_tokens
from trainers.sft.loop import NeverReached, WentTooFar, demonstration_batch, sft

OPTIONS = {"size": 4, "observation": "relative"}


def data_of(**settings) -> DemonstrationSettings:
    return DemonstrationSettings(**{"env": "maze", "options": OPTIONS, "format": "plain", "tasks": 6, **settings})


def config_of(model: Path, folder: Path, *, steps: int = 2, lr: float = 1e-3, **data) -> SftConfig:
    config = SftConfig(data=data_of(max_tokens=1024, **data), episodes_per_step=4)
    config.model.path, config.run.dir = str(model), str(folder)
    config.run.steps, config.run.threads, config.run.trackers, config.run.plots = steps, 1, ["jsonl"], False
    config.optim.lr = lr
    return config


def rows_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def demonstrated(model: Path, **settings) -> list[Trajectory]:
    return asyncio.run(demonstrate(get_spec("maze"), data_of(**settings), load_renderer(model)))


def oracle_records(count: int = 4) -> list[Trajectory]:
    async def play() -> list[Trajectory]:
        async with EnvPool("maze", options=OPTIONS) as pool:
            return await rollout(pool, await pool.task_refs("train", count), oracle())

    return asyncio.run(play())


def actions(records: list[Trajectory]) -> list[list[str]]:
    return [[turn.action for turn in record.turns] for record in records]


def test_the_scripted_solution_is_played_and_rendered(model):
    renderer = load_renderer(model)
    records = demonstrated(model)
    assert [r.success for r in records] == [True] * 6
    for record in records:
        for turn in record.turns:
            assert renderer.decode(turn.token_ids) == turn.action
            assert turn.token_ids[-1] in renderer.stop_ids, "the end of a turn is learned, too"
    assert [r.turns[0].fresh for r in records] == [True] * 6


@pytest.mark.parametrize("format", ["function_calling", "code_as_action"])
def test_a_solution_is_written_as_calls_of_functions(model, format):
    renderer = load_renderer(model)
    records = demonstrated(model, format=format, tasks=2)
    assert [r.success for r in records] == [True] * 2
    turn = records[0].turns[0]
    side = turn.action.removeprefix("move ")
    call = {
        "function_calling": f'{{"name": "move", "arguments": {{"direction": "{side}"}}}}',
        "code_as_action": f"```python\nmove(direction='{side}')\n```",
    }
    assert renderer.decode(turn.token_ids) == call[format]


def test_noise_is_the_share_of_random_actions_and_the_same_again(model):
    clean, some, again = (demonstrated(model, noise=noise, tasks=24) for noise in (0.0, 0.2, 0.2))
    assert actions(some) == actions(again)
    assert sum(len(r.turns) for r in some) > sum(len(r.turns) for r in clean)
    assert all(r.success for r in clean)
    wild = demonstrated(model, noise=1.0, tasks=6, max_steps=5)
    assert {len(r.turns) for r in wild} | {5} == {len(r.turns) for r in wild}
    assert not all(r.success for r in wild)


def test_records_without_tokens_become_the_same_demonstrations(model, tmp_path):
    file = tmp_path / "oracle.jsonl"
    with file.open("w") as out:
        write_jsonl(oracle_records(), out)
    found = read(data_of(files=[str(file)]), load_renderer(model))
    played = demonstrated(model, tasks=4)
    assert actions(found) == actions(played)
    assert [[(t.prompt_ids, t.token_ids, t.fresh) for t in r.turns] for r in found] == [
        [(t.prompt_ids, t.token_ids, t.fresh) for t in r.turns] for r in played
    ]


def test_tokens_of_the_same_vocabulary_stay_and_those_of_another_are_made_anew(model):
    renderer = load_renderer(model)
    [record, *_] = demonstrated(model, tasks=1)
    own = replace(record, agent={**record.agent, "renderer": renderer.describe()})
    assert with_tokens(own, data_of(), renderer) is own
    strange = [replace(turn, token_ids=[1, 1, 1], logprobs=[0.0] * 3) for turn in record.turns]
    foreign = replace(record, turns=strange, agent={"renderer": {"vocabulary": "another"}})
    assert [t.token_ids for t in with_tokens(foreign, data_of(), renderer).turns] == [t.token_ids for t in record.turns]


def test_a_record_with_messages_keeps_them(model):
    renderer = load_renderer(model)
    [record] = oracle_records(1)
    spoken = [
        replace(
            turn,
            messages=[{"role": "user", "content": f"<{turn.observation}>"}, {"role": "assistant", "content": "go"}],
        )
        for turn in record.turns
    ]
    found = with_tokens(replace(record, turns=spoken), data_of(), renderer)
    assert [renderer.decode(turn.token_ids) for turn in found.turns] == ["go"] * len(spoken)
    assert f"<{record.turns[0].observation}>" in renderer.decode(found.turns[0].prompt_ids)


def spoken(record: Trajectory, unlearned: set[int]) -> Trajectory:
    """The record with messages; replies of the turns in `unlearned` have weight 0."""
    turns = []
    for number, turn in enumerate(record.turns):
        said = {"role": "assistant", "content": f"{turn.action} {number}"}
        if number in unlearned:
            said["weight"] = 0
        turns.append(replace(turn, messages=[{"role": "user", "content": turn.observation}, said]))
    return replace(record, turns=turns)


@pytest.mark.parametrize("unlearned", [{0}, {1}, {0, 1}, {1, 2}])
def test_a_reply_of_weight_0_is_seen_and_not_trained(model, unlearned):
    renderer = load_renderer(model)
    record = max(oracle_records(6), key=lambda r: len(r.turns))
    assert len(record.turns) > 3
    whole = episode_of(with_tokens(spoken(record, set()), data_of(), renderer))
    some = with_tokens(spoken(record, unlearned), data_of(), renderer)
    episode = episode_of(some)
    [all_of_it], [part] = whole.segments, episode.segments
    assert part.tokens.tolist() == all_of_it.tokens.tolist(), "the model sees the same conversation"
    left_out = np.isin(all_of_it.turn, list(unlearned))
    assert left_out.sum() > 0
    assert part.mask.tolist() == (all_of_it.mask & ~left_out).tolist()
    audit_record(some, renderer, where="record").raise_on_error("the record")


def test_an_opening_of_weight_0_is_rendered_like_any_other(model):
    renderer = load_renderer(model)
    [record] = oracle_records(1)
    opening = [{"role": "user", "content": "Rules"}, {"role": "assistant", "content": "Ok."}]
    flagged = [opening[0], {**opening[1], "weight": 0}]

    def opened(messages) -> Trajectory:
        first, *others = spoken(record, set()).turns
        turns = [replace(first, messages=[*messages, *first.messages]), *others]
        return with_tokens(replace(record, turns=turns), data_of(), renderer)

    assert opened(flagged) == opened(opening)
    assert "Ok." not in [renderer.decode(turn.token_ids) for turn in opened(flagged).turns]


def test_conversations_of_agentgym_are_imitated_but_for_what_their_flags_leave_out(model, tmp_path):
    said = {"from": "human", "value": "a"}, {"from": "gpt", "value": "Action:\nmove left", "loss": False}
    more = {"from": "human", "value": "b"}, {"from": "gpt", "value": "Action:\nmove down", "loss": True}
    row = {
        "item_id": "lmrlgym_maze_18",
        "conversations": [{"from": "human", "value": "Rules"}, *said[1:], *said, *more],
    }
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "maze_train.json").write_text(json.dumps([row, {**row, "item_id": "webshop_6"}]))
    with pytest.raises(SystemExit) as ended:
        main(["data", "import", "agentgym", str(tmp_path / "in"), "--out", str(tmp_path / "out")])
    assert not ended.value.code
    renderer = load_renderer(model)
    found = read(data_of(files=[str(tmp_path / "out" / "trajectories.jsonl")]), renderer)
    kept, left = chosen(found, data_of())
    assert (len(kept), left) == (2, {})
    for record in kept:
        [turn] = record.turns
        assert renderer.decode(turn.token_ids) == "Action:\nmove down"
        assert renderer.decode(turn.prompt_ids).count("Action:\nmove left") == 2, "in the opening, and as a reply"


def test_what_follows_the_last_reply_to_learn_is_left_out_and_an_episode_without_one_is_none(model):
    renderer = load_renderer(model)
    [record] = oracle_records(1)
    last = len(record.turns) - 1
    assert len(with_tokens(spoken(record, {last}), data_of(), renderer).turns) == last
    nothing = with_tokens(spoken(record, set(range(last + 1))), data_of(), renderer)
    with pytest.raises(BadCall, match="no episode is left to imitate: 1 without a turn"):
        chosen([nothing], data_of())


def test_what_is_left_out_is_counted_by_reason(model):
    records = demonstrated(model, tasks=6)
    longest = max(sum(len(t.prompt_ids) + len(t.token_ids) for t in r.turns) for r in records)
    records[1] = replace(records[1], outcome=Outcome.ENV_ERROR)
    records[2] = replace(records[2], outcome=Outcome.AGENT_ERROR)
    records[3] = replace(records[3], success=False)
    records[4] = replace(records[4], reward=-5.0)
    records[5] = replace(records[5], turns=[])
    kept, left = chosen(records, data_of(successes_only=True, min_reward=-1.0, max_tokens=longest))
    assert kept == [records[0]]
    assert left == {
        "ended as env_error": 1, "ended as agent_error": 1, "without success": 1, "under data.min_reward": 1,
        "without a turn": 1,
    }  # fmt: skip
    with pytest.raises(BadCall, match=r"no episode is left to imitate: 1 over data\.max_tokens"):
        chosen(records[:1], data_of(max_tokens=3))
    with pytest.raises(BadCall, match="there were none"):
        chosen([], data_of())


def test_each_pass_has_every_demonstration_once_and_sampled_tokens_alone_are_trained(model, tmp_path):
    records = demonstrated(model, tasks=6)
    config = config_of(model, tmp_path)
    tasks = [e.task for step in range(1, 4) for e in demonstration_batch(records, config, step).episodes]
    names = sorted(r.task.id for r in records)
    assert sorted(tasks[:6]) == sorted(tasks[6:12]) == names
    assert tasks[:6] != tasks[6:12]
    [episode, *_] = demonstration_batch(records, config, 1).episodes
    [segment] = episode.segments
    assert np.array_equal(segment.advantages, segment.mask.astype(np.float32))
    record = next(r for r in records if r.task.id == episode.task)
    assert segment.sampled == sum(len(t.token_ids) for t in record.turns)


def test_the_loss_is_the_mean_negative_log_probability_of_demonstrated_tokens(model, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM

    config = config_of(model, tmp_path, steps=1, lr=0.0)
    sft(config)
    [row] = rows_of(tmp_path)
    plain = AutoModelForCausalLM.from_pretrained(model).eval()
    losses: list[float] = []
    for segment in demonstration_batch(chosen(demonstrated(model), config.data)[0], config, 1).segments:
        with torch.no_grad():
            logprobs = torch.log_softmax(plain(torch.from_numpy(segment.tokens)[None]).logits[0, :-1], -1)
        at = np.flatnonzero(segment.mask)
        losses += [-float(logprobs[i - 1, segment.tokens[i]]) for i in at]
    assert row["loss/nll"] == pytest.approx(np.mean(losses), abs=1e-4)
    assert "loss/policy" not in row


def test_imitating_lowers_the_loss_and_training_goes_on_from_its_folder(model, tmp_path):
    from trainers.loop import train

    config = config_of(model, tmp_path / "sft", steps=6, lr=2e-2)
    config.out = str(tmp_path / "warm")
    summary = sft(config)
    losses = [row["loss/nll"] for row in rows_of(tmp_path / "sft")]
    assert losses[-1] < 0.7 * losses[0]
    assert summary.step == 6
    run = TrainConfig(environments=[EnvironmentSettings(env="maze", options=OPTIONS, format="plain", max_steps=2)])
    run.model.path, run.run.dir = str(tmp_path / "warm"), str(tmp_path / "rl")
    run.run.steps, run.run.threads, run.run.trackers, run.run.plots = 1, 1, ["jsonl"], False
    run.batch.tasks_per_step, run.batch.group_size, run.evaluation.before = 2, 2, False
    run.rollout.max_prompt_tokens, run.rollout.max_episode_tokens, run.rollout.max_turn_tokens = 256, 512, 6
    assert train(run).reason == "complete"
    shown = {record.task.digest for record in chosen(demonstrated(model), config.data)[0]}
    assert trained_on(tmp_path / "warm") == shown
    [checkpoint] = (tmp_path / "rl" / "checkpoints").glob("step-*")
    assert trained_on(checkpoint) > shown  # two tasks drawn from the whole split, those of the warm start still there


def evaluated(model, tmp_path, *, steps=4, **evaluation) -> SftConfig:
    config = config_of(model, tmp_path, steps=steps)
    for name, value in {"every": 2, "tasks": 3, "max_turn_tokens": 2, "max_steps": 1, **evaluation}.items():
        setattr(config.evaluation, name, value)
    return config


def test_it_stops_as_soon_as_success_reaches_the_mark(model, tmp_path):
    summary = sft(evaluated(model, tmp_path, stop_at=0.0))
    assert (summary.step, summary.reason) == (2, "success 0.000 reached evaluation.stop_at=0")
    assert [row["step"] for row in rows_of(tmp_path) if "validation/success" in row] == [2]
    assert (tmp_path / "model" / "config.json").exists()


def test_a_schedule_spans_the_passes_over_the_demonstrations(model, tmp_path):
    config = config_of(model, tmp_path)
    config.run.steps, config.run.epochs, config.optim.schedule = None, 4, "linear"
    steps = 4 * len(chosen(demonstrated(model), config.data)[0]) // config.episodes_per_step
    assert sft(config).step == steps > 2
    rates = [row["optim/lr"] for row in rows_of(tmp_path)]
    assert rates == pytest.approx([1e-3 * (steps - step) / steps for step in range(steps)])


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_ranks_imitate_as_one_does(model, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM

    config = config_of(model, tmp_path / "one", steps=3)
    config.optim.weight_decay, config.run.seed = 0.1, 5
    sft(config)
    words = [
        f"model.path={model}", "data.env=maze", "data.options={size: 4, observation: relative}", "data.format=plain",
        "data.tasks=6", "data.max_tokens=1024", "episodes_per_step=4", "run.steps=3", "run.seed=5", "run.threads=1",
        "run.trackers=[jsonl]", "run.plots=false", "optim.lr=1e-3", "optim.weight_decay=0.1",
        f"run.dir={tmp_path / 'two'}", "launch.processes_per_node=2",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "agentenv.cli.main", "sft", *words],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("complete at step 3") == 1, "rank 0 alone speaks"
    for one, two in zip(rows_of(tmp_path / "one"), rows_of(tmp_path / "two"), strict=True):
        times = [name for name in one if name.startswith("time/")]
        assert {k: v for k, v in two.items() if k not in times} == pytest.approx(
            {k: v for k, v in one.items() if k not in times}, abs=1e-5
        )
    folders = (tmp_path / name / "model" for name in ("one", "two"))
    one, two = (AutoModelForCausalLM.from_pretrained(folder).state_dict() for folder in folders)
    assert one.keys() == two.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, atol=2e-5, rtol=0, msg=lambda m, n=name: f"{n}: {m}")
    begun = AutoModelForCausalLM.from_pretrained(model).state_dict()
    assert max((begun[name] - tensor).abs().max() for name, tensor in one.items()) > 1e-3, "they have learned"


def test_success_that_never_reaches_the_mark_is_an_error(model, tmp_path):
    with pytest.raises(NeverReached, match=r"4 steps, and success never reached evaluation\.stop_at=0\.9"):
        sft(evaluated(model, tmp_path, stop_at=0.9))
    assert not (tmp_path / "model").exists()


def test_success_far_past_the_mark_is_an_error():
    from trainers.sft.loop import _mark

    config = SftConfig()
    config.evaluation.stop_at, config.evaluation.too_far = 0.3, 0.5
    assert _mark(config, 0.29, 5) == "complete"
    assert _mark(config, 0.5, 5) == "success 0.500 reached evaluation.stop_at=0.3"
    with pytest.raises(WentTooFar, match=r"step 5: success 0\.510 is past evaluation\.too_far=0\.5"):
        _mark(config, 0.51, 5)


@pytest.mark.parametrize(
    ("data", "evaluation", "words"),
    [
        ({"env": None}, {}, "data: name an environment"),
        ({"env": None, "files": ["a.jsonl"]}, {"every": 2}, "evaluation.every needs data.env"),
        ({}, {"stop_at": 0.3}, "evaluation.stop_at=0.3 needs evaluation.every"),
        ({}, {"every": 1, "too_far": 0.3}, "needs an evaluation.stop_at below it"),
        ({}, {"every": 1, "stop_at": 0.5, "too_far": 0.3}, "needs an evaluation.stop_at below it"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(tmp_path, data, evaluation, words):
    config = config_of(tmp_path, tmp_path, **data)
    for name, value in evaluation.items():
        setattr(config.evaluation, name, value)
    with pytest.raises(BadSetting, match=words):
        sft(config)


def test_the_command(model, tmp_path, capsys):
    words = [
        f"model.path={model}", "data.env=maze", "data.options={size: 4, observation: relative}",
        "data.format=plain", "data.tasks=4", "data.max_tokens=1024",
        "episodes_per_step=2", "run.steps=1", "run.threads=1", "run.trackers=[]", "run.plots=false",
        f"run.dir={tmp_path / 'run'}",
    ]  # fmt: skip
    for more, code, words_said in (
        ([], 0, f"complete at step 1; the model is in {tmp_path / 'run' / 'model'}"),
        (["--dry-run"], 0, "episodes_per_step: 2"),
        (["batch.group_size=3"], 2, "batch.group_size is not a setting"),
        (["evaluation.stop_at=0.5", "--dry-run"], 2, "needs evaluation.every"),
        (["data.files=[nowhere.jsonl]"], 2, "nowhere.jsonl"),
        (["data.max_tokens=2000"], 2, "data.max_tokens=2000 is more than the 1024 positions"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["sft", *words, *more])
        shown = capsys.readouterr()
        assert (int(ended.value.code or 0), words_said in shown.out + shown.err) == (code, True), shown
