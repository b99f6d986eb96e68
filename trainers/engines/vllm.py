"""The engine `vllm`: vLLM 0.32 in a process of its own, with continuous batching.

Options are vLLM's own names (`max_num_seqs`, `tensor_parallel_size`, `enforce_eager`, ... and `VLLM_...`, which go
into the environment of the process) beside those of VllmOptions. `python` may name the interpreter of another virtual
environment that has vLLM; nothing else of this project needs to be installed there.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agentenv.errors import BadCall, ClientClosed, EpisodeCut
from agentenv.policy import Sampled, Sampling
from trainers.engines import folder
from trainers.engines.errors import EngineFailed, PushFailed
from trainers.engines.options import options_of
from trainers.engines.vllm_process import ProcessEnded, WorkerProcess
from trainers.settings import BadSetting, Settings, setting

FIXED = ("model", "skip_tokenizer_init", "logprobs_mode", "generation_config", "worker_extension_cls", "tokenizer")
"""Names of vLLM that this engine sets itself."""
SHARD_BYTES = 512 * 2**20
"""Of weights in one file."""


@dataclass(kw_only=True)
class VllmOptions(Settings):
    """What `rollout.engine_options` may have besides vLLM's own names."""

    python: str | None = None
    """Interpreter that has vLLM; None: this one."""
    threads: int | None = setting(None, low=1)
    """OMP_NUM_THREADS of the process: the cores that are really free, or OpenMP's spinning costs tenfold."""
    context_tokens: int | None = setting(None, low=2)
    """vLLM's max_model_len; None: in a run `rollout.max_episode_tokens`, else as many as the model has positions."""
    push_through: str = setting("files", choices=("files", "bytes"))
    """How weights get there: safetensors files in shared memory, or one message."""
    start_timeout_s: float = setting(600.0, low=1.0)
    """Until it must be ready."""
    log: str | None = None
    """File for what the process prints; None: one that close deletes."""


def make(path: str, *, stop_ids: Iterable[int] = (), **options: Any) -> VllmEngine:
    """Start vLLM with the model in the folder `path`; it gets ready while this returns.

    `stop_ids` come to those of the folder.
    """
    ours = {f.name for f in fields(VllmOptions)}
    own = options_of(VllmOptions, {k: v for k, v in options.items() if k in ours}, "vllm")
    theirs = {k: v for k, v in options.items() if k not in ours}
    for name in theirs:
        if name in FIXED:
            raise BadSetting(f"{name} is set by the engine vllm itself; leave it out")
    if own.context_tokens is not None and "max_model_len" in theirs:
        raise BadSetting("context_tokens and max_model_len are one thing; give one of them")
    return VllmEngine(path, own, theirs, stop_ids)


