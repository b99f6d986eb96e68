"""Settings that do not go together, each refused with the names of its keys.

What is looked at here counts as no read of a setting: a key that is only checked still does nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from trainers.algorithms.advantages import BY_GROUP, COMPARE_PEERS, keeps_zero_groups
from trainers.config import CriticSettings, TrainConfig
from trainers.settings import BadSetting, Settings, plain

RESHAPES_SAMPLING = (
    "min_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "min_tokens",
    "stop",
    "stop_token_ids",
    "bad_words",
    "logit_bias",
    "allowed_token_ids",
)
"""Options of engines after which a sampled token's log-probability is not that of the model."""


def check_together(config: TrainConfig) -> None:
    """Raise BadSetting with every conflict in `config`, one a line. Bounds of single settings are `load`'s."""
    found = problems(config)
    if found:
        raise BadSetting("\n".join(found))


def problems(config: TrainConfig) -> list[str]:
    """Every conflict, in words."""
    c = _unrecorded(config)
    if c.evaluation.only:
        return list(_environments(c))
    by_subject = (_environments, _sampling, _sizes, _estimator, _kl, _loss, _rounds, _optim, _critic, _machines)
    return [problem for subject in by_subject for problem in subject(c)]


def notes(config: TrainConfig) -> list[str]:
    """What another setting decides, for whoever prints the resolved settings."""
    if config.algorithm.zero_variance == "drop" and keeps_zero_groups(config):
        return ["algorithm.zero_variance: keep, as a KL loss or loss.entropy_coef acts on groups without a signal too"]
    return []


def _unrecorded(settings: Settings) -> Any:
    """A copy of the settings whose reads are not noted."""
    return json.loads(json.dumps(plain(settings)), object_hook=lambda found: SimpleNamespace(**found))


def _environments(c: Any) -> Iterator[str]:
    if not c.environments:
        yield "environments: none is given; name one, such as environments=[{env: textcraft}]"
    elif not any(e.weight for e in c.environments):
        yield "environments[].weight: all are 0; one must be positive"


def _sampling(c: Any) -> Iterator[str]:
    whole = "training samples from the whole distribution; only evaluation may cut it"
    if c.rollout.top_p != 1.0:
        yield f"rollout.top_p={c.rollout.top_p}: {whole}"
    if c.rollout.top_k not in (-1, 0):
        yield f"rollout.top_k={c.rollout.top_k}: {whole}"
    if c.rollout.temperature == 0:
        yield "rollout.temperature=0: greedy episodes have nothing to compare; training needs a positive one"
    for name in RESHAPES_SAMPLING:
        if hasattr(c.rollout.engine_options, name):
            yield f"rollout.engine_options.{name}: training learns from the model's own distribution; leave it out"


def _sizes(c: Any) -> Iterator[str]:
    tasks, part = c.batch.tasks_per_step, c.batch.tasks_per_minibatch
    if part is not None and tasks % part:
        yield f"batch.tasks_per_minibatch={part} does not divide batch.tasks_per_step={tasks}"
    if c.rollout.max_prompt_tokens >= c.rollout.max_episode_tokens:
        yield (
            f"rollout.max_prompt_tokens={c.rollout.max_prompt_tokens} leaves no room for a turn in "
            f"rollout.max_episode_tokens={c.rollout.max_episode_tokens}, which counts the prompt too"
        )


def _estimator(c: Any) -> Iterator[str]:
    a = c.algorithm
    if a.estimator in COMPARE_PEERS and c.batch.group_size < 2:
        yield f"algorithm.estimator={a.estimator} compares the members of a group; batch.group_size must be 2 or more"
    if a.estimator in BY_GROUP:
        if c.reward.placement == "turn":
            yield f"reward.placement=turn: {a.estimator} knows only an episode's whole reward; choose outcome"
        if a.gamma != 1.0:
            yield f"algorithm.gamma={a.gamma}: {a.estimator} does not discount; only gae and reinforce_plus_plus do"
        if a.whiten == "env":
            yield f"algorithm.whiten=env: {a.estimator} does not whiten; only gae and reinforce_plus_plus do"
    if a.estimator != "gae":
        if a.lam != 1.0:
            yield f"algorithm.lam={a.lam}: only algorithm.estimator=gae has it, not {a.estimator}"
        if a.gae_unit != "token":
            yield f"algorithm.gae_unit={a.gae_unit}: only algorithm.estimator=gae has it, not {a.estimator}"
    if a.estimator != "grpo" and not a.std_normalize:
        yield f"algorithm.std_normalize=false: only algorithm.estimator=grpo has it, not {a.estimator}"


