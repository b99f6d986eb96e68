"""Settings from files and words: what is taken, and how what is not is answered."""

import math

import pytest

from trainers.config import TrainConfig
from trainers.foreign import FOREIGN, ours
from trainers.setting_keys import keys_of
from trainers.settings import BadSetting, load, plain
from trainers.sft.config import SftConfig

MODEL = "model.path=m"

SECTION_10 = {
    "actor_rollout_ref.model.path": "model.path",
    "actor_rollout_ref.model.enable_gradient_checkpointing": "model.gradient_checkpointing",
    "actor_rollout_ref.model.use_remove_padding": "batch.packing",
    "model.use_remove_padding": "batch.packing",
    "actor_rollout_ref.actor.use_dynamic_bsz": "batch.packing",
    "model.lora_rank": "model.lora.rank",
    "model.lora_alpha": "model.lora.alpha",
    "model.target_modules": "model.lora.targets",
    "actor_rollout_ref.agentgym.task_name": "environments[].env",
    "actor_rollout_ref.agentgym.env_addr": "environments[].base_url",
    "data.train_file": "environments[].tasks",
    "actor_rollout_ref.agentgym.max_rounds": "environments[].max_steps",
    "actor_rollout_ref.agentgym.timeout": "environments[].step_timeout_s",
    "actor_rollout_ref.agentgym.max_retries": "rollout.max_refills",
    "data.train_batch_size": "batch.tasks_per_step",
    "actor_rollout_ref.rollout.n": "batch.group_size",
    "actor_rollout_ref.actor.ppo_mini_batch_size": "batch.tasks_per_minibatch",
    "critic.ppo_mini_batch_size": "batch.tasks_per_minibatch",
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": "batch.episodes_per_microbatch",
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": "batch.tokens_per_microbatch",
    "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu": "batch.tokens_per_forward",
    "actor_rollout_ref.ref.log_prob_max_token_len_per_gpu": "batch.tokens_per_forward",
    "critic.forward_max_token_len_per_gpu": "batch.tokens_per_forward",
    "actor_rollout_ref.actor.ppo_epochs": "loss.epochs",
    "actor_rollout_ref.actor.shuffle": "loss.shuffle",
    "data.shuffle": "tasks.shuffle",
    "data.max_prompt_length": "rollout.max_prompt_tokens",
    "data.max_response_length": "rollout.max_episode_tokens",
    "actor_rollout_ref.rollout.max_model_len": "rollout.max_episode_tokens",
    "actor_rollout_ref.rollout.max_tokens": "rollout.max_turn_tokens",
    "actor_rollout_ref.rollout.name": "rollout.engine",
    "actor_rollout_ref.rollout.temperature": "rollout.temperature",
    "actor_rollout_ref.rollout.top_p": "rollout.top_p",
    "actor_rollout_ref.rollout.top_k": "rollout.top_k",
    "actor_rollout_ref.rollout.gpu_memory_utilization": "rollout.engine_options.gpu_memory_utilization",
    "actor_rollout_ref.rollout.tensor_model_parallel_size": "rollout.engine_options.tensor_parallel_size",
    "actor_rollout_ref.rollout.enforce_eager": "rollout.engine_options.enforce_eager",
    "actor_rollout_ref.rollout.send_interval": "nothing",
    "actor_rollout_ref.rollout.rollout_log_dir": "the folder `rollouts`",
    "algorithm.adv_estimator": "algorithm.estimator",
    "algorithm.rounds_ctrl.type": "algorithm.rounds.type",
    "algorithm.rounds_ctrl.rounds": "algorithm.rounds.values",
    "algorithm.rounds_ctrl.steps_scaling_inter": "algorithm.rounds.every",
    "algorithm.norm_adv_by_std_in_grpo": "algorithm.std_normalize",
    "actor_rollout_ref.actor.clip_ratio": "loss.clip_low and loss.clip_high",
    "actor_rollout_ref.actor.clip_ratio_low": "loss.clip_low",
    "actor_rollout_ref.actor.clip_ratio_high": "loss.clip_high",
    "actor_rollout_ref.actor.clip_ratio_c": "loss.dual_clip",
    "actor_rollout_ref.actor.loss_agg_mode": "loss.aggregate",
    "actor_rollout_ref.actor.entropy_coeff": "loss.entropy_coef",
    "actor_rollout_ref.actor.grad_clip": "optim.max_grad_norm",
    "actor_rollout_ref.actor.tis_imp_ratio_cap": "loss.tis.cap",
    "actor_rollout_ref.actor.use_kl_loss": "kl.placement",
    "actor_rollout_ref.actor.kl_loss_coef": "kl.coef",
    "actor_rollout_ref.actor.kl_loss_type": "kl.estimator",
    "algorithm.use_kl_in_reward": "kl.placement=reward",
    "algorithm.kl_penalty": "kl.estimator",
    "algorithm.kl_ctrl.type": "kl.controller",
    "algorithm.kl_ctrl.kl_coef": "kl.coef",
    "algorithm.kl_ctrl.target_kl": "kl.target",
    "algorithm.kl_ctrl.horizon": "kl.horizon",
    "actor_rollout_ref.actor.optim.lr": "optim.lr",
    "actor_rollout_ref.actor.optim.lr_warmup_steps_ratio": "optim.warmup_ratio",
    "actor_rollout_ref.actor.optim.warmup_style": "optim.schedule",
    "actor_rollout_ref.actor.optim.min_lr_ratio": "optim.min_lr_ratio",
    "critic.cliprange_value": "critic.value_clip",
    "trainer.critic_warmup": "critic.warmup_steps",
    "actor_rollout_ref.actor.fsdp_config.param_offload": "fsdp.cpu_offload",
    "actor_rollout_ref.actor.fsdp_config.optimizer_offload": "fsdp.cpu_offload",
    "actor_rollout_ref.actor.fsdp_config.fsdp_size": "fsdp.shard_size",
    "actor_rollout_ref.actor.ulysses_sequence_parallel_size": "fsdp.sequence_parallel",
    "trainer.total_epochs": "run.epochs",
    "trainer.total_training_steps": "run.steps",
    "trainer.project_name": "run.project",
    "trainer.experiment_name": "run.name",
    "trainer.logger": "run.trackers",
    "trainer.nnodes": "launch.nodes",
    "trainer.n_gpus_per_node": "launch.processes_per_node",
    "trainer.save_freq": "checkpoint.every",
    "trainer.default_local_dir": "checkpoint.dir",
    "trainer.max_actor_ckpt_to_keep": "checkpoint.keep",
    "trainer.resume_mode": "checkpoint.resume",
    "trainer.test_freq": "evaluation.every",
    "data.val_batch_size": "evaluation.tasks",
    "trainer.val_before_train": "evaluation.before",
    "data.seed": "run.seed",
}
SAME_HERE = ("algorithm.gamma", "algorithm.lam", "critic.model.path", "critic.optim.lr")
"""Theirs and ours."""


