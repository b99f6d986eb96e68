"""The bodies that travel under `/v1`: requests refuse unknown fields, replies may grow within a protocol version.

Server and client share these types. The local transport passes the objects themselves, the others their JSON. Those of
a step are kept out of garbage collection (`gc=False`): they hold JSON values, so no cycles, and there are many of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agentenv.errors import BY_CODE, AgentEnvError, BadRequest, MalformedJson

MAX_DETAIL = 2000
"""Characters of a problem's detail: an env's exception, or a value that a client sent, may be pages long."""


class TaskAtBody(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A task by place: index or seed, exactly one."""

    split: str
    index: int | None = None
    seed: int | None = None


class ActionBody(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An action that may be malformed; a plain string is short for `{text}`."""

    text: str
    malformed: str | None = None


class CreateBody(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """POST /v1/sessions."""

    env: str
    task: str | TaskAtBody
    options: dict[str, Any] = {}
    max_steps: int | None = None
    images: bool = False
    key: str | None = None


class ResetBody(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """POST /v1/sessions/{id}/reset."""

    task: str | TaskAtBody
    episode: int | None = None


class StepBody(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """POST /v1/sessions/{id}/step."""

    action: str | ActionBody
    episode: int | None = None
    step: int | None = None


class GetBody(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """GET /v1/sessions/{id}?actions=1."""

    actions: bool = False


class DeleteBody(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """DELETE /v1/sessions/{id}?outcome="""

    outcome: str | None = None


class OracleBody(Struct, forbid_unknown_fields=True):
    """GET /v1/sessions/{id}/oracle."""


class CreateCall(Struct, tag_field="op", tag="create", forbid_unknown_fields=True):
    """Envelope of a create."""

    body: CreateBody
    id: int | str = 0


class ResetCall(Struct, tag_field="op", tag="reset", forbid_unknown_fields=True):
    """Envelope of a reset."""

    session: str
    body: ResetBody
    id: int | str = 0


class StepCall(Struct, tag_field="op", tag="step", forbid_unknown_fields=True, gc=False):
    """Envelope of a step."""

    session: str
    body: StepBody
    id: int | str = 0


class GetCall(Struct, tag_field="op", tag="get", forbid_unknown_fields=True):
    """Envelope of a get."""

    session: str
    body: GetBody = msgspec.field(default_factory=GetBody)
    id: int | str = 0


class DeleteCall(Struct, tag_field="op", tag="delete", forbid_unknown_fields=True):
    """Envelope of a delete."""

    session: str
    body: DeleteBody = msgspec.field(default_factory=DeleteBody)
    id: int | str = 0


class OracleCall(Struct, tag_field="op", tag="oracle", forbid_unknown_fields=True):
    """Envelope of an oracle request."""

    session: str
    body: OracleBody = msgspec.field(default_factory=OracleBody)
    id: int | str = 0


Call = CreateCall | ResetCall | StepCall | GetCall | DeleteCall | OracleCall
"""One request. `id` is the caller's, unique among its requests in flight; it comes back with the reply."""


class TaskRefBody(Struct):
    """A TaskRef as it travels."""

    id: str
    env: str
    split: str
    index: int
    category: str
    difficulty: int
    template: str
    digest: str


class LimitsBody(Struct):
    """What the server allows this session; clients derive their time-outs from it. Seconds, bytes, counts."""

    reset_s: float
    step_s: float
    episode_s: float
    lease_s: float
    max_steps: int
    max_action_bytes: int
    max_observation_bytes: int
    max_body_bytes: int
    max_batch: int
    max_inflight: int


class CreateReply(Struct):
    """201 of a create."""

    session: str
    endpoint: str | None
    limits: LimitsBody
    task: TaskRefBody
    observation: str
    info: dict[str, Any]
    episode: int = 0
    step: int = 0
    image: bytes | None = None


class ResetReply(Struct):
    """200 of a reset."""

    task: TaskRefBody
    observation: str
    info: dict[str, Any]
    episode: int
    max_steps: int
    step: int = 0
    image: bytes | None = None


class StepReply(Struct, gc=False):
    """200 of a step, and the final result that a delete returns. `step` is the position after the call."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    outcome: str | None
    success: bool | None
    score: float | None
    info: dict[str, Any]
    episode: int
    step: int
    image: bytes | None = None


class StateReply(Struct):
    """200 of a get."""

    session: str
    env: str
    task: TaskRefBody
    """Its category, difficulty and template left out: an agent reads this."""
    observation: str
    episode: int
    step: int
    outcome: str | None
    lease_left_s: float
    available_actions: list[str] | UnsetType | None = UNSET
    """Only when asked for; null where the actions have no bound."""


class OracleReply(Struct):
    """200 of an oracle request."""

    action: str
    episode: int
    step: int


ReplyBody = CreateReply | ResetReply | StepReply | StateReply | OracleReply


class Problem(Struct, omit_defaults=True):
    """RFC 9457 problem document; `extra` members travel beside the others."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    retryable: bool
    extra: dict[str, Any] = {}

    @classmethod
    def of(cls, error: AgentEnvError) -> Problem:
        """The document of an error."""
        return cls(
            type=f"urn:agentenv:{error.code}",
            title=error.code.replace("_", " "),
            status=error.status,
            detail=clean_text(_shortened(error.message)),
            code=error.code,
            retryable=error.retryable,
            extra=error.extra,
        )

    def error(self) -> AgentEnvError:
        """The exception that it stands for; an unknown code becomes an AgentEnvError that names it."""
        cls = BY_CODE.get(self.code)
        if cls is None:
            return AgentEnvError(f"{self.code}: {self.detail}", **self.extra)
        return cls(self.detail, **self.extra)


class Reply(Struct, gc=False):
    """What came back for a call: a body on success, a problem otherwise."""

    status: int
    body: ReplyBody | Problem
    retry_after_s: float | None = None


REPLY_TYPES: dict[type[Struct], type[Struct]] = {
    CreateCall: CreateReply,
    ResetCall: ResetReply,
    StepCall: StepReply,
    DeleteCall: StepReply,
    GetCall: StateReply,
    OracleCall: OracleReply,
}

_SURROGATE_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?|\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\."
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD, so that it can be encoded."""
    return text if text.isascii() else _SURROGATE.sub("�", text)


def clean_info(value: Any) -> Any:
    """JSON values with lone surrogates replaced in every string."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(k): clean_info(v) for k, v in value.items()}
    return [clean_info(v) for v in value] if isinstance(value, list) else value


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_DETAIL else f"{text[:MAX_DETAIL]} [... {len(text) - MAX_DETAIL} more characters]"


def decode(data: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Decode JSON; escapes of lone surrogates become U+FFFD. Raises MalformedJson or BadRequest."""
    try:
        return _decode(data, decoder)
    except MalformedJson:
        repaired = _SURROGATE_ESCAPE.sub(_repair, data)
        if repaired == data:
            raise
    return _decode(repaired, decoder)


def _decode(data: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as exc:
        raise BadRequest(str(exc)) from exc
    except msgspec.DecodeError as exc:
        raise MalformedJson(f"not JSON: {exc}") from exc
    except RecursionError as exc:
        raise MalformedJson("not JSON that this server reads: nested too deeply") from exc


def _repair(match: re.Match[bytes]) -> bytes:
    """Keep pairs and other escapes; a lone surrogate becomes the replacement character."""
    found = match.group()
    lone = len(found) == 6 and found[1:3].lower() == b"ud"
    return b"\\ufffd" if lone else found


def encode_problem(problem: Problem) -> bytes:
    """JSON of a problem with its extra members at the top level."""
    fields = {name: getattr(problem, name) for name in problem.__struct_fields__ if name != "extra"}
    return msgspec.json.encode({**problem.extra, **fields})


def decode_problem(data: bytes) -> Problem:
    """The problem of a JSON document; members that it does not know go to `extra`."""
    fields = msgspec.json.decode(data, type=dict[str, Any])
    known = {name: fields.pop(name) for name in Problem.__struct_fields__ if name in fields and name != "extra"}
    return msgspec.convert({**known, "extra": fields}, Problem)
