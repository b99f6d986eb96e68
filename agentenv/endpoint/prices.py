"""What tokens cost, by a table of the user's. What the table does not say is unknown, never free.

```yaml
currency: USD
models:
  some-model: {input: 2.5, cached: 1.25, output: 10, reasoning: 10, date: 2026-01-31, source: "https://..."}
```

Prices are for a million tokens. `input` are prompt tokens that were not cached; `reasoning` are completion tokens that
the endpoint counts as reasoning, `output` the others. A key left out or null is unknown.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv.errors import BadAgent

MILLION = 1_000_000
KINDS = ("input", "cached", "output", "reasoning")
KEYS = (*KINDS, "date", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of one model, for a million tokens of each kind; None is unknown."""

    input: float | None = None
    cached: float | None = None
    output: float | None = None
    reasoning: float | None = None
    date: str
    """When it was looked up, YYYY-MM-DD."""
    source: str
    """Where it stood."""
    currency: str

    def cost(
        self, *, prompt: int | None, completion: int | None, cached: int | None = None, reasoning: int | None = None
    ) -> float | None:
        """What these tokens cost; None when a count or a price that it takes is unknown.

        `cached` is a part of `prompt` and `reasoning` a part of `completion`; where the endpoint does not tell them
        apart, all are charged as input and output.
        """
        if prompt is None or completion is None:
            return None
        cached, reasoning = min(cached or 0, prompt), min(reasoning or 0, completion)
        counts = {
            "input": prompt - cached, "cached": cached, "output": completion - reasoning, "reasoning": reasoning,
        }  # fmt: skip
        total = 0.0
        for kind, count in counts.items():
            price = getattr(self, kind)
            if count and price is None:
                return None
            total += count * (price or 0.0)
        return total / MILLION


def load_prices(file: str | Path) -> Mapping[str, Price]:
    """The price of each model in a table; BadAgent names what is wrong with it."""
    import yaml

    try:
        table = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as exc:
        raise BadAgent(f"prices={file}: cannot be read as YAML: {type(exc).__name__}: {exc}") from exc
    models = table.get("models") if isinstance(table, Mapping) else None
    if not isinstance(models, Mapping) or set(table) - {"currency", "models"}:
        raise BadAgent(f"prices={file}: must have the keys currency and models, and no others")
    currency = str(table.get("currency") or "USD")
    return {str(model): _price(row, currency, f"prices={file}: {model}") for model, row in models.items()}


def price_of(model: str, file: str | Path) -> Price | None:
    """The price of a model; None when the table does not have it."""
    return load_prices(file).get(model)


def _price(row: Any, currency: str, where: str) -> Price:
    if not isinstance(row, Mapping) or set(row) - set(KEYS):
        raise BadAgent(f"{where}: may have the keys {', '.join(KEYS)}")
    when = row.get("date")
    date = when.isoformat() if isinstance(when, datetime.date) else str(when or "")
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        raise BadAgent(f"{where}: needs a date such as 2026-01-31, when it was looked up") from None
    if not isinstance(row.get("source"), str) or not row["source"]:
        raise BadAgent(f"{where}: needs a source, where the price stands")
    return Price(
        **{kind: _amount(row.get(kind), f"{where}: {kind}") for kind in KINDS},
        date=date,
        source=row["source"],
        currency=currency,
    )


def _amount(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise BadAgent(f"{where}={value!r}: must be a number of at least 0, or null where it is unknown")
    return float(value)