IN_THEIR_SCRIPTS = (
    "algorithm.adv_estimator", "algorithm.rounds_ctrl.type", "algorithm.rounds_ctrl.rounds",
    "algorithm.rounds_ctrl.steps_scaling_inter", "algorithm.kl_ctrl.kl_coef", "data.train_file",
    "data.train_batch_size", "data.max_prompt_length", "data.max_response_length",
    "actor_rollout_ref.agentgym.task_name", "actor_rollout_ref.agentgym.env_addr",
    "actor_rollout_ref.agentgym.timeout", "actor_rollout_ref.model.path",
    "actor_rollout_ref.actor.use_kl_loss", "actor_rollout_ref.actor.kl_loss_coef",
    "actor_rollout_ref.actor.kl_loss_type", "actor_rollout_ref.actor.ppo_mini_batch_size",
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "actor_rollout_ref.actor.ppo_epochs",
    "actor_rollout_ref.actor.optim.lr", "actor_rollout_ref.rollout.n", "actor_rollout_ref.rollout.max_model_len",
    "actor_rollout_ref.rollout.max_tokens", "actor_rollout_ref.rollout.gpu_memory_utilization",
    "actor_rollout_ref.rollout.tensor_model_parallel_size", "actor_rollout_ref.rollout.rollout_log_dir",
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu",
    "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", "trainer.default_local_dir", "trainer.project_name",
    "trainer.experiment_name", "trainer.save_freq", "trainer.total_epochs", "trainer.nnodes", "trainer.n_gpus_per_node",
)  # fmt: skip
"""What the published scripts of the five scenarios set."""


