"""The policy behind a chat-completions endpoint: one request a completion, retried, adapted, and read with care."""

from __future__ import annotations

import asyncio
import difflib
import email.utils
import logging
import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from agentenv.endpoint.pace import Pace
from agentenv.endpoint.refusals import (
    ADAPTATIONS,
    Payload,
    Verdict,
    adaptation_for,
    is_context_full,
    is_refusal,
    refuses_tools,
    verdict_on,
)
from agentenv.endpoint.replies import MAX_REPLY_BYTES, Answer, Failure, model_names, read_reply
from agentenv.endpoint.settings import ROUTE, EndpointSettings
from agentenv.endpoint.spent import Spent
from agentenv.errors import BadCall, EpisodeCut, InfraError
from agentenv.policy import Completion, Message
from agentenv.protocol import Outcome
from agentenv.reasoning import split_reasoning

if TYPE_CHECKING:
    import aiohttp

KEY_VARIABLE = "OPENAI_API_KEY"
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
"""Between two tries, whatever the endpoint asks for."""
EMPTY = "(no answer)"
"""Sent in place of an empty earlier completion: some endpoints refuse an empty message."""
HELLO: Sequence[Message] = ({"role": "user", "content": "Answer with the one word: ready"},)
CALL_READY: Sequence[Message] = ({"role": "user", "content": "Call the tool `ready`."},)
READY: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "ready",
        "description": "Say that you are ready.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}
CHARACTERS_A_TOKEN = 4
"""About; for booking a request's place before the endpoint counts its tokens."""

