"""Frames on the socket, and the environment that the process gets."""

import io
import socket

import pytest

from trainers.engines import vllm_process, vllm_worker


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ({"kind": "generate", "id": 1, "prompt_ids": [1, 2, 3]}, b""),
        ({"kind": "push", "id": 2, "files": []}, bytes(range(256)) * 9),
        ({"kind": "failed", "id": 3, "error": "außer Atem ⚠"}, b""),
        ({"logprobs": [-1.1920928955078125e-07, -12.345678329467773]}, b""),
    ],
)
def test_a_frame_reads_as_it_was_written(header, body):
    stream = io.BytesIO(vllm_worker.frame(header, body) + b"next")
    assert vllm_worker.read_frame(stream) == (header, body)
    assert stream.read() == b"next"


def test_a_frame_cut_anywhere_is_the_end():
    whole = vllm_worker.frame({"kind": "close"}, b"body")
    for length in range(len(whole)):
        assert vllm_worker.read_frame(io.BytesIO(whole[:length])) is None


class Caching:
    """The side of vLLM's engine that a push meets: its prefix cache is free after so many tries."""

    def __init__(self, tries: float) -> None:
        self.tries, self.pushed = tries, []

    def collective_rpc(self, method, args):
        self.pushed.append((method, args))

    def reset_prefix_cache(self) -> bool:
        self.tries -= 1
        return self.tries <= 0


@pytest.mark.parametrize(("tries", "kind"), [(3, "done"), (float("inf"), "failed")])
def test_a_prefix_cache_that_stays_is_an_error_of_the_push(monkeypatch, tries, kind):
    monkeypatch.setattr(vllm_worker.time, "sleep", lambda _: None)
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb") as answers:
        worker = vllm_worker.Worker(theirs)
        worker._engine = Caching(tries)
        worker._take({"kind": "push", "id": 7, "files": ["a.safetensors"]}, b"")
        header, _ = vllm_worker.read_frame(answers)
    assert worker._engine.pushed == [("agentenv_push", (["a.safetensors"], b""))]
    assert (header["kind"], header["id"]) == (kind, 7)
    assert kind == "done" or "reset_prefix_cache() gave False" in header["error"]


def test_the_process_inherits_no_rank_and_no_python_path():
    inherited = {
        "RANK": "1",
        "WORLD_SIZE": "2",
        "LOCAL_RANK": "1",
        "MASTER_ADDR": "a",
        "MASTER_PORT": "1",
        "TORCHELASTIC_RUN_ID": "x",
        "PYTHONPATH": "/elsewhere",
        "PATH": "/bin",
        "VLLM_CPU_KVCACHE_SPACE": "4",
    }
    found = vllm_process._environment(inherited, {"VLLM_LOGGING_LEVEL": "DEBUG"}, "/home", 3)
    assert not {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"} & set(found)
    assert found["PYTHONPATH"] == "/home"
    assert found["PATH"] == "/bin"
    assert found["OMP_NUM_THREADS"] == "3"
    assert found["VLLM_CPU_KVCACHE_SPACE"] == "4"  # the user's own goes before ours
    assert found["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert found["VLLM_NO_USAGE_STATS"] == "1"