def refusal(*words: str, path=None, cls=TrainConfig) -> str:
    with pytest.raises(BadSetting) as caught:
        load(cls, path, words, foreign=ours)
    return caught.value.message


def test_a_file_and_words_over_it(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("model: {path: m}\nbatch: {group_size: 2, tasks_per_step: 3}\nenvironments: [{env: a}, {env: b}]\n")
    words = ["batch.group_size=5", "environments[1].split=dev", "optim.lr=1e-3", "rollout.engine_options.dtype=float32"]
    found = load(TrainConfig, file, words)
    assert (found.batch.group_size, found.batch.tasks_per_step) == (5, 3)
    assert [e.split for e in found.environments] == ["train", "dev"]
    assert found.optim.lr == 1e-3
    assert found.rollout.engine_options == {"dtype": "float32"}


def test_what_is_resolved_loads_to_the_same_settings(tmp_path):
    import yaml

    found = load(TrainConfig, None, [MODEL, "environments=[{env: maze, options: {size: 4}}]", "run.steps=3"])
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(plain(found)))
    assert load(TrainConfig, tmp_path / "again.yaml") == found


@pytest.mark.parametrize("key", ["batch.group_sise", "rollout.group_sise"])
def test_a_typo_is_answered_with_the_nearest_name(key):
    assert refusal(MODEL, f"{key}=4") == (
        f"command line: {key} is not a setting; did you mean batch.group_size (int, 8)?"
    )


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("modle.path", "model.path (str)"),
        ("optim.learning_rate", None),
        ("run.stpes", "run.steps (int or none, none)"),
        ("critic.optim.lrr", "critic.optim.lr (float, 1e-05)"),
        ("environments[0].base_urll", "environments[].base_url (str or none, none)"),
        ("run.tracker", "run.trackers (list of str, ['console', 'jsonl'])"),
        ("xyzzy", None),
    ],
)
def test_the_nearest_name_comes_with_type_and_default(key, meant):
    message = refusal(MODEL, "environments=[{env: a}]", f"{key}=4")
    assert message == f"command line: {key} is not a setting" + (f"; did you mean {meant}?" if meant else "")


