"""Every setting of a training run. `docs/training.md` has the names of other trainers beside ours (`trainers.foreign`).

Sizes are counts of tasks, episodes or tokens as the names say; times end in `_s`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentenv.render import DATE
from trainers.settings import Settings, setting

ESTIMATORS = ("gae", "grpo", "rloo", "reinforce_plus_plus", "remax")


@dataclass(kw_only=True)
class RunSettings(Settings):
    """The run as a whole."""

    dir: str = "runs/default"
    """Folder of logs, rollouts, plots and checkpoints."""
    project: str = "agentenv"
    """Of trackers that sort runs by project (wandb)."""
    name: str = "default"
    """Of the run, for such trackers."""
    seed: int = setting(0, low=0)
    """Of the order of tasks, of sampling, of adapters and of the order of minibatches."""
    steps: int | None = setting(None, low=1)
    """Training steps in all; the last one runs. None: as many as `epochs` gives."""
    epochs: int = setting(1, low=1)
    """Passes over the tasks, where `steps` is not given."""
    deterministic: bool = False
    """Bit for bit the same run again: hf engine, turns in lockstep, one rank, one thread."""
    threads: int | None = setting(None, low=1)
    """Of torch in each process; None leaves torch's own choice."""
    trackers: list[str] = setting(["console", "jsonl"], choices=("console", "jsonl", "tensorboard", "wandb"))
    """Where figures go."""
    plots: bool = True
    """Write plots.png with every checkpoint and at the end."""


@dataclass(kw_only=True)
class LoraSettings(Settings):
    """Low-rank adapters by peft; rank 0 trains every parameter."""

    rank: int = setting(0, low=0)
    """0: none, every parameter is trained."""
    alpha: float = 16.0
    """The adapters' product is scaled by alpha / rank."""
    targets: str = "all-linear"
    """Module names, comma-separated, or `all-linear`."""


@dataclass(kw_only=True)
class ModelSettings(Settings):
    """The policy's model."""

    path: str = setting()
    """A Hugging Face folder."""
    gradient_checkpointing: bool = False
    """Compute activations again in the backward pass: less memory, more work."""
    compute_dtype: str = setting("auto", choices=("auto", "float32", "bfloat16"))
    """Of forward and backward; masters and optimizer are always float32. auto: bfloat16 on CUDA, else float32."""
    lora: LoraSettings = field(default_factory=LoraSettings)


@dataclass(kw_only=True)
class EnvironmentSettings(Settings):
    """One environment of the run."""

    env: str = setting()
    """Its id, as `agentenv envs` lists them."""
    base_url: str | None = None
    """Addresses of servers, comma-separated; None runs the environment in this process."""
    split: str = "train"
    """Of the tasks that are trained on."""
    tasks: str | None = None
    """A file of task ids, one a line, in place of a whole split."""
    weight: float = setting(1.0, low=0.0)
    """Share of the tasks of a step, beside the others' weights."""
    options: dict[str, Any] = setting({})
    """Of the environment, by its own names."""
    max_steps: int | None = setting(None, low=1)
    """Turns in an episode; not beside limits by stage."""
    rounds: list[int] = setting([])
    """Limits by stage for this environment, in place of `algorithm.rounds.values`."""
    step_timeout_s: float | None = setting(None, low=0.001)
    """The agent's own time in an episode ends here; None: the environment's limit."""
    reward: str = setting("sum", choices=("sum", "last", "success", "score"))
    """What an episode earned: the sum of its rewards, the last one, success (0 or 1), or the score."""
    format: str = "react"
    """How a completion becomes an action."""


