"""The process side of the engine `vllm`: vLLM's LLMEngine behind a socket. It imports nothing of this project.

The engine copies this one file to a folder of its own and starts it as `python -P -m agentenv_vllm_worker FD`, maybe
with the interpreter of another virtual environment. Messages go both ways as a frame each:

    4 bytes   length of the header, big-endian
    8 bytes   length of the body
    header    JSON, an object
    body      bytes (only weights have one)

| from the engine | answer |
| --- | --- |
| start: id, path, args | done: id, dtype, vllm |
| generate: id, prompt_ids, sampling | done: id, token_ids, logprobs, finish_reason |
| score: id, token_ids, start, temperature | done: id, logprobs |
| push: id, files; or a body | done: id |
| abort: id | none |
| close | none; the process ends |

Or failed: id, error. An error of the engine itself ends the process, and with it every request.

One thread takes messages and steps the engine in turn, so requests join and leave between two tokens; another only
reads the socket. `VLLM_ENABLE_V1_MULTIPROCESSING=1` puts vLLM's core into one more process.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import queue
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

LENGTHS = struct.Struct(">IQ")
MODULE = "agentenv_vllm_worker"
"""The name of this file in the process."""
RESET_TRIES = 20
"""Tries, 0.1 s apart, to drop the prefix cache: a core in another process frees blocks a moment after an abort."""


def frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One message as bytes, the body left out when it is sent apart."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return LENGTHS.pack(len(text), len(body)) + text + body


def read_frame(stream: Any) -> tuple[dict[str, Any], bytes] | None:
    """The next message of a buffered binary file; None when the other side has gone."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    header_len, body_len = LENGTHS.unpack(lengths)
    text, body = stream.read(header_len), stream.read(body_len)
    if len(text) < header_len or len(body) < body_len:
        return None
    return json.loads(text), body


class WeightsExtension:
    """Methods that vLLM adds to its worker: they take over weights."""

    def agentenv_push(self, files: list[str], body: bytes) -> None:
        """Load safetensors, of files or of bytes, by their Hugging Face names."""
        self.reload_weights(weights_iterator=_tensors(files, body))  # type: ignore[attr-defined]
        self._agentenv_repack_tied_head()

    def _agentenv_repack_tied_head(self) -> None:
        """On the CPU a tied head multiplies by a packed copy of the embedding, which a reload leaves as it was."""
        from vllm.platforms import current_platform

        if not current_platform.is_cpu():
            return
        model = self.model_runner.get_model()  # type: ignore[attr-defined]
        if model.config.tie_word_embeddings:
            from vllm.model_executor.layers.utils import dispatch_cpu_unquantized_gemm

            model.lm_head.weight = model.model.embed_tokens.weight
            dispatch_cpu_unquantized_gemm(model.lm_head, remove_weight=False)


def _tensors(files: list[str], body: bytes) -> Iterator[tuple[str, Any]]:
    if body:
        from safetensors.torch import load

        yield from load(body).items()
    for file in files:
        from safetensors import safe_open

        with safe_open(file, framework="pt") as opened:
            for name in opened.keys():  # noqa: SIM118 - it is no mapping
                yield name, opened.get_tensor(name)


@dataclass
class Asked:
    """A message that waits for requests of its own."""

    id: int
    names: list[str]
    """Of its requests."""
    answer: Callable[[list[Any]], dict[str, Any]]
    """From their outputs, in order, to the reply."""
    outputs: dict[str, Any] = field(default_factory=dict)