def _kl(c: Any) -> Iterator[str]:
    placement, estimator = c.kl.placement, c.kl.estimator
    if placement == "loss" and estimator == "k1":
        yield "kl.estimator=k1 with kl.placement=loss: its expected gradient is zero; choose k2, k3 or k3_k2grad"
    if placement == "reward" and estimator != "k1":
        yield f"kl.estimator={estimator} with kl.placement=reward: a reward takes the log ratio: k1"
    if c.kl.controller == "adaptive":
        if placement == "none":
            yield "kl.controller=adaptive with kl.placement=none: there is no coefficient to adapt"
        if c.kl.coef == 0 or c.kl.target == 0:
            yield "kl.controller=adaptive multiplies kl.coef by its distance from kl.target; neither may be 0"


def _loss(c: Any) -> Iterator[str]:
    if c.loss.tis.enabled and c.loss.old_logprobs == "engine":
        yield "loss.tis.enabled with loss.old_logprobs=engine: both correct the same gap; choose one"
    if c.loss.tis.enabled and c.loss.tis.cap == 0:
        yield "loss.tis.cap=0 makes every weight 0; it must be positive"
    if c.loss.clip_low > 1:
        yield f"loss.clip_low={c.loss.clip_low}: a ratio is never under 0, so at most 1 has a meaning"


def _rounds(c: Any) -> Iterator[str]:
    rounds = c.algorithm.rounds
    lists = {"algorithm.rounds.values": rounds.values}
    lists |= {f"environments[{i}].rounds": e.rounds for i, e in enumerate(c.environments) if e.rounds}
    for key, values in lists.items():
        if any(v < 1 for v in values):
            yield f"{key}={values}: an episode has one turn at least"
        if rounds.type == "fixed" and len(values) > 1:
            yield f"{key}={values} with algorithm.rounds.type=fixed: one value at most, or type scaling_inter_stepwise"
    for i, env in enumerate(c.environments):
        if (env.rounds or rounds.values) and env.max_steps is not None:
            yield (
                f"environments[{i}].max_steps={env.max_steps} beside a limit by stage "
                "(algorithm.rounds.values or environments[].rounds): give one of them"
            )
        if rounds.type == "scaling_inter_stepwise" and not (env.rounds or rounds.values):
            yield f"algorithm.rounds.type={rounds.type} needs algorithm.rounds.values or environments[{i}].rounds"


def _optim(c: Any) -> Iterator[str]:
    for key, optim in (("optim", c.optim), ("critic.optim", c.critic.optim)):
        if optim.schedule == "constant" and optim.min_lr_ratio:
            yield f"{key}.min_lr_ratio={optim.min_lr_ratio} with {key}.schedule=constant: the rate never falls"


def _critic(c: Any) -> Iterator[str]:
    if c.algorithm.estimator == "gae":
        return
    for key, value in _differences(c.critic, _unrecorded(CriticSettings()), "critic"):
        yield f"{key}={value}: only algorithm.estimator=gae has a critic, not {c.algorithm.estimator}"


def _differences(given: Any, default: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Key and value of every setting that is not at its default."""
    if isinstance(given, SimpleNamespace):
        for name, value in vars(given).items():
            yield from _differences(value, getattr(default, name), f"{key}.{name}")
    elif given != default:
        yield key, given


def _machines(c: Any) -> Iterator[str]:
    ranks = c.launch.nodes * c.launch.processes_per_node
    if c.fsdp.shard_size is not None and ranks % c.fsdp.shard_size:
        yield f"fsdp.shard_size={c.fsdp.shard_size} does not divide the {ranks} ranks of launch.*"
    if c.run.deterministic:
        if c.rollout.engine != "hf":
            yield f"run.deterministic needs rollout.engine=hf, not {c.rollout.engine}"
        if ranks != 1:
            yield f"run.deterministic needs one rank, not launch.nodes x launch.processes_per_node = {ranks}"
        if c.run.threads not in (None, 1):
            yield f"run.deterministic needs one thread, not run.threads={c.run.threads}"