@dataclass(kw_only=True)
class RolloutSettings(Settings):
    """Collecting episodes."""

    engine: str = "hf"
    """Entry point in the group `agentenv.engines`: hf or vllm, or another package's."""
    temperature: float = setting(1.0, low=0.0)
    """Of sampling in training; log-probabilities everywhere are taken at it."""
    top_p: float = setting(1.0, low=0.0, high=1.0)
    """Only with `evaluation.only`: training learns from the whole distribution."""
    top_k: int = setting(-1, low=-1)
    """As top_p."""
    max_prompt_tokens: int = setting(1024, low=1)
    """Of the opening; a longer one is an error."""
    max_episode_tokens: int = setting(4096, low=1)
    """Prompt and all turns; an episode that reaches it ends as context_full."""
    max_turn_tokens: int = setting(512, low=1)
    """Sampled in one turn; a turn that reaches it is cut and still parsed."""
    concurrency: int = setting(64, low=1)
    """Episodes under way at once."""
    max_refills: int = setting(3, low=0)
    """Further attempts of a member whose episode was lost."""
    max_error_rate: float = setting(0.2, low=0.0, high=1.0)
    """Share of lost episodes over five steps that stops the run."""
    phase_timeout_s: float = setting(3600.0, low=0.001)
    """A collecting phase ends here; what still runs is cancelled."""
    max_staleness: int = setting(0, choices=(0,))
    """Weight versions that an episode may be behind; only 0 for now."""
    history: str = setting("append", choices=("append", "template"))
    """append: what was sampled stays as it is; template: rendered again each turn, split where earlier ids change."""
    template_date: str = DATE
    """What a chat template that prints a date is told."""
    template_options: dict[str, Any] = setting({})
    """Variables of the chat template, by its own names, such as enable_thinking."""
    engine_options: dict[str, Any] = setting({})
    """The engine's own, by its own names."""
    push_tolerance: float | None = setting(None, low=0.0)
    """Mean |difference| of log-probabilities between engine and learner after a push; None: 1e-4, or 0.05 where one of
    them computes in less than float32."""


@dataclass(kw_only=True)
class RewardSettings(Settings):
    """From what an episode earned to what is learned."""

    normalize: bool | None = None
    """Map sum and last from the card's return range to [0, 1]; None: with several environments."""
    scale: float = 1.0
    """Factor on every reward, after the mapping."""
    placement: str = setting("outcome", choices=("outcome", "turn"))
    """Where a reward stands: on the episode's last sampled token, or on the last of its turn (gae and
    reinforce_plus_plus)."""


@dataclass(kw_only=True)
class BatchSettings(Settings):
    """Sizes."""

    tasks_per_step: int = setting(16, low=1)
    """Tasks played in one training step, each by group_size episodes."""
    group_size: int = setting(8, low=1)
    """Episodes of one task."""
    tasks_per_minibatch: int | None = setting(None, low=1)
    """Tasks in one optimizer step; None: all of them."""
    episodes_per_microbatch: int = setting(8, low=1)
    """Padded batches only."""
    tokens_per_microbatch: int = setting(16384, low=1)
    """Packed batches only."""
    tokens_per_forward: int = setting(32768, low=1)
    """Of passes without gradient, packed."""
    packing: str = setting("auto", choices=("auto", "on", "off"))
    """Sequences of a forward pass in one row without padding; auto: where the leak probe finds nothing."""


@dataclass(kw_only=True)
class RoundsSettings(Settings):
    """The limit of turns over the run."""

    type: str = setting("fixed", choices=("fixed", "scaling_inter_stepwise"))
    """The same all along, or the next of `values` every so many steps."""
    values: list[int] = setting([])
    """Limits by stage; with `fixed` one value or none (the environment's own)."""
    every: int = setting(100, low=1)
    """Steps in a stage."""


@dataclass(kw_only=True)
class AlgorithmSettings(Settings):
    """The advantage estimator."""

    estimator: str = setting("grpo", choices=ESTIMATORS)
    """How advantages come from rewards."""
    gamma: float = setting(1.0, low=0.0, high=1.0)
    """Discount by sampled token (by turn with gae_unit turn); gae and reinforce_plus_plus."""
    lam: float = setting(1.0, low=0.0, high=1.0)
    """Lambda of gae."""
    gae_unit: str = setting("token", choices=("token", "turn"))
    """Whether values stand at every sampled token or at the first of each turn."""
    std_normalize: bool = True
    """Divide by the group's standard deviation (grpo)."""
    zero_variance: str = setting("drop", choices=("drop", "keep"))
    """Groups of equal rewards: leave them out, or keep them; kept where a KL loss or entropy acts on them."""
    whiten: str = setting("batch", choices=("batch", "env", "none"))
    """Advantages of gae and reinforce_plus_plus over the batch, over each environment's part, or not."""
    rounds: RoundsSettings = field(default_factory=RoundsSettings)


