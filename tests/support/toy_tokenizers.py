"""Chat templates of the common kinds, and tokenizers built in a moment. Nothing is downloaded."""

from __future__ import annotations

from functools import cache
from typing import Any

CHATML = """\
{%- for message in messages -%}
<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""
"""Qwen's bare form."""

DEFAULT_SYSTEM = (
    """\
{%- if messages[0]['role'] != 'system' -%}
<|im_start|>system
You are a helpful assistant.<|im_end|>
{% endif -%}
"""
    + CHATML
)
"""ChatML with system text of its own, as Qwen 2.5 and SmolLM 2 have it."""

THINKING = """\
{%- set last = namespace(user=-1) -%}
{%- for message in messages -%}
{%- if message['role'] == 'user' -%}{%- set last.user = loop.index0 -%}{%- endif -%}
{%- endfor -%}
{%- for message in messages -%}
{%- set content = message['content'] -%}
{%- if message['role'] == 'assistant' and '</think>' in content and loop.index0 < last.user -%}
{%- set content = content.split('</think>')[-1].lstrip('\\n') -%}
{%- endif -%}
{{ '<|im_start|>' + message['role'] + '\\n' + content + '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""
"""Strips reasoning from earlier turns, as Qwen 3 does."""

PREFILLED_THINKING = THINKING.replace("<|im_start|>assistant\\n'", "<|im_start|>assistant\\n<think>\\n'")
"""The generation header opens a block of reasoning, as DeepSeek R1's and QwQ's do."""

LLAMA3 = """\
{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set system_message = "" %}{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Cutting Knowledge Date: December 2023\\nToday Date: " + date_string + "\\n\\n" + system_message + "<|eot_id|>" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {{- message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
"""

INST = """\
{{- bos_token }}
{%- for message in messages -%}
{%- if message['role'] not in ['user', 'assistant'] -%}
{{ raise_exception('Only user and assistant roles') }}
{%- endif -%}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif -%}
{%- if message['role'] == 'user' -%}{{ '[INST] ' + message['content'] + ' [/INST]' }}
{%- else -%}{{ ' ' + message['content'] + eos_token }}{%- endif -%}
{%- endfor -%}
"""
"""Markers in plain text, no system role, strict alternation; as Mistral's first ones."""

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
)
ADDED = ("<tool_call>", "</tool_call>", "<think>", "</think>")
"""Added tokens that are not special: `split_special_tokens` does not break them."""

WORDS = [
    "You see a maze. Go left, right, up or down.",
    "Thought:\nI go there.\n\nAction:\nleft",
    "user assistant system",
]


def chat_tokenizer(template: str = CHATML, *, eos: str = "<|im_end|>", words: tuple[str, ...] = ()) -> Any:
    """A byte-level BPE tokenizer (some 330 ids) with the added tokens above and a chat template."""
    from transformers import PreTrainedTokenizerFast

    fast = PreTrainedTokenizerFast(
        tokenizer_object=_byte_level(words),
        bos_token="<|begin_of_text|>",
        eos_token=eos,
        pad_token="<|endoftext|>",
        additional_special_tokens=list(SPECIAL),
    )
    fast.chat_template = template
    return fast


def _byte_level(words: tuple[str, ...]) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_str(_trained(words))


@cache
def _trained(words: tuple[str, ...]) -> str:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([*WORDS, *words], trainer)
    tokenizer.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIAL])
    tokenizer.add_tokens([AddedToken(s, special=False, normalized=False) for s in ADDED])
    return tokenizer.to_str()


def letters_tokenizer(template: str) -> Any:
    """The toy BPE with three ways to write `hello`: h3 e4 l5 o6 he7 ll8 llo9 hello10; markers 1, 2, 21, 22."""
    from tokenizers import AddedToken, Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    vocab = {"<pad>": 0, "<end>": 1, "<start>": 2}
    vocab |= {w: i for i, w in enumerate(["h", "e", "l", "o", "he", "ll", "llo", "hello"], 3)}
    vocab |= {"<user>": 21, "<assistant>": 22}
    tokenizer = Tokenizer(models.BPE(vocab, [("h", "e"), ("l", "l"), ("ll", "o"), ("he", "llo")]))
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken(s, special=True) for s in vocab if s.startswith("<")])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<pad>")
    fast.chat_template = template
    return fast


def token_chat() -> Any:
    """One id a letter, headers of three: start 2, end 1, user 21, assistant 22, newline 30, sampled 200..206."""
    from tokenizers import AddedToken, Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    vocab = {"<pad>": 0, "<end>": 1, "<start>": 2, "<user>": 21, "<assistant>": 22, "\n": 30}
    vocab |= {"a": 100, "b": 110, "c": 111, "d": 112} | {letter: i for i, letter in enumerate("pqrstuv", 200)}
    tokenizer = Tokenizer(models.BPE(vocab, []))
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken(s, special=True) for s in vocab if s.startswith("<")])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<pad>")
    fast.chat_template = (
        "{% for m in messages %}{{ '<start><' + m['role'] + '>\\n' + m['content'] + '<end>\\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<start><assistant>\\n' }}{% endif %}"
    )
    return fast
