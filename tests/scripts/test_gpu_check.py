"""scripts/gpu_check.py in small on the CPU, with nothing installed beside torch and transformers."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "gpu_check.py"
ABSENT = ("wrapt", "gymnasium", "omegaconf", "msgspec", "aiohttp", "starlette", "typer", "sqlalchemy", "peft", "psutil")
NO_GPU = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("gpu_check", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_check"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["gpu_check"]


@pytest.mark.slow
def test_everything_runs_in_small_on_a_cpu_with_torch_and_transformers_alone(tmp_path):
    words = ["gpu_check.py", "--device", "cpu", "--tiny", "--json", str(tmp_path / "found.json")]
    program = (
        f"import runpy, sys; sys.modules.update(dict.fromkeys({ABSENT!r})); sys.argv = {words!r}; "
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], env=NO_GPU, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed == json.loads((tmp_path / "found.json").read_text())
    assert printed["ok"]
    assert {name.partition("/")[0] for name in printed["checks"]} == {"parity", "bf16", "step"}
    assert printed["figures"]["learner/packed/update_tokens_per_s"] > 0
    assert printed["figures"]["learner/packed/share_of_peak"] is None


def test_without_a_gpu_it_says_so_and_exits_with_2():
    done = subprocess.run([sys.executable, SCRIPT], env=NO_GPU, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no NVIDIA GPU" in done.stderr
    assert not done.stdout


def test_the_longest_part_of_a_name_tells_the_peak(script):
    assert script.peak_of("NVIDIA H200") == 989
    assert script.peak_of("NVIDIA H20") == 148
    assert script.peak_of("NVIDIA H100 PCIe") == 756
    assert script.peak_of("NVIDIA A100-SXM4-80GB") == 312
    assert script.peak_of("Another device") is None


def test_the_floating_point_operations_are_those_of_the_parameters_and_of_attention(script):
    shape = script.Shape(
        hidden=8, inner=16, layers=3, heads=2, kv_heads=1, vocabulary=10, episodes=1, longest=32, microbatch=64,
        sampled=1, lr=0.0,
    )  # fmt: skip
    batch = script.made_batch(shape, seed=0)
    [segment] = batch.segments
    layer = 8 * 8 + 8 * 4 + 8 * 4 + 8 * 8 + 3 * 8 * 16
    weights = 6 * (3 * layer * len(segment) + 10 * 8 * segment.sampled)
    causal = 3 * 3 * (2 * 2 * len(segment) ** 2 * 8) / 2
    assert script.flops_of(shape, batch) == weights + causal


def test_a_part_that_raises_is_a_failed_check(script):
    findings = script.Findings(device={})
    with script.noted(findings, "parity/bfloat16"):
        raise RuntimeError("no kernel")
    assert not findings.ok
    assert "RuntimeError: no kernel" in script.table(findings)