@dataclass(kw_only=True)
class TisSettings(Settings):
    """Truncated importance sampling between engine and learner."""

    enabled: bool = False
    """Weigh the policy term by min(learner / engine, cap)."""
    cap: float = setting(2.0, low=0.0)
    """Largest weight."""


@dataclass(kw_only=True)
class LossSettings(Settings):
    """The policy loss."""

    clip_low: float = setting(0.2, low=0.0)
    """The ratio is clipped at 1 - clip_low."""
    clip_high: float = setting(0.2, low=0.0)
    """The ratio is clipped at 1 + clip_high."""
    dual_clip: float | None = setting(None, low=1.0)
    """Bound of the loss at negative advantages, in multiples of |A|; None: none."""
    old_logprobs: str = setting("learner", choices=("learner", "engine"))
    """Whose log-probabilities ratios are taken against: computed by the learner, or the engine's own."""
    aggregate: str = setting("token_mean", choices=("token_mean", "episode_mean", "constant"))
    """What a mean counts alike: tokens, episodes, or tokens by a constant (episodes x max_episode_tokens)."""
    epochs: int = setting(1, low=1)
    """Passes over a batch."""
    shuffle: bool = True
    """Another order of tasks in every pass, where a batch has several optimizer steps."""
    entropy_coef: float = 0.0
    """Of an entropy bonus."""
    mask_context_full: bool = False
    """Leave episodes out that filled their context."""
    tis: TisSettings = field(default_factory=TisSettings)


@dataclass(kw_only=True)
class KlSettings(Settings):
    """Distance to the reference model."""

    placement: str = setting("none", choices=("none", "reward", "loss"))
    """No distance, subtracted from the reward, or added to the loss."""
    coef: float = setting(0.001, low=0.0)
    """Weight; where an adaptive controller begins."""
    estimator: str = setting("k3", choices=("k1", "k2", "k3", "k3_k2grad"))
    """In the loss k2, k3 or k3_k2grad; in the reward k1."""
    controller: str = setting("fixed", choices=("fixed", "adaptive"))
    """Whether the coefficient moves towards the target."""
    target: float = setting(6.0, low=0.0)
    """Nats by episode that an adaptive controller aims at."""
    horizon: int = setting(10000, low=1)
    """Episodes over which it gets there."""


@dataclass(kw_only=True)
class OptimSettings(Settings):
    """AdamW and its schedule."""

    lr: float = setting(1e-6, low=0.0)
    """Learning rate, after warm-up and before decay."""
    weight_decay: float = setting(0.0, low=0.0)
    """Of AdamW."""
    beta1: float = setting(0.9, low=0.0, high=1.0)
    """Of AdamW."""
    beta2: float = setting(0.999, low=0.0, high=1.0)
    """Of AdamW."""
    warmup_ratio: float = setting(0.0, low=0.0, high=1.0)
    """Share of the steps in which the rate rises."""
    schedule: str = setting("constant", choices=("constant", "linear", "cosine"))
    """After the warm-up, over the steps of the whole run."""
    min_lr_ratio: float = setting(0.0, low=0.0, high=1.0)
    """Share of lr that a schedule falls to."""
    max_grad_norm: float = setting(1.0, low=0.0)
    """Gradients are scaled down to this norm; 0 never."""


@dataclass(kw_only=True)
class CriticModelSettings(Settings):
    """Where the critic's backbone comes from."""

    path: str | None = None
    """None: a copy of the policy's backbone."""


