"""Reasoning that a model writes into its answer, told apart from the answer itself."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def split_reasoning(text: str) -> tuple[str, str]:
    """`text` without `<think>` blocks, and what stood in them.

    An unclosed block runs to the end. A closing tag alone ends a block whose opening tag was in the prompt.
    """
    hidden = [m.group() for m in _BLOCK.finditer(text)]
    visible = _BLOCK.sub("", text)
    ends = list(_END.finditer(visible))
    if ends:
        hidden.insert(0, visible[: ends[-1].end()])
        visible = visible[ends[-1].end() :]
    return visible.strip() if hidden else text, "\n".join(hidden)
