"""The one record of an episode that trainers, evals and viewers share: one JSON object a line.

Readers accept older versions and refuse newer ones by name. Version 2 adds pictures; a record that holds none is
written as version 1, which older readers know, and has the digests that it always had.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec

from agentenv.errors import BadCall
from agentenv.protocol import Outcome, TaskRef
from agentenv.wire import clean_text

VERSION = 2
"""The newest one that is read."""

WITH_PICTURES = 2

Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]

_PICTURES = ("image", "final_image")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One completion of a model (or move of a script) and the step that it became.

    Example of a turn with tokens: `prompt_ids=[7, 8]` (what was added to the prompt), `token_ids=[200, 201, 1]`,
    `logprobs=[-0.1, -2.3, -0.01]`: equally long, all three sampled.
    """

    observation: str
    """What the agent saw before it acted."""
    action: str
    reward: float
    """Of this step."""
    malformed: str | None = None
    """Why the completion was no action."""
    available_actions: list[str] | None = None
    messages: list[dict[str, Any]] | None = None
    """What was added to the conversation in this turn, the model's reply last."""
    prompt_ids: list[int] | None = None
    """[P] prompt tokens added since the last sampled token; the whole prompt when `fresh`."""
    fresh: bool | None = None
    """The prompt was rendered anew and does not continue the tokens before it."""
    prompt_len: int | None = None
    """Tokens in the whole prompt of this turn."""
    token_ids: list[int] | None = None
    """[T] what the policy sampled, as sampled."""
    logprobs: list[float] | None = None
    """[T] log-probability of each token under the policy that sampled it."""
    policy_version: int | None = None
    """Weights that sampled this turn."""
    image: Sha256 | None = None
    """sha256 of the PNG that the environment showed beside `observation`, where pictures were asked for. The file lies
    in the folder of the record's pictures (`agentenv.pictures`)."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """The step's info, and under `agent` what the agent noted: token counts, latency_s, extra_text, retries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One episode."""

    task: TaskRef
    env: str
    env_version: str
    agent: Mapping[str, Any]
    """The agent's own description: name, version, prompt, sampling, limits."""
    outcome: Outcome
    success: bool
    """The env's own rule; False for every cut episode that `finish` did not score."""
    reward: float
    """Sum over the turns: the episode's return."""
    last_reward: float
    """Reward of the last turn alone, for metrics of the AgentGym kind."""
    score: float | None
    """The env's raw score; None where there is none, never 0 in its place."""
    steps: int
    turns: list[Turn]
    env_options: Mapping[str, Any] = field(default_factory=dict)
    max_steps: int = 0
    tasks_digest: str = ""
    oracle: bool = False
    """The oracle route was asked in this episode."""
    final_observation: str = ""
    """What the last step showed; no agent acted on it."""
    final_image: Sha256 | None = None
    """The picture beside it."""
    error: str | None = None
    """Why the episode is invalid, or what cut it."""
    time: Mapping[str, float] = field(default_factory=dict)
    """Seconds by part: total, agent, env."""
    version: int = 1

    def __post_init__(self) -> None:
        """Pictures are what version 2 adds."""
        if self.version < WITH_PICTURES and (self.final_image or any(turn.image for turn in self.turns)):
            object.__setattr__(self, "version", WITH_PICTURES)

    def to_json(self) -> str:
        """One line of JSON; fields at their default of None are left out."""
        record = as_values(self)
        record["turns"] = [{k: v for k, v in turn.items() if v is not None and v != {}} for turn in record["turns"]]
        return clean_text(json.dumps(record, ensure_ascii=False, allow_nan=False))

    @classmethod
    def from_json(cls, line: str | bytes) -> Trajectory:
        """Read one line; BadCall names what is wrong with it."""
        try:
            record = json.loads(line)
            version = record["version"]
        except (ValueError, KeyError, TypeError) as exc:
            raise BadCall(f"not a trajectory: {type(exc).__name__}: {exc}") from exc
        if type(version) is not int or version < 1:
            raise BadCall(f"not a trajectory: version {version!r}")
        if version > VERSION:
            raise BadCall(
                f"trajectory version {version} is newer than {VERSION}, which this agentenv reads; upgrade it"
            )
        _known(cls, record, "trajectory")
        _known(TaskRef, record["task"], "task")
        for turn in record["turns"] if isinstance(record["turns"], list) else ():
            _known(Turn, turn, "turn")
        try:
            return msgspec.convert(record, cls)
        except msgspec.ValidationError as exc:
            raise BadCall(f"not a trajectory: {exc}") from exc


def as_values(record: Trajectory | Turn) -> dict[str, Any]:
    """All fields as JSON values, those of pictures only where there is one: else older digests would change."""
    return {name: value for name, value in asdict(record).items() if value is not None or name not in _PICTURES}


def _known(cls: type, record: Any, what: str) -> None:
    if not isinstance(record, dict):
        raise BadCall(f"not a {what}: {type(record).__name__}, not an object")
    names = {f.name: f for f in fields(cls)}
    missing = [n for n, f in names.items() if f.default is MISSING and f.default_factory is MISSING and n not in record]
    if missing:
        raise BadCall(f"not a {what}: no field {', '.join(missing)}")
    unknown = [n for n in record if n not in names]
    if unknown:
        raise BadCall(f"not a {what}: unknown field {', '.join(unknown)}")


def write_jsonl(trajectories: Iterable[Trajectory], file: IO[str]) -> int:
    """Write one line each; returns how many."""
    count = 0
    for trajectory in trajectories:
        file.write(trajectory.to_json() + "\n")
        count += 1
    return count


def read_jsonl(path: Path) -> Iterator[Trajectory]:
    """The trajectories of a file; an error names file and line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield Trajectory.from_json(line)
            except BadCall as exc:
                raise BadCall(f"{path}:{number}: {exc.message}") from exc