@dataclass(kw_only=True)
class CriticSettings(Settings):
    """The value model; only with the estimator gae."""

    model: CriticModelSettings = field(default_factory=CriticModelSettings)
    optim: OptimSettings = field(default_factory=lambda: OptimSettings(lr=1e-5))
    value_clip: float = setting(0.5, low=0.0)
    """A value may move so far from its old one in a batch."""
    warmup_steps: int = setting(0, low=0)
    """Steps in which only the critic learns."""


@dataclass(kw_only=True)
class FsdpSettings(Settings):
    """Sharding."""

    cpu_offload: bool = False
    """Parameters and optimizer in main memory between passes."""
    shard_size: int | None = setting(None, low=1)
    """Ranks that share one copy; None: all."""
    sequence_parallel: int = setting(1, choices=(1,))
    """Only 1 for now."""


@dataclass(kw_only=True)
class CheckpointSettings(Settings):
    """Saving and going on."""

    every: int | None = setting(None, low=1)
    """Steps between two; None: only at the end."""
    dir: str | None = None
    """None: `checkpoints` in the run's folder."""
    keep: int = setting(3, low=1)
    """Newest checkpoints that stay; the best one stays besides."""
    resume: str = "auto"
    """auto, never, or a checkpoint's folder."""


@dataclass(kw_only=True)
class EvaluationSettings(Settings):
    """Validation on a fixed held-out set."""

    every: int | None = setting(None, low=1)
    """Steps between two; None: none during training."""
    before: bool = True
    """Also before the first step; with this or with `every` also after the last."""
    split: str = "dev"
    """Must share no task with what is trained on."""
    tasks: int = setting(64, low=1)
    """Of each environment."""
    max_steps: int | None = setting(None, low=1)
    """Never the curriculum's limit; None: the environment's own."""
    temperature: float = setting(1.0, low=0.0)
    """Of sampling, with the same seeds at every validation."""
    only: bool = False
    """Evaluate once and train nothing."""
    metric: str = setting("success", choices=("success", "reward"))
    """What makes a checkpoint the best."""
    stop_at: float | None = None
    """A score at which the run is complete before its last step; None: it never is."""


@dataclass(kw_only=True)
class TasksSettings(Settings):
    """The order of tasks."""

    shuffle: bool = True
    """Every epoch in an order of its own, by `run.seed`."""


@dataclass(kw_only=True)
class StopSettings(Settings):
    """When a run gives up; each says why."""

    kl: float | None = setting(None, low=0.0)
    """Mean KL to the reference (or, without one, to the old policy) over this."""
    entropy: float | None = setting(None, low=0.0)
    """Mean entropy of sampled tokens under this, in nats."""
    zero_groups: int = setting(10, low=1)
    """Batches in a row with nothing to learn."""


@dataclass(kw_only=True)
class LaunchSettings(Settings):
    """How ranks start."""

    nodes: int = setting(1, low=1)
    """Machines; with several start torchrun on each."""
    processes_per_node: int = setting(1, low=1)
    """Ranks on one machine; more than one starts torchrun by itself."""


@dataclass(kw_only=True)
class TrainConfig(Settings):
    """Everything."""

    run: RunSettings = field(default_factory=RunSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    environments: list[EnvironmentSettings] = field(default_factory=list)
    tasks: TasksSettings = field(default_factory=TasksSettings)
    rollout: RolloutSettings = field(default_factory=RolloutSettings)
    reward: RewardSettings = field(default_factory=RewardSettings)
    batch: BatchSettings = field(default_factory=BatchSettings)
    algorithm: AlgorithmSettings = field(default_factory=AlgorithmSettings)
    loss: LossSettings = field(default_factory=LossSettings)
    kl: KlSettings = field(default_factory=KlSettings)
    optim: OptimSettings = field(default_factory=OptimSettings)
    critic: CriticSettings = field(default_factory=CriticSettings)
    fsdp: FsdpSettings = field(default_factory=FsdpSettings)
    checkpoint: CheckpointSettings = field(default_factory=CheckpointSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    stop: StopSettings = field(default_factory=StopSettings)
    launch: LaunchSettings = field(default_factory=LaunchSettings)
