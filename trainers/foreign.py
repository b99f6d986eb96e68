"""Names that users of verl and AgentGym-RL know, and what the same thing is called here."""

from __future__ import annotations

SECTIONS = ("actor_rollout_ref", "trainer", "data", "reward_model", "agentgym")
"""Sections that only they have."""

_ACTOR = "actor_rollout_ref.actor."
_MODEL = "actor_rollout_ref.model."
_ROLLOUT = "actor_rollout_ref.rollout."
_GYM = "actor_rollout_ref.agentgym."

FOREIGN: dict[str, str] = {
    _MODEL + "path": "model.path",
    _MODEL + "enable_gradient_checkpointing": "model.gradient_checkpointing",
    _MODEL + "use_remove_padding": "batch.packing (auto, on, off)",
    _MODEL + "lora_rank": "model.lora.rank",
    _MODEL + "lora_alpha": "model.lora.alpha",
    _MODEL + "target_modules": "model.lora.targets",
    "model.lora_rank": "model.lora.rank",
    "model.lora_alpha": "model.lora.alpha",
    "model.target_modules": "model.lora.targets",
    "model.use_remove_padding": "batch.packing (auto, on, off)",
    _ACTOR + "use_dynamic_bsz": "batch.packing (auto, on, off)",
    _GYM + "task_name": "environments[].env",
    _GYM + "env_addr": "environments[].base_url",
    _GYM + "max_rounds": "environments[].max_steps",
    _GYM + "timeout": "environments[].step_timeout_s",
    _GYM + "max_retries": "rollout.max_refills",
    "data.train_file": "environments[].tasks",
    "data.train_files": "environments[].tasks",
    "data.train_batch_size": "batch.tasks_per_step",
    "data.shuffle": "tasks.shuffle",
    "data.seed": "run.seed",
    "data.max_prompt_length": "rollout.max_prompt_tokens (a longer prompt is an error)",
    "data.max_response_length": "rollout.max_episode_tokens (prompt and all turns)",
    "data.val_batch_size": "evaluation.tasks",
    _ROLLOUT + "n": "batch.group_size",
    _ROLLOUT + "max_model_len": "rollout.max_episode_tokens (prompt and all turns)",
    _ROLLOUT + "max_tokens": "rollout.max_turn_tokens",
    _ROLLOUT + "name": "rollout.engine",
    _ROLLOUT + "temperature": "rollout.temperature",
    _ROLLOUT + "top_p": "rollout.top_p",
    _ROLLOUT + "top_k": "rollout.top_k",
    _ROLLOUT + "gpu_memory_utilization": "rollout.engine_options.gpu_memory_utilization",
    _ROLLOUT + "tensor_model_parallel_size": "rollout.engine_options.tensor_parallel_size",
    _ROLLOUT + "enforce_eager": "rollout.engine_options.enforce_eager",
    _ROLLOUT + "send_interval": "nothing: no episode waits for another's turn",
    _ROLLOUT + "rollout_log_dir": "the folder `rollouts` in run.dir",
    _ACTOR + "ppo_mini_batch_size": "batch.tasks_per_minibatch (tasks; for the critic too)",
    _ACTOR + "ppo_micro_batch_size_per_gpu": "batch.episodes_per_microbatch (padded batches only)",
    _ACTOR + "ppo_max_token_len_per_gpu": "batch.tokens_per_microbatch",
    _ROLLOUT + "log_prob_max_token_len_per_gpu": "batch.tokens_per_forward",
    _ROLLOUT + "log_prob_micro_batch_size_per_gpu": "batch.tokens_per_forward",
    "actor_rollout_ref.ref.log_prob_max_token_len_per_gpu": "batch.tokens_per_forward",
    "critic.ppo_max_token_len_per_gpu": "batch.tokens_per_microbatch",
    "critic.forward_max_token_len_per_gpu": "batch.tokens_per_forward",
    "critic.ppo_mini_batch_size": "batch.tasks_per_minibatch (tasks; for the critic too)",
    "critic.ppo_micro_batch_size_per_gpu": "batch.episodes_per_microbatch (padded batches only)",
    _ACTOR + "ppo_epochs": "loss.epochs",
    _ACTOR + "shuffle": "loss.shuffle",
    _ACTOR + "clip_ratio": "loss.clip_low and loss.clip_high",
    _ACTOR + "clip_ratio_low": "loss.clip_low",
    _ACTOR + "clip_ratio_high": "loss.clip_high",
    _ACTOR + "clip_ratio_c": "loss.dual_clip",
    _ACTOR + "loss_agg_mode": "loss.aggregate (token_mean, episode_mean, constant)",
    _ACTOR + "entropy_coeff": "loss.entropy_coef",
    _ACTOR + "grad_clip": "optim.max_grad_norm",
    _ACTOR + "tis_imp_ratio_cap": "loss.tis.cap",
    _ACTOR + "use_kl_loss": "kl.placement (none, reward, loss)",
    _ACTOR + "kl_loss_coef": "kl.coef",
    _ACTOR + "kl_loss_type": "kl.estimator (kl = k1, mse = k2, low_var_kl = k3; abs is refused)",
    _ACTOR + "ulysses_sequence_parallel_size": "fsdp.sequence_parallel",
    _ACTOR + "fsdp_config.param_offload": "fsdp.cpu_offload",
    _ACTOR + "fsdp_config.optimizer_offload": "fsdp.cpu_offload",
    _ACTOR + "fsdp_config.fsdp_size": "fsdp.shard_size",
    _ACTOR + "optim.lr": "optim.lr",
    _ACTOR + "optim.lr_warmup_steps_ratio": "optim.warmup_ratio",
    _ACTOR + "optim.warmup_style": "optim.schedule",
    _ACTOR + "optim.min_lr_ratio": "optim.min_lr_ratio",
    "algorithm.adv_estimator": "algorithm.estimator",
    "algorithm.norm_adv_by_std_in_grpo": "algorithm.std_normalize",
    "algorithm.use_kl_in_reward": "kl.placement=reward",
    "algorithm.kl_penalty": "kl.estimator",
    "algorithm.kl_ctrl.type": "kl.controller",
    "algorithm.kl_ctrl.kl_coef": "kl.coef",
    "algorithm.kl_ctrl.target_kl": "kl.target",
    "algorithm.kl_ctrl.horizon": "kl.horizon",
    "algorithm.rounds_ctrl.type": "algorithm.rounds.type",
    "algorithm.rounds_ctrl.rounds": "algorithm.rounds.values",
    "algorithm.rounds_ctrl.steps_scaling_inter": "algorithm.rounds.every",
    "critic.cliprange_value": "critic.value_clip",
    "trainer.critic_warmup": "critic.warmup_steps",
    "trainer.total_epochs": "run.epochs",
    "trainer.total_training_steps": "run.steps (the last step runs)",
    "trainer.project_name": "run.project",
    "trainer.experiment_name": "run.name",
    "trainer.logger": "run.trackers",
    "trainer.nnodes": "launch.nodes",
    "trainer.n_gpus_per_node": "launch.processes_per_node",
    "trainer.save_freq": "checkpoint.every",
    "trainer.default_local_dir": "checkpoint.dir",
    "trainer.max_actor_ckpt_to_keep": "checkpoint.keep",
    "trainer.resume_mode": "checkpoint.resume (auto, never, or a folder)",
    "trainer.test_freq": "evaluation.every",
    "trainer.val_before_train": "evaluation.before",
    "trainer.val_only": "evaluation.only",
}
"""Their dotted key: ours. A key of theirs on the command line or in a file is answered with this."""


def ours(key: str) -> str | None:
    """What a key of theirs is called here, also without its first sections (`rollout.n`); None: no key of theirs."""
    if key in FOREIGN:
        return FOREIGN[key]
    if "." not in key:
        return None
    found = {answer for theirs, answer in FOREIGN.items() if theirs.endswith(f".{key}")}
    if found:
        return " or ".join(sorted(found))
    return "nothing: it has no counterpart" if key.partition(".")[0] in SECTIONS else None
