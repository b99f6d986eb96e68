"""The engine `hf`: transformers in this process. It batches the requests that wait, and keeps caches between turns.

A forward pass runs in a thread, so that environments go on meanwhile. Between two tokens new requests join and ended
ones leave. With `lockstep` each request is computed alone and from its first token on: what it samples depends on
weights, prompt and seed only, bit for bit. Otherwise the neighbours in a batch may change the last bits of a number.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from agentenv.errors import BadCall, ClientClosed, EpisodeCut
from agentenv.policy import Sampled, Sampling
from trainers.engines import folder
from trainers.engines.errors import EngineFailed, PushFailed
from trainers.engines.options import options_of
from trainers.settings import BadSetting, Settings, setting

if TYPE_CHECKING:
    from trainers.engines.decoder import Decoder, Row

T = TypeVar("T")

CACHED_LAYERS = {"full_attention", "sliding_attention"}
"""Kinds of layers whose state is keys and values by token."""


@dataclass(kw_only=True)
class HfOptions(Settings):
    """What `rollout.engine_options` may have for this engine."""

    dtype: str = setting("auto", choices=("auto", "float32", "bfloat16", "float16"))
    """auto: bfloat16 on CUDA, else float32."""
    device: str = "auto"
    """As torch names it; auto: the first GPU, else the CPU."""
    threads: int | None = setting(None, low=1)
    """Of torch; None leaves its own choice."""
    context_tokens: int | None = setting(None, low=2)
    """Prompt and completion together; None: as many as the model has positions."""
    max_batch: int = setting(64, low=1)
    """Requests computed together."""
    cache_mb: int = setting(1024, low=0)
    """Memory for keys and values of episodes between two turns, in MiB."""
    lockstep: bool = False
    """One request after the other, without caches: equal bits whatever else runs."""


def make(path: str, *, stop_ids: Iterable[int] = (), **options: Any) -> HfEngine:
    """Load the model in the folder `path`; `options` are those of HfOptions, `stop_ids` come to those of the folder."""
    return HfEngine(path, options_of(HfOptions, options, "hf"), stop_ids)


class HfEngine:
    """agentenv.policy.Engine over a transformers model of its own."""

    def __init__(self, path: str, options: HfOptions, stop_ids: Iterable[int] = ()) -> None:
        self.version = 0
        self.context_tokens = folder.context_of(path, options.context_tokens)
        self.stop_ids = list(dict.fromkeys([*folder.stop_ids_of(path), *stop_ids]))
        self._max_batch = 1 if options.lockstep else options.max_batch
        self._decoder = _decoder(path, options, self.stop_ids)
        self.dtype = str(self._decoder.model.dtype).removeprefix("torch.")
        self._vocabulary = self._decoder.model.get_input_embeddings().num_embeddings
        self._thread = ThreadPoolExecutor(1, "hf-engine", initializer=_use_threads, initargs=(options.threads,))
        self._waiting: list[tuple[Row, asyncio.Future[None]]] = []
        self._running: dict[int, tuple[Row, asyncio.Future[None]]] = {}
        self._broken = ""
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: asyncio.Task[None]

    async def generate(self, prompt_ids: Sequence[int], sampling: Sampling) -> Sampled:
        """Sample once; EpisodeCut(`context_full`) when the prompt leaves no room for one token."""
        from trainers.engines.decoder import Row
        from trainers.engines.sampling import generator_of

        self._bind()
        self._check(prompt_ids, sampling)
        room = self.context_tokens - len(prompt_ids)
        if room < 1:
            raise EpisodeCut("context_full", f"{len(prompt_ids)} tokens fill the context of {self.context_tokens}")
        row = Row(
            tokens=list(prompt_ids),
            prompt_len=len(prompt_ids),
            limit=min(room, sampling.max_tokens),
            sampling=sampling,
            generator=generator_of(sampling.seed),
        )
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, ended))
        self._wake.set()
        try:
            await ended
        finally:
            row.abandoned = True
        return Sampled(
            token_ids=row.tokens[row.prompt_len :],
            logprobs=row.logprobs,
            finish_reason=row.finish_reason,
            policy_version=self.version,
        )

    async def score(self, token_ids: Sequence[int], start: int, temperature: float = 1.0) -> list[float]:
        """Log-probabilities of `token_ids[start:]`, each given all before it."""
        self._bind()
        self._check(token_ids, Sampling(temperature=temperature))
        if not 1 <= start < len(token_ids) <= self.context_tokens:
            raise BadCall(
                f"score from {start} of {len(token_ids)} tokens; start must be at least 1 and below their number, "
                f"which must not pass the context of {self.context_tokens}"
            )
        async with self._lock:
            return await self._in_thread(lambda: self._decoder.score(token_ids, start, temperature))

    async def push(self, weights: Iterable[tuple[str, Any]], version: int) -> None:
        """Copy every tensor into the parameter of its name, and drop every cache.

        Raises PushFailed for a name or shape that the model does not have, and for a parameter left out; the engine
        then refuses work until a push succeeds.
        """
        self._bind()
        async with self._lock:
            busy = sum(not row.abandoned for row, _ in [*self._waiting, *self._running.values()])
            if busy:
                raise BadCall(f"push of version {version} with {busy} requests under way; wait for them first")
            self._broken = f"the push of version {version} did not finish"
            await self._in_thread(self._decoder.clear)
            try:
                await self._copy(weights)
            except PushFailed as exc:
                self._broken = exc.message
                raise
            self.version = version
            self._broken = ""

    async def close(self) -> None:
        """End requests under way as lost, and free the model."""
        if self._closed:
            return
        self._closed = True
        for _, ended in [*self._waiting, *self._running.values()]:
            if not ended.done():
                ended.set_exception(EpisodeCut("infra_lost", "the engine was closed"))
        self._waiting.clear()
        self._running.clear()
        if self._loop is asyncio.get_running_loop():
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        self._thread.submit(self._decoder.clear)
        await asyncio.to_thread(self._thread.shutdown)
        del self._decoder

    async def _copy(self, weights: Iterable[tuple[str, Any]]) -> None:
        """In this thread: making a tensor may need the device and process group of the caller."""
        import torch

        model = self._decoder.model
        targets = model.state_dict()
        missing = {parameter.data_ptr(): name for name, parameter in model.named_parameters()}
        for name, tensor in weights:
            target = targets.get(name)
            if target is None:
                raise PushFailed(f"{name} is no parameter of the engine's model; the first is {next(iter(targets))}")
            if target.shape != tensor.shape:
                raise PushFailed(f"{name} has shape {tuple(tensor.shape)}; the engine's is {tuple(target.shape)}")
            with torch.no_grad():
                target.copy_(tensor)
            missing.pop(target.data_ptr(), None)
            await asyncio.sleep(0)
        if missing:
            raise PushFailed(f"the push left out {', '.join(sorted(missing.values()))}")

    def _check(self, token_ids: Sequence[int], sampling: Sampling) -> None:
        if self._closed:
            raise ClientClosed("the engine was closed")
        if self._broken:
            raise PushFailed(f"the engine's weights are not whole: {self._broken}; push again")
        if not token_ids:
            raise BadCall("a prompt needs at least one token")
        if min(token_ids) < 0 or max(token_ids) >= self._vocabulary:
            raise BadCall(f"token ids must lie between 0 and {self._vocabulary - 1}")
        if sampling.max_tokens < 1 or sampling.temperature < 0 or not 0 < sampling.top_p <= 1:
            raise BadCall(f"{sampling}: max_tokens is at least 1, temperature at least 0, top_p in (0, 1]")

    def _bind(self) -> None:
        """Start the worker in the running event loop; work of an earlier loop is given up."""
        if self._closed:
            raise ClientClosed("the engine was closed")
        loop = asyncio.get_running_loop()
        if self._loop is loop and not self._worker.done():
            return
        if self._loop is not None:
            self._waiting.clear()
            self._running.clear()
            self._thread.submit(self._decoder.clear)
        self._loop = loop
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._worker = loop.create_task(self._work(), name="hf-engine")

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            async with self._lock:
                self._running = {k: (row, ended) for k, (row, ended) in self._running.items() if not row.over}
                count = max(0, self._max_batch - len(self._running))
                taken, self._waiting = self._waiting[:count], self._waiting[count:]
                self._running |= {id(row): (row, ended) for row, ended in taken}
                new = [row for row, _ in taken]
                try:
                    over = await self._in_thread(lambda new=new: self._decoder.step(new))  # type: ignore[misc]
                except Exception as exc:
                    await self._fail(exc)
                    over = []
                for row in over:
                    _, ended = self._running.pop(id(row))
                    if not ended.done():
                        ended.set_result(None)
            if not self._waiting and not self._running:
                self._wake.clear()

    async def _fail(self, error: Exception) -> None:
        """A failed pass takes its requests with it; the next ones start clean."""
        lost, self._running = self._running, {}
        for _, ended in lost.values():
            if not ended.done():
                failure = EngineFailed(f"engine hf, version {self.version}: {type(error).__name__}: {error}")
                failure.__cause__ = error
                ended.set_exception(failure)
        await self._in_thread(self._decoder.clear)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


def _decoder(path: str, options: HfOptions, stop_ids: Sequence[int]) -> Decoder:
    import torch
    from transformers import AutoModelForCausalLM

    from trainers.engines.decoder import Decoder
    from trainers.engines.kv_cache import PrefixStore

    kinds = set(folder.config_of(path).get("layer_types") or []) - CACHED_LAYERS
    if kinds:
        raise BadSetting(f"the engine hf keeps keys and values only, {path} has layers of {sorted(kinds)}; use vllm")
    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = options.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
    model: Any
    try:
        model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype), attn_implementation="sdpa")
    except (OSError, ValueError) as exc:
        first_line = str(exc).strip().partition("\n")[0]
        raise BadSetting(f"the engine hf cannot load {path}: {first_line}") from exc
    if getattr(model, "_is_stateful", False):  # such as Mamba, which remembers no token by itself
        raise BadSetting(
            f"the engine hf keeps keys and values only; {type(model).__name__} has another state; use vllm"
        )
    model = model.to(device).eval().requires_grad_(False)
    cache_mb = 0 if options.lockstep else options.cache_mb
    return Decoder(model, stop_ids, PrefixStore(cache_mb * 2**20))


def _use_threads(count: int | None) -> None:
    if count is not None:
        import torch

        torch.set_num_threads(count)
