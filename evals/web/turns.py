"""A turn as it is shown: what the agent saw, what the model wrote, what was made of it, and what came of that."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from agentenv.trajectory import Turn
from evals.web.tags import refusal

TOKENS = 3000
"""Of one turn that are drawn."""

_IMAGE = re.compile(r"data:image/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}")
_BOUNDS = (-0.05, -0.5, -1.5, -3.0)
"""Log-probabilities at which the colour of a token changes, the surest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One that the policy sampled."""

    id: int
    logprob: float | None
    shade: int
    """0 is sure, 4 is a surprise; -1 is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One of the conversation."""

    role: str
    text: str
    images: list[str]
    rest: str
    """Other fields, as JSON."""
    repeats: bool = False
    """Its text is the turn's observation, letter by letter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn."""

    number: int
    observation: str
    completion: str | None
    """As the model gave it; None where nothing was sampled."""
    action: str
    malformed: str | None
    refused: str | None
    reward: float
    total: float
    """Rewards so far."""
    repeated: bool
    """The same action as in the turn before."""
    messages: list[Message]
    images: list[str]
    """Screenshots, as data URLs."""
    tokens: list[Token]
    token_count: int
    mean_logprob: float | None
    about: list[tuple[str, str]]
    """Counts that the record has: tokens, seconds, cost."""
    info: str
    """What the step told besides, as JSON."""
    available: list[str] | None

    @property
    def wrong(self) -> bool:
        """Whether something went wrong here."""
        return self.malformed is not None or self.refused is not None


def views(turns: Sequence[Turn]) -> list[TurnView]:
    """All turns of an episode."""
    found, total, last = [], 0.0, None
    for number, turn in enumerate(turns):
        total += turn.reward
        found.append(_view(number, turn, total, repeated=turn.action == last))
        last = turn.action
    return found


def _view(number: int, turn: Turn, total: float, *, repeated: bool) -> TurnView:
    notes = turn.info.get("agent")
    notes = notes if isinstance(notes, Mapping) else {}
    info = {name: value for name, value in turn.info.items() if name != "agent"}
    messages = [message_of(message) for message in turn.messages or []]
    messages = [replace(message, repeats=message.text == turn.observation) for message in messages]
    return TurnView(
        number=number,
        observation=turn.observation,
        completion=_completion(turn, notes),
        action=turn.action,
        malformed=turn.malformed,
        refused=None if turn.malformed is not None else refusal(turn.info, turn.action, turn.available_actions),
        reward=turn.reward,
        total=total,
        repeated=repeated,
        messages=messages,
        images=[*_images(info), *(image for message in messages for image in message.images)],
        tokens=tokens_of(turn),
        token_count=len(turn.token_ids or []),
        mean_logprob=sum(turn.logprobs) / len(turn.logprobs) if turn.logprobs else None,
        about=_about(turn, notes),
        info=_pretty(info) if info else "",
        available=turn.available_actions,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One of the conditions that an episode was judged by."""

    passed: bool
    text: str


def checks_of(turns: Sequence[Turn]) -> list[Check]:
    """The conditions that the last step tells in `info.checks`, with what was found; failed ones first."""
    told = turns[-1].info.get("checks") if turns else None
    found = [item for item in told if isinstance(item, Mapping) and "passed" in item] if isinstance(told, list) else []
    checks = [
        Check(
            passed=item["passed"] is True,
            text=": ".join(_pretty(item[name]) for name in ("check", "reason") if item.get(name)),
        )
        for item in found
    ]
    return sorted(checks, key=lambda check: check.passed)


def _completion(turn: Turn, notes: Mapping[str, Any]) -> str | None:
    """The raw text; else the model's reply as it stands in the conversation."""
    raw = notes.get("raw")
    if isinstance(raw, str) and raw:
        return raw
    for message in reversed(turn.messages or []):
        if message.get("role") == "assistant":
            shown = message_of(message)
            return "\n".join(part for part in (shown.text, shown.rest) if part)
    return None


def message_of(message: Mapping[str, Any]) -> Message:
    """A message whose content is a text, or parts of which some are images."""
    content = message.get("content")
    texts, images = [], []
    if isinstance(content, str):
        texts.append(content)
    elif isinstance(content, list):
        for piece in content:
            image = _image(piece)
            if image is not None:
                images.append(image)
            elif isinstance(piece, Mapping) and isinstance(piece.get("text"), str):
                texts.append(piece["text"])
            else:
                texts.append(_pretty(piece))
    elif content is not None:
        texts.append(_pretty(content))
    rest = {name: value for name, value in message.items() if name not in ("role", "content") and value is not None}
    return Message(
        role=str(message.get("role", "?")), text="\n".join(texts), images=images, rest=_pretty(rest) if rest else ""
    )


def _image(piece: Any) -> str | None:
    """The data URL of an image part; anything else is no image, so that nothing is fetched from elsewhere."""
    url = piece.get("image_url") if isinstance(piece, Mapping) else None
    url = url.get("url") if isinstance(url, Mapping) else url
    return url if isinstance(url, str) and _IMAGE.fullmatch(url) else None


def _images(info: Mapping[str, Any]) -> list[str]:
    """Screenshots that the step's info holds."""
    return [
        value
        for name, value in info.items()
        if name in ("image", "screenshot") and isinstance(value, str) and _IMAGE.fullmatch(value)
    ]


def tokens_of(turn: Turn) -> list[Token]:
    """The sampled tokens by how sure the policy was."""
    ids = (turn.token_ids or [])[:TOKENS]
    known = turn.logprobs or []
    logprobs = [known[i] if i < len(known) else None for i in range(len(ids))]
    return [Token(id=id_, logprob=p, shade=shade(p)) for id_, p in zip(ids, logprobs, strict=True)]


def drawn(tokens: Sequence[Token]) -> Markup:
    """The tokens as elements. There are thousands, too many for a template's loop, and only numbers go in."""
    return Markup(" ".join(map(_span, tokens)))


def _span(token: Token) -> str:
    shade = "x" if token.shade < 0 else f"{token.shade:d}"
    title = "no log-probability" if token.logprob is None else f"log-probability {token.logprob:.4f}"
    return f'<span class="token t{shade}" title="{title}">{token.id:d}</span>'


def shade(logprob: float | None) -> int:
    """0 for a token that the policy was sure of, up to 4."""
    return -1 if logprob is None else sum(logprob < bound for bound in _BOUNDS)


def _about(turn: Turn, notes: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = {
        "prompt_tokens": "prompt tokens", "completion_tokens": "completion tokens",
        "reasoning_tokens": "of these reasoning", "cached_tokens": "cached prompt tokens",
        "finish_reason": "finish reason", "latency_s": "seconds", "cost": "cost", "retries": "retries",
    }  # fmt: skip
    found = [(title, str(notes[name])) for name, title in names.items() if notes.get(name) is not None]
    own = {"prompt length": turn.prompt_len, "weights": turn.policy_version, "fresh prompt": turn.fresh}
    return [*found, *((title, str(value)) for title, value in own.items() if value is not None)]


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
