"""Exact match and F1 as SQuAD, NQ and HotpotQA count them, and the answer that a reply gives."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-"})
_INNER = re.compile(r"(?<=\d)\.(?=\d)")
_CLOSED = frozenset({"yes", "no", "unanswerable"})
"""Answers that are right as a whole or not at all."""


def normalise(text: str) -> str:
    """The classic form: lower case, no ASCII punctuation, no articles, single blanks."""
    plain = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION))
    return " ".join(plain.split())


def normalise_robust(text: str) -> str:
    """NFC and typographic quotes and dashes as ASCII; keeps decimal points, and articles only where they lead."""
    text = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHY).lower()
    text = _INNER.sub("\0", text).translate(_PUNCTUATION).replace("\0", ".")
    return re.sub(r"^(a|an|the)\s+", "", " ".join(text.split()))


def exact_match(answer: str, golds: Sequence[str], *, robust: bool = False) -> bool:
    """Whether the answer is one of the golds after normalising; what normalises to nothing is compared as it stands."""
    form = normalise_robust if robust else normalise
    return any(_or_text(form(answer), answer) == _or_text(form(gold), gold) and gold.strip() != "" for gold in golds)


def _or_text(normal: str, text: str) -> str:
    return normal or text.strip()


def f1(answer: str, golds: Sequence[str]) -> float:
    """The best F1 of word overlap with a gold, 0 to 1; yes, no and unanswerable only match themselves."""
    return max((_f1(normalise(answer), normalise(gold)) for gold in golds), default=0.0)


def _f1(answer: str, gold: str) -> float:
    if (answer in _CLOSED or gold in _CLOSED) and answer != gold:
        return 0.0
    one, other = answer.split(), gold.split()
    same = sum((Counter(one) & Counter(other)).values())
    return 2 * same / (len(one) + len(other)) if same else 0.0