class Worker:
    """Requests that came over the socket, side by side."""

    def __init__(self, connection: socket.socket) -> None:
        self._out = connection
        self._engine: Any = None
        self._asked: dict[int, Asked] = {}
        self._by_name: dict[str, Asked] = {}

    def run(self, messages: queue.Queue[tuple[dict[str, Any], bytes] | None]) -> None:
        """Answer until the other side closes or goes. What the engine raises in a step leaves as it is."""
        while True:
            while not (messages.empty() and self._by_name):
                message = messages.get()
                if message is None or message[0]["kind"] == "close":
                    return
                self._take(*message)
            for output in self._engine.step():
                if output.finished:
                    self._finished(output)

    def _take(self, header: dict[str, Any], body: bytes) -> None:
        number = header["id"]
        try:
            match header["kind"]:
                case "start":
                    self._reply(number, self._start(header["path"], header["args"]))
                case "push":
                    self._reply(number, self._push(header["files"], body))
                case "generate":
                    self._ask(number, [(header["prompt_ids"], header["sampling"])], _completion)
                case "score":
                    self._score(number, header["token_ids"], header["start"], header["temperature"])
                case "abort":
                    self._forget(number)
                case unknown:
                    raise ValueError(f"unknown message {unknown!r}")
        except Exception as exc:
            self._forget(number)
            self._send({"kind": "failed", "id": number, "error": f"{type(exc).__name__}: {exc}"})

    def _start(self, path: str, args: dict[str, Any]) -> dict[str, Any]:
        import vllm
        from vllm.engine.arg_utils import EngineArgs
        from vllm.platforms import current_platform
        from vllm.v1.engine.llm_engine import LLMEngine

        known = set(inspect.signature(EngineArgs).parameters)
        for name in args:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                raise ValueError(f"{name} is not an option of vLLM" + (f"; did you mean {close[0]}?" if close else ""))
        cpu = current_platform.is_cpu()
        defaults = {
            "dtype": "float32" if cpu else "bfloat16",
            "gpu_memory_utilization": 0.2 if cpu else 0.4,
            "max_num_seqs": 64,
            "disable_log_stats": True,
        } | ({"enforce_eager": True} if cpu else {})
        fixed = {
            "model": path,
            "skip_tokenizer_init": True,
            "logprobs_mode": "processed_logprobs",
            "generation_config": "vllm",
            "worker_extension_cls": f"{MODULE}.WeightsExtension",
        }
        self._engine = LLMEngine.from_engine_args(EngineArgs(**defaults | args | fixed))
        dtype = str(self._engine.model_config.dtype).removeprefix("torch.")
        return {"dtype": dtype, "vllm": vllm.__version__}

    def _push(self, files: list[str], body: bytes) -> dict[str, Any]:
        self._engine.collective_rpc("agentenv_push", args=(files, body))
        for _ in range(RESET_TRIES):
            if self._engine.reset_prefix_cache():
                return {}
            time.sleep(0.1)
        raise RuntimeError("reset_prefix_cache() gave False: caches of the old weights are still in use")

    def _score(self, number: int, token_ids: list[int], start: int, temperature: float) -> None:
        """vLLM does not scale a prompt's log-probabilities: at other temperatures each token is asked for alone."""
        if temperature == 1.0:

            def of_prompt(outputs: list[Any]) -> dict[str, Any]:
                steps = list(zip(outputs[0].prompt_logprobs, token_ids, strict=True))[start:]
                return {"logprobs": [step[token].logprob for step, token in steps]}

            self._ask(number, [(token_ids, {"max_tokens": 1, "prompt_logprobs": 0})], of_prompt)
            return
        given = token_ids[start:]

        def of_each(outputs: list[Any]) -> dict[str, Any]:
            steps = [output.outputs[0].logprobs[0] for output in outputs]
            return {"logprobs": [step[token].logprob for step, token in zip(steps, given, strict=True)]}

        wanted = {"max_tokens": 1, "temperature": temperature, "logprobs": 1}
        requests = [
            (token_ids[:at], wanted | {"logprob_token_ids": [token_ids[at]]}) for at in range(start, len(token_ids))
        ]
        self._ask(number, requests, of_each)

    def _ask(
        self,
        number: int,
        requests: list[tuple[list[int], dict[str, Any]]],
        answer: Callable[[list[Any]], dict[str, Any]],
    ) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        asked = Asked(number, [f"{number}.{i}" for i in range(len(requests))], answer)
        self._asked[number] = asked
        for name, (prompt_ids, sampling) in zip(asked.names, requests, strict=True):
            options = {"logprobs": 0, "detokenize": False, "output_kind": RequestOutputKind.FINAL_ONLY} | sampling
            self._engine.add_request(name, {"prompt_token_ids": prompt_ids}, SamplingParams(**options))
            self._by_name[name] = asked

    def _finished(self, output: Any) -> None:
        asked = self._by_name.pop(output.request_id)
        asked.outputs[output.request_id] = output
        if len(asked.outputs) == len(asked.names):
            del self._asked[asked.id]
            self._reply(asked.id, asked.answer([asked.outputs[name] for name in asked.names]))

    def _forget(self, number: int) -> None:
        asked = self._asked.pop(number, None)
        names = [name for name in (asked.names if asked else ()) if self._by_name.pop(name, None)]
        if names:
            self._engine.abort_request(names)

    def _reply(self, number: int, found: dict[str, Any]) -> None:
        self._send({"kind": "done", "id": number, **found})

    def _send(self, header: dict[str, Any]) -> None:
        self._out.sendall(frame(header))


def _completion(outputs: list[Any]) -> dict[str, Any]:
    sampled = outputs[0].outputs[0]
    ids = list(sampled.token_ids)
    logprobs = [step[token].logprob for step, token in zip(sampled.logprobs, ids, strict=True)]
    return {"token_ids": ids, "logprobs": logprobs, "finish_reason": sampled.finish_reason}


def serve(connection: socket.socket) -> None:
    """Read messages in a thread, also while the engine is busy."""
    messages: queue.Queue[tuple[dict[str, Any], bytes] | None] = queue.Queue()

    def read() -> None:
        with connection.makefile("rb") as stream:
            while (message := read_frame(stream)) is not None:
                messages.put(message)
        messages.put(None)

    threading.Thread(target=read, daemon=True).start()
    Worker(connection).run(messages)


def main() -> None:
    """Serve the socket whose number is the only argument."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    serve(socket.socket(fileno=descriptor))


if __name__ == "__main__":
    main()
