"""Tiny Hugging Face folders for tests: random weights by seed, a byte-level tokenizer with a ChatML template."""

from __future__ import annotations

import json
from pathlib import Path

CHATML = (
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
"""The last one is the end of a turn."""
WORDS = ["north", "south", "east", "west", " north", " south", " east", " west", "user", "assistant", "system"]
"""Each is one token, besides the 256 bytes."""


def tiny_tokenizer(words: list[str] | None = None):
    """A byte-level BPE whose every word of `words` is one token; ids 0.. are `SPECIALS`, then bytes, then merges."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary, merges = _byte_pairs(WORDS if words is None else words)
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=SPECIALS[1:2],
    )
    tokenizer.chat_template = CHATML
    return tokenizer


def tiny_model(
    folder: Path,
    *,
    tied: bool = True,
    hidden: int = 32,
    layers: int = 2,
    heads: int = 4,
    kv_heads: int = 2,
    context: int = 1024,
    seed: int = 0,
    initializer_range: float = 0.06,
    dtype: str = "float32",
    words: list[str] | None = None,
    **config: object,
) -> Path:
    """Write a Qwen2-style model with its tokenizer into `folder`; returns the folder."""
    from transformers import Qwen2Config

    tokenizer = tiny_tokenizer(words)
    settings = {
        "vocab_size": len(tokenizer),
        "hidden_size": hidden,
        "intermediate_size": hidden * 2,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": context,
        "initializer_range": initializer_range,
        "tie_word_embeddings": tied,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    save_model(Qwen2Config(**settings | config), folder, seed=seed, dtype=dtype)
    tokenizer.save_pretrained(folder)
    return folder


def save_model(config, folder: Path, *, seed: int = 0, dtype: str = "float32") -> Path:
    """Random weights of any causal configuration, without a tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config)
        _stir_constants(model)
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    return folder


def _stir_constants(model) -> None:
    """Norms and biases start as ones and zeros; a test of them needs other numbers."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.05)


def _byte_pairs(words: list[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Vocabulary and merges: each word is built from its bytes, left to right."""
    alphabet = _byte_characters()
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, *alphabet])}
    merges: list[tuple[str, str]] = []
    for word in words:
        built, *rest = [alphabet[b] for b in word.encode()]
        for char in rest:
            if built + char not in vocabulary:
                merges.append((built, char))
                vocabulary[built + char] = len(vocabulary)
            built += char
    return vocabulary, merges


def _byte_characters() -> list[str]:
    """The printable stand-in of each byte, as byte-level tokenizers use them, by byte value."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    stand_in = {b: chr(b) for b in plain}
    for byte in range(256):
        stand_in.setdefault(byte, chr(256 + len([b for b in stand_in if ord(stand_in[b]) >= 256])))
    return [stand_in[b] for b in range(256)]


def describe(folder: Path) -> dict:
    """The configuration as written."""
    return json.loads((folder / "config.json").read_text())
