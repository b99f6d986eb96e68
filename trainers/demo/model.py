"""The demo's model: Qwen2's architecture, small, random weights, and a tokenizer made from the texts of its world."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

END, START, PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
ROLES = ("user", "assistant")
"""Words of the template, one token each: they come in every turn."""
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_model(folder: Path, texts: Iterable[str], *, seed: int, hidden: int = 128, layers: int = 4) -> Path:
    """Write a Hugging Face folder; equal texts and seed, equal bytes.

    `initializer_range` 0.06: with the usual 0.02 a short warm start leaves the direction's token at chance.
    """
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(texts)
    tokenizer.save_pretrained(folder)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=hidden * 3,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        initializer_range=0.06,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.convert_tokens_to_ids(END),
        pad_token_id=tokenizer.convert_tokens_to_ids(PAD),
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen2ForCausalLM(config)
    model.generation_config.eos_token_id = config.eos_token_id
    model.save_pretrained(folder)
    return folder


def make_tokenizer(texts: Iterable[str], vocabulary: int = 400) -> Any:
    """Byte-level BPE over `texts`: frequent words of the world become one token each."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator([*texts, *ROLES], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=END, pad_token=PAD)
    tokenizer.chat_template = CHATML
    return tokenizer