log = logging.getLogger("agentenv.endpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """What one call before a run has shown."""

    reply: str
    model: str
    """As the endpoint calls it."""
    context_tokens: int | None
    """None when the endpoint does not say."""
    latency_s: float
    adaptations: tuple[str, ...]
    """What the endpoint made us change in every request."""

    def __str__(self) -> str:
        context = f"{self.context_tokens} tokens of context" if self.context_tokens else "context length not told"
        adapted = f"; adapted: {', '.join(self.adaptations)}" if self.adaptations else ""
        return f"{self.model} answered {self.reply[:80]!r} in {self.latency_s:.1f} s ({context}{adapted})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lost:
    """A try without a reply: the connection failed or took too long."""

    words: str

    def __str__(self) -> str:
        return self.words


class OpenAIPolicy:
    """Samples from an OpenAI-compatible endpoint; shared by all episodes of a run, closed at its end."""

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.spent = Spent()
        self.adaptations: list[str] = []
        """Learned so far, in order; they hold for every further request."""
        self._sleep = sleep
        self._pace = Pace(
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
            clock=clock,
        )
        self._tools: bool | None = None
        self._finding_out = asyncio.Lock()
        self._jitter = random.Random(0)  # spreads the tries of many episodes; no result depends on it
        self._http: aiohttp.ClientSession | None = None

    def describe(self) -> dict[str, Any]:
        """What makes two policies the same."""
        return self.settings.describe()

    async def complete(
        self, messages: Sequence[Message], *, seed: int | None = None, tools: Sequence[Mapping[str, Any]] = ()
    ) -> Completion:
        """Sample once; see `Policy.complete` for what it raises. `tools` are shown to the model as functions."""
        result, retries, latency_s = await self._ask(messages, seed, tools=tools)
        if not isinstance(result, Answer):
            raise self._cut(result, retries)
        completion = self._completion(result, retries, latency_s)
        self.spent.add(completion)
        if is_refusal(result):
            words = result.refusal or f"finish_reason {result.finish_reason}"
            raise EpisodeCut(Outcome.AGENT_ERROR, f"{self.settings.model} refused to answer: {words[:400]}")
        return completion

    def _cut(self, result: Failure | _Lost, retries: int) -> EpisodeCut:
        """How an episode ends that got no answer."""
        where = f"{self.settings.model} at {self.settings.base}"
        if isinstance(result, Failure):
            match verdict_on(result):
                case Verdict.CONTEXT_FULL:
                    return EpisodeCut(Outcome.CONTEXT_FULL, f"{where}: {result}")
                case Verdict.REFUSED:
                    return EpisodeCut(Outcome.AGENT_ERROR, f"{where}: refused by a content filter: {result}")
        return EpisodeCut(Outcome.INFRA_LOST, f"{where}, after {retries} retries: {result}")

    async def takes_tools(self) -> bool:
        """Whether the model answers with a call when it is given a tool; one small request, the first time only.

        EpisodeCut when the endpoint does not answer.
        """
        async with self._finding_out:
            if self._tools is None:
                self._tools = await self._find_out()
            return self._tools

    async def _find_out(self) -> bool:
        result, retries, _ = await self._ask(CALL_READY, None, retries=0, tools=[READY])
        if isinstance(result, Failure) and refuses_tools(result):
            return False
        if not isinstance(result, Answer):
            result, retries, _ = await self._ask(CALL_READY, None, tools=[READY])
        if isinstance(result, Answer):
            self.spent.add(self._completion(result, retries, 0.0))
            return bool(result.tool_calls)
        raise self._cut(result, retries)

    async def preflight(self) -> Preflight:
        """One call with the settings of the run, and a look at the list of models.

        Raises BadCall when URL, model, key or limits are wrong, InfraError when nothing usable answers. Leaves no
        connection open, so that another event loop may go on with this policy.
        """
        try:
            result, _, latency_s = await self._ask(HELLO, None, retries=1)
            names = await self._models()
        finally:
            await self.close()
        if not isinstance(result, Answer):
            self._explain(result, names)
        context = names.get(self.settings.model) or (next(iter(names.values())) if len(names) == 1 else None)
        if context is not None and (self.settings.max_tokens or 0) >= context:
            raise BadCall(
                f"max_tokens={self.settings.max_tokens} leaves no room in the {context} tokens of context of "
                f"{self.settings.model}; pass a smaller max_tokens"
            )
        completion = self._completion(result, 0, latency_s)
        self.spent.add(completion)
        return Preflight(
            reply=completion.text or result.content or result.reasoning,
            model=result.model or self.settings.model,
            context_tokens=context,
            latency_s=latency_s,
            adaptations=tuple(self.adaptations),
        )

    async def close(self) -> None:
        """Close the connections; idempotent, and a later call opens new ones."""
        http, self._http = self._http, None
        if http is not None:
            await http.close()

    async def _ask(
        self,
        messages: Sequence[Message],
        seed: int | None,
        *,
        retries: int | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> tuple[Answer | Failure | _Lost, int, float]:
        """Until there is an answer, a final refusal, or no retry left; with the retries and the last try's seconds."""
        allowed = self.settings.retries if retries is None else retries
        used = 0
        while True:
            payload = self._payload(messages, seed, tools)
            booked = await self._turn(payload)
            started = time.monotonic()
            result, wait_s = await self._post(payload)
            latency_s = time.monotonic() - started
            self._settle(booked, result)
            if isinstance(result, Answer):
                return result, used, latency_s
            if isinstance(result, Failure):
                if self._adapt(result, payload):
                    continue
                if verdict_on(result) is not Verdict.RETRY:
                    return result, used, latency_s
            if used == allowed:
                return result, used, latency_s
            used += 1
            if wait_s is not None:  # holds for the requests of all other episodes too
                self._pace.hold(self._pause(used, wait_s))
            else:
                await self._sleep(self._pause(used, wait_s))

    async def _turn(self, payload: Payload) -> int:
        """Wait until a request may start; the tokens that it was booked for."""
        tokens = 0
        if self.settings.tokens_per_minute is not None:
            characters = sum(len(str(message["content"])) for message in payload["messages"])
            tokens = characters // CHARACTERS_A_TOKEN + (self.settings.max_tokens or 0)
        await self._pass(self._pace.book(tokens))
        await self._pass(self._pace.held_s())  # the endpoint may have asked for it meanwhile
        return tokens

    async def _pass(self, seconds: float) -> None:
        if seconds > 0:
            await self._sleep(seconds)

    def _settle(self, booked: int, result: Answer | Failure | _Lost) -> None:
        """Give back what a request was booked for and did not take, where the endpoint tells it."""
        if isinstance(result, Answer) and result.prompt_tokens is not None and result.completion_tokens is not None:
            self._pace.correct(result.prompt_tokens + result.completion_tokens - booked)

    def _payload(
        self, messages: Sequence[Message], seed: int | None, tools: Sequence[Mapping[str, Any]] = ()
    ) -> Payload:
        payload: Payload = {
            "model": self.settings.model,
            "messages": [{**m, "content": m["content"] or (None if m.get("tool_calls") else EMPTY)} for m in messages],
            "stream": False,
        }
        if tools:
            payload.update(tools=list(tools), parallel_tool_calls=False)
        optional = {"temperature": self.settings.temperature, "max_tokens": self.settings.max_tokens, "seed": seed}
        payload.update({name: value for name, value in optional.items() if value is not None})
        for name in self.adaptations:
            payload = ADAPTATIONS[name].change(payload)
        return payload

    def _adapt(self, failure: Failure, payload: Payload) -> bool:
        """Whether the next request will differ from the refused one in what the endpoint complained about."""
        name = None if is_context_full(failure) else adaptation_for(failure, payload)
        if name is None:
            return False
        if name not in self.adaptations:  # else another episode has learned it while this request was under way
            self.adaptations.append(name)
            log.warning("%s at %s: from now on %s: %s", self.settings.model, self.settings.base, name, failure)
        return True

    def _pause(self, tries: int, wait_s: float | None) -> float:
        if wait_s is None:
            wait_s = FIRST_PAUSE_S * 2 ** (tries - 1) * self._jitter.uniform(0.75, 1.25)
        return min(LONGEST_PAUSE_S, wait_s)

    async def _post(self, payload: Payload) -> tuple[Answer | Failure | _Lost, float | None]:
        """One try, and the seconds that the endpoint asks to wait for."""
        import aiohttp

        try:
            async with self._session().post(
                self.settings.base + ROUTE, json=payload, headers=self._headers(), allow_redirects=False
            ) as response:
                body = await _read(response)
                if body is None:
                    return Failure(status=response.status, words=f"a reply of over {MAX_REPLY_BYTES} bytes"), None
                result = read_reply(response.status, body)
                if isinstance(result, Failure):
                    result = self._redacted(result)
                return result, asked_wait_s(response.headers, now=time.time())
        except TimeoutError:
            return _Lost(words=f"no reply within {self.settings.timeout_s:g} s"), None
        except (aiohttp.ClientError, OSError) as exc:
            return _Lost(words=f"{type(exc).__name__}: {exc}"), None

    async def _models(self) -> dict[str, int | None]:
        """The models that the endpoint lists; none when it does not."""
        import aiohttp

        try:
            url = self.settings.base + "/models"
            async with self._session().get(url, headers=self._headers(), allow_redirects=False) as response:
                body = await _read(response)
                return model_names(body) if response.status == 200 and body is not None else {}
        except (aiohttp.ClientError, OSError):
            return {}

    def _session(self) -> aiohttp.ClientSession:
        if self._http is None:
            import aiohttp

            self._http = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self.settings.timeout_s, sock_connect=30),
                connector=aiohttp.TCPConnector(limit=0),  # how many episodes run at once is the caller's to bound
            )
        return self._http

    def _headers(self) -> dict[str, str]:
        key = _key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _redacted(self, failure: Failure) -> Failure:
        key = _key()
        if not key or key not in failure.words:
            return failure
        return replace(failure, words=failure.words.replace(key, "***"))

    def _completion(self, answer: Answer, retries: int, latency_s: float) -> Completion:
        text, thoughts = split_reasoning(answer.content)
        notes: dict[str, Any] = {}
        if answer.reasoning:
            notes["reasoning"] = answer.reasoning
        if answer.model and answer.model != self.settings.model:
            notes["model"] = answer.model
        if self.adaptations:
            notes["adaptations"] = list(self.adaptations)
        return Completion(
            text=text,
            raw=answer.content if thoughts else "",
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            reasoning_tokens=answer.reasoning_tokens,
            cached_tokens=answer.cached_tokens,
            finish_reason=answer.finish_reason,
            retries=retries,
            latency_s=latency_s,
            tool_calls=answer.tool_calls,
            cost=self._cost(answer),
            notes=notes,
        )

    def _cost(self, answer: Answer) -> float | None:
        price = self.settings.price
        if price is None:
            return None
        return price.cost(
            prompt=answer.prompt_tokens,
            completion=answer.completion_tokens,
            cached=answer.cached_tokens,
            reasoning=answer.reasoning_tokens,
        )

    def _explain(self, result: Failure | _Lost, names: dict[str, int | None]) -> NoReturn:
        """Raise what a failed preflight means, with the next thing to do."""
        model, url = self.settings.model, self.settings.base
        if isinstance(result, _Lost):
            raise InfraError(f"no model endpoint answers at {url} ({result}); start it, or correct --model-url")
        match result.status:
            case 401 | 403:
                how = "is it the right one?" if _key() else "it is not set: `export OPENAI_API_KEY=...`"
                raise BadCall(f"{url} refuses the key in {KEY_VARIABLE} ({result}); {how}")
            case 404 if model in names or not names:
                raise BadCall(
                    f"{url} does not serve {model!r} ({result}); correct --model, or --model-url (often .../v1)"
                )
            case 404:
                close = difflib.get_close_matches(model, names, n=1)
                hint = f"did you mean --model {close[0]}?" if close else f"it has: {', '.join(sorted(names)[:20])}"
                raise BadCall(f"{url} has no model {model!r} ({result}); {hint}")
        match verdict_on(result):
            case Verdict.CONTEXT_FULL:
                limit = self.settings.max_tokens
                raise BadCall(f"{model} at {url} cannot fit max_tokens={limit} ({result}); pass a smaller max_tokens")
            case Verdict.RETRY:
                raise InfraError(f"{model} at {url} does not answer now ({result}); try again later")
        raise BadCall(f"{model} at {url} refuses a plain request ({result}); check --model, --model-url and settings")


def asked_wait_s(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds that an endpoint asks to wait; None when it does not, or not in a way that can be read."""
    exact = retry_after_s(headers.get("Retry-After-Ms"), now=now)
    return exact / 1000 if exact is not None else retry_after_s(headers.get("Retry-After"), now=now)


def retry_after_s(header: str | None, *, now: float) -> float | None:
    """Seconds in a Retry-After header, which is a number or a date; None when there is none that can be read."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


async def _read(response: aiohttp.ClientResponse) -> bytes | None:
    """The whole body, or None when it is over the limit."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(65_536):
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            return None
    return bytes(body)


def _key() -> str:
    return os.environ.get(KEY_VARIABLE, "").strip()