class VllmEngine:
    """agentenv.policy.Engine over a vLLM process."""

    def __init__(
        self, path: str, options: VllmOptions, theirs: Mapping[str, Any], stop_ids: Iterable[int] = ()
    ) -> None:
        args = {k: v for k, v in theirs.items() if not k.startswith("VLLM_")}
        environment = {k: str(v) for k, v in theirs.items() if k.startswith("VLLM_")}
        self.version = 0
        self.context_tokens = folder.context_of(path, args.pop("max_model_len", options.context_tokens))
        self.stop_ids = list(dict.fromkeys([*folder.stop_ids_of(path), *stop_ids]))
        self.dtype = ""
        """Known once the process is ready."""
        self._path = path
        self._shapes = folder.shapes_of(path)
        self._vocabulary: int = folder.config_of(path)["vocab_size"]
        self._through_files = options.push_through == "files"
        self._start_timeout_s = options.start_timeout_s
        self._broken = ""
        self._process = WorkerProcess(
            options.python, environment, threads=options.threads, log=Path(options.log) if options.log else None
        )
        self._started = self._process.send(
            {"kind": "start", "path": str(Path(path).resolve()), "args": args | {"max_model_len": self.context_tokens}}
        )

    async def generate(self, prompt_ids: Sequence[int], sampling: Sampling) -> Sampled:
        """Sample once; EpisodeCut(`context_full`) when the prompt leaves no room for one token.

        With top_p or top_k the log-probabilities are vLLM's, over the tokens that were left.
        EpisodeCut(`infra_lost`) when the process has ended.
        """
        self._check(prompt_ids)
        room = self.context_tokens - len(prompt_ids)
        if room < 1:
            raise EpisodeCut("context_full", f"{len(prompt_ids)} tokens fill the context of {self.context_tokens}")
        wanted = asdict(sampling) | {
            "max_tokens": min(room, sampling.max_tokens),
            "seed": sampling.seed % 2**63,
            "stop_token_ids": self.stop_ids,
            "ignore_eos": True,  # that one is of config.json, which the generation config overrides
        }
        try:
            await self._ready()
            found = await self._process.ask({"kind": "generate", "prompt_ids": list(prompt_ids), "sampling": wanted})
        except ProcessEnded as exc:
            raise EpisodeCut("infra_lost", exc.message) from exc
        return Sampled(
            token_ids=found["token_ids"],
            logprobs=found["logprobs"],
            finish_reason=found["finish_reason"],
            policy_version=self.version,
        )

    async def score(self, token_ids: Sequence[int], start: int, temperature: float = 1.0) -> list[float]:
        """Log-probabilities of `token_ids[start:]`, each given all before it."""
        self._check(token_ids)
        if not 1 <= start < len(token_ids) < self.context_tokens:
            raise BadCall(
                f"score from {start} of {len(token_ids)} tokens; start must be at least 1 and below their number, "
                f"which must be below the context of {self.context_tokens}"
            )
        await self._ready()
        asked = {"kind": "score", "token_ids": list(token_ids), "start": start, "temperature": temperature}
        scores: list[float] = (await self._process.ask(asked))["logprobs"]
        return scores

    async def push(self, weights: Iterable[tuple[str, Any]], version: int) -> None:
        """Hand over every tensor, and drop every cache.

        Raises PushFailed for a name or shape that the model's folder does not have, for one left out, and when vLLM
        refuses; the engine then refuses work until a push succeeds.
        """
        self._check([0], whole=False)
        await self._ready()
        if busy := self._process.busy:
            raise BadCall(f"push of version {version} with {busy} requests under way; wait for them first")
        self._broken = f"the push of version {version} did not finish"
        try:
            with tempfile.TemporaryDirectory(prefix="agentenv-push-", dir=_shared_memory()) as shared:
                shards = await self._write(weights, Path(shared))
                body = b""
                if not self._through_files:
                    body, shards = shards[0].read_bytes(), []
                await self._process.ask({"kind": "push", "files": [str(s) for s in shards]}, body)
        except PushFailed as exc:
            self._broken = exc.message
            raise
        except ProcessEnded:
            raise
        except EngineFailed as exc:
            self._broken = exc.message
            raise PushFailed(f"version {version}: {exc.message}") from exc
        self.version = version
        self._broken = ""

    async def close(self) -> None:
        """End the process and everything that it started."""
        await asyncio.to_thread(self._process.close)

    async def _ready(self) -> None:
        """Wait until vLLM has loaded; BadSetting or EngineFailed with its reason when it cannot."""
        if self.dtype:
            return
        try:
            async with asyncio.timeout(self._start_timeout_s):
                found = await asyncio.shield(asyncio.wrap_future(self._started))
        except TimeoutError:
            raise EngineFailed(f"vLLM was not ready after {self._start_timeout_s} s{self._process.tail()}") from None
        except EngineFailed as exc:
            if "is not an option of vLLM" in exc.message:
                raise BadSetting(f"rollout.engine_options: {exc.message}") from exc
            raise
        self.dtype = found["dtype"]

    async def _write(self, weights: Iterable[tuple[str, Any]], shared: Path) -> list[Path]:
        """Safetensors files in the engine's dtype, in this thread: making a tensor may need the caller's device."""
        import torch
        from safetensors.torch import save_file

        dtype = getattr(torch, self.dtype)
        missing = set(self._shapes)
        shards: list[Path] = []
        held: dict[str, Any] = {}
        size = 0

        def flush() -> None:
            shards.append(shared / f"{len(shards)}.safetensors")
            save_file(held, shards[-1])
            held.clear()

        for name, tensor in weights:
            _check_shape(name, tuple(tensor.shape), self._shapes)
            missing.discard(name)
            if tensor.is_floating_point():
                tensor = tensor.detach().to("cpu", dtype)
            held[name] = tensor.detach().cpu().contiguous()
            size += held[name].nbytes
            if size >= SHARD_BYTES and self._through_files:
                flush()
                size = 0
            await asyncio.sleep(0)
        if held or not shards:
            flush()
        if missing:
            raise PushFailed(f"the push left out {', '.join(sorted(missing))}")
        return shards

    def _check(self, token_ids: Sequence[int], *, whole: bool = True) -> None:
        if self._process.closed:
            raise ClientClosed("the engine was closed")
        if whole and self._broken:
            raise PushFailed(f"the engine's weights are not whole: {self._broken}; push again")
        if not token_ids:
            raise BadCall("a prompt needs at least one token")
        if min(token_ids) < 0 or max(token_ids) >= self._vocabulary:
            raise BadCall(f"token ids must lie between 0 and {self._vocabulary - 1}")


def _check_shape(name: str, shape: tuple[int, ...], shapes: Mapping[str, tuple[int, ...]]) -> None:
    known = shapes.get(name)
    if known is None and name.startswith("lm_head."):
        return  # of a tied model: vLLM drops it
    if known is None:
        raise PushFailed(f"{name} is no parameter of the engine's model; the first is {min(shapes)}")
    if known != shape:
        raise PushFailed(f"{name} has shape {shape}; the engine's is {known}")


def _shared_memory() -> str | None:
    """A folder in memory, where the system has one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