def test_every_unknown_key_of_a_file_is_told_with_its_path(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("model: {path: m, pth: x}\nenvironments: [{env: a}, {envv: b}]\n")
    lines = refusal(path=file).splitlines()
    assert lines == [
        f"{file}: model.pth is not a setting; did you mean model.path (str)?",
        f"{file}: environments[1].envv is not a setting; did you mean environments[].env (str)?",
    ]


@pytest.mark.parametrize(("theirs", "answer"), SECTION_10.items())
def test_a_key_of_another_trainer_is_answered_with_ours(theirs, answer):
    message = refusal(MODEL, f"{theirs}=1")
    assert f"{theirs} is a setting of another trainer; here it is {answer}" in message


@pytest.mark.parametrize("theirs", IN_THEIR_SCRIPTS)
def test_every_key_of_their_scripts_has_a_name_here(theirs):
    assert "no counterpart" not in refusal(MODEL, f"{theirs}=1")


def test_the_critic_of_theirs_is_told_apart_from_the_actor():
    assert refusal(MODEL, "critic.grad_clip=1").endswith("here it is critic.optim.max_grad_norm")
    assert refusal(MODEL, "actor.grad_clip=1").endswith("here it is optim.max_grad_norm")


def test_the_table_of_other_names_names_settings_that_exist():
    known = keys_of(TrainConfig)
    for theirs, answer in FOREIGN.items():
        name = answer.split(" ")[0].partition("=")[0]
        if "." in name and not name.startswith("rollout.engine_options."):
            assert name in known, f"{theirs}: {answer}"


@pytest.mark.parametrize("key", SAME_HERE)
def test_a_name_that_both_have_is_taken(key):
    load(TrainConfig, None, [MODEL, f"{key}=1"])


@pytest.mark.parametrize(("short", "answer"), [("rollout.n", "batch.group_size"), ("actor.ppo_epochs", "loss.epochs")])
def test_their_names_without_the_first_section_are_known_too(short, answer):
    assert f"here it is {answer}" in refusal(MODEL, f"{short}=1")


def test_a_file_of_theirs_is_answered_leaf_by_leaf(tmp_path):
    file = tmp_path / "theirs.yaml"
    file.write_text("actor_rollout_ref: {actor: {ppo_epochs: 1, grad_clip: 1}, odd: 2}\ntrainer: {nnodes: 1}\n")
    lines = refusal(path=file).splitlines()
    assert [line.split(" here it is ")[1] for line in lines] == [
        "loss.epochs",
        "optim.max_grad_norm",
        "nothing: it has no counterpart",
        "launch.nodes",
    ]


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("run.steps=two", "run.steps: Value 'two' of type 'str' could not be converted to Integer"),
        ("run.steps=1.5", "run.steps: Value '1.5' of type 'float' could not be converted to Integer"),
        ("run.trackers=console", "run.trackers: must be a list, such as [console], not str"),
        ("environments={env: a}", "environments: must be a list"),
        ("run=3", "run: must be a mapping of settings, not int"),
        ("batch={group_size: 0}", "batch.group_size=0: must be at least 1"),
        ("algorithm.gamma=1.5", "algorithm.gamma=1.5: must lie between 0 and 1"),
        ("run.trackers=[jsonl, tensorbord]", "run.trackers[1]='tensorbord': choose from console, jsonl"),
        ("environments=[{env: a}, {env: b, weight: -1}]", "environments[1].weight=-1.0: must be at least 0"),
        ("optim.lr=.nan", "optim.lr=nan: must be a finite number"),
        ("optim.lr=.inf", "optim.lr=inf: must be a finite number"),
        ("rollout.max_staleness=1", "rollout.max_staleness=1: choose from 0"),
        ("fsdp.sequence_parallel=2", "fsdp.sequence_parallel=2: choose from 1"),
        ("algorithm.estimator=ppo", "algorithm.estimator='ppo': choose from gae, grpo"),
        ("environments[0].split=dev", "environments has no item 0"),
        ("run.name={", "not YAML"),
        ("nonsense", "'nonsense' is no setting; write key=value"),
        ("=3", "'=3' is no setting"),
        ("environments=[{split: dev}]", "environments[0].env is missing; it has no default"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_path(word, words):
    assert words in refusal(MODEL, word)


def test_a_setting_without_a_default_must_be_given():
    assert refusal("run.steps=1") == "command line: model.path is missing; it has no default"


def test_files_that_cannot_be_read_are_one_line(tmp_path):
    assert "No such file" in refusal(path=tmp_path / "nowhere.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1\n")
    assert refusal(path=tmp_path / "broken.yaml").count("\n") == 0
    (tmp_path / "list.yaml").write_text("- 1\n")
    assert "must be a mapping of settings, not list" in refusal(path=tmp_path / "list.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00\x01")
    assert refusal(path=tmp_path / "bytes.yaml").count("\n") == 0


def test_a_free_mapping_takes_any_name():
    found = load(
        TrainConfig, None, [MODEL, "rollout.engine_options={a: {b: 1}}", "rollout.template_options.think=true"]
    )
    assert found.rollout.engine_options == {"a": {"b": 1}}
    assert found.rollout.template_options == {"think": True}


def test_two_configurations_share_no_list():
    one, other = TrainConfig(), TrainConfig()
    one.run.trackers.append("wandb")
    assert other.run.trackers == ["console", "jsonl"]


def test_numbers_stay_in_bounds_as_they_are_given():
    assert math.isclose(load(TrainConfig, None, [MODEL, "kl.coef=0"]).kl.coef, 0.0)
    assert load(SftConfig, None, [MODEL, "data.noise=1"]).data.noise == 1.0
