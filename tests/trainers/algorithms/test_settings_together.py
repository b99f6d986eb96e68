"""Settings that do not go together are refused, and the message names them."""

import os
import subprocess
import sys

import pytest

from trainers.algorithms.checks import check_together, notes, problems
from trainers.config import TrainConfig
from trainers.settings import BadSetting, load

GOOD = ("model.path=m", "environments=[{env: maze}]")


def config_of(*overrides):
    return load(TrainConfig, overrides=[*GOOD, *overrides])


@pytest.mark.parametrize("estimator", ["gae", "grpo", "rloo", "reinforce_plus_plus", "remax"])
def test_defaults_go_together(estimator):
    check_together(config_of(f"algorithm.estimator={estimator}"))


REFUSED = {
    "rollout.top_p": ["rollout.top_p=0.9"],
    "rollout.top_k": ["rollout.top_k=20"],
    "rollout.temperature": ["rollout.temperature=0"],
    "rollout.engine_options.min_p": ["rollout.engine_options={min_p: 0.1}"],
    "rollout.engine_options.stop": ["rollout.engine_options={stop: [x]}"],
    "batch.tasks_per_minibatch": ["batch.tasks_per_step=16", "batch.tasks_per_minibatch=5"],
    "rollout.max_prompt_tokens": ["rollout.max_prompt_tokens=4096"],
    "batch.group_size": ["batch.group_size=1"],
    "reward.placement": ["reward.placement=turn"],
    "algorithm.gamma": ["algorithm.gamma=0.9"],
    "algorithm.whiten": ["algorithm.whiten=env"],
    "algorithm.lam": ["algorithm.lam=0.95"],
    "algorithm.gae_unit": ["algorithm.gae_unit=turn"],
    "algorithm.std_normalize": ["algorithm.estimator=rloo", "algorithm.std_normalize=false"],
    "kl.estimator=k1": ["kl.placement=loss", "kl.estimator=k1"],
    "kl.estimator=k3": ["kl.placement=reward"],
    "kl.controller": ["kl.controller=adaptive"],
    "kl.target": ["kl.controller=adaptive", "kl.placement=loss", "kl.target=0"],
    "loss.tis.enabled": ["loss.tis.enabled=true", "loss.old_logprobs=engine"],
    "loss.tis.cap": ["loss.tis.enabled=true", "loss.tis.cap=0"],
    "loss.clip_low": ["loss.clip_low=1.5"],
    "algorithm.rounds.values": ["algorithm.rounds.values=[10, 20]"],
    "environments[].rounds": ["environments=[{env: maze, max_steps: 5}]", "algorithm.rounds.values=[10]"],
    "environments[0].rounds": ["algorithm.rounds.type=scaling_inter_stepwise"],
    "one turn at least": ["algorithm.rounds.values=[0]"],
    "environments: none": ["environments=[]"],
    "environments[].weight": ["environments=[{env: maze, weight: 0}]"],
    "optim.min_lr_ratio": ["optim.min_lr_ratio=0.1"],
    "critic.optim.min_lr_ratio": ["algorithm.estimator=gae", "critic.optim.min_lr_ratio=0.1"],
    "critic.optim.lr": ["critic.optim.lr=1e-3"],
    "critic.warmup_steps": ["critic.warmup_steps=5"],
    "critic.model.path": ["critic.model.path=m"],
    "fsdp.shard_size": ["fsdp.shard_size=3", "launch.processes_per_node=4"],
    "rollout.engine=hf": ["run.deterministic=true", "rollout.engine=vllm"],
    "launch.nodes": ["run.deterministic=true", "launch.processes_per_node=2"],
    "run.threads": ["run.deterministic=true", "run.threads=2"],
}


@pytest.mark.parametrize("named", REFUSED)
def test_a_conflict_is_refused_by_the_names_of_its_settings(named):
    found = problems(config_of(*REFUSED[named]))
    assert len(found) == 1
    assert named in found[0]
    with pytest.raises(BadSetting):
        check_together(config_of(*REFUSED[named]))


def test_every_conflict_is_told_at_once():
    with pytest.raises(BadSetting, match=r"(?s)rollout\.top_p.*\n.*group_size.*\n.*loss\.tis"):
        check_together(
            config_of("rollout.top_p=0.5", "batch.group_size=1", "loss.tis.enabled=true", "loss.old_logprobs=engine")
        )


@pytest.mark.parametrize(
    "overrides",
    [
        ["algorithm.estimator=gae", "algorithm.gae_unit=turn", "algorithm.lam=0.95", "critic.optim.lr=1e-3"],
        ["algorithm.estimator=reinforce_plus_plus", "algorithm.gamma=0.9", "algorithm.whiten=env"],
        ["algorithm.estimator=gae", "reward.placement=turn", "batch.group_size=1"],
        ["algorithm.estimator=remax", "batch.group_size=1"],
        ["kl.placement=reward", "kl.estimator=k1", "kl.controller=adaptive"],
        ["kl.placement=loss", "kl.estimator=k3_k2grad"],
        ["algorithm.rounds.type=scaling_inter_stepwise", "algorithm.rounds.values=[10, 20]"],
        ["algorithm.rounds.type=scaling_inter_stepwise", "environments=[{env: maze, rounds: [4, 8]}]"],
        ["batch.tasks_per_minibatch=8", "loss.tis.enabled=true"],
        ["run.deterministic=true", "run.threads=1"],
        ["rollout.engine_options={gpu_memory_utilization: 0.5}"],
    ],
)
def test_settings_that_go_together_are_taken(overrides):
    check_together(config_of(*overrides))


def test_evaluation_alone_may_cut_the_distribution():
    check_together(config_of("evaluation.only=true", "rollout.top_p=0.9", "rollout.temperature=0"))


def test_what_another_setting_decides_is_told():
    assert notes(config_of()) == []
    assert notes(config_of("algorithm.zero_variance=keep", "kl.placement=loss")) == []
    for overrides in (["kl.placement=loss"], ["loss.entropy_coef=0.01"]):
        [note] = notes(config_of(*overrides))
        assert note.startswith("algorithm.zero_variance: keep")


def test_looking_for_conflicts_counts_as_no_read_of_a_setting(tmp_path):
    script = (
        "from trainers import reads\n"
        "from trainers.algorithms.checks import check_together\n"
        "from trainers.config import EnvironmentSettings, ModelSettings, TrainConfig\n"
        "check_together(TrainConfig(model=ModelSettings(path='m'), environments=[EnvironmentSettings(env='maze')]))\n"
        "print(sorted(reads.noted))\n"
    )
    env = {**os.environ, "AGENTENV_CONFIG_READS": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
