"""`check_backend`: hold a learner backend to the contract, rule by rule. See `trainers.backend_rules` for the rules.

from trainers.check_backend import check_backend
report = check_backend("fsdp")          # an entry point of the group agentenv.trainers, or a factory
assert not report.broken, report.broken
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentenv.errors import BadCall
from trainers.backend_rules import RULES, Bench, Factory, Skipped, make_model

GROUP = "agentenv.trainers"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendReport:
    """What was found, by the rules' names."""

    kept: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    """With what was seen."""
    skipped: dict[str, str] = field(default_factory=dict)
    """With why it does not apply."""


def check_backend(backend: str | Factory, *, rules: Sequence[str] = ()) -> BackendReport:
    """Check a backend by name or by its factory; `rules` names the only ones to check. Some seconds on one CPU core.

    It makes learners in this process on a model of two small layers, in a temporary folder. Whatever a learner raises
    counts as a broken rule. Raises BadCall for an unknown backend or rule.
    """
    factory = _factory(backend) if isinstance(backend, str) else backend
    names = [rule.__name__ for rule in RULES]
    unknown = [name for name in rules if name not in names]
    if unknown:
        raise BadCall(f"no rule {unknown[0]!r}; there are: {', '.join(names)}")
    report = BackendReport()
    with tempfile.TemporaryDirectory(prefix="check_backend-") as folder:
        make_model(Path(folder) / "model")
        for rule in RULES:
            if not rules or rule.__name__ in rules:
                _check(rule.__name__, Bench(factory, Path(folder)), report)
    return report


def _check(name: str, bench: Bench, report: BackendReport) -> None:
    rule = next(rule for rule in RULES if rule.__name__ == name)
    try:
        rule(bench)
    except Skipped as exc:
        report.skipped[name] = str(exc)
    except AssertionError as exc:
        report.broken[name] = str(exc)
    except Exception as exc:  # a stranger's code may raise anything
        report.broken[name] = f"{type(exc).__name__}: {exc}"
    else:
        report.kept.append(name)


def _factory(name: str) -> Factory:
    from agentenv.plugins import entry_points, load_point

    found = entry_points(GROUP)
    if name not in found:
        raise BadCall(f"no training backend {name!r}; there are: {', '.join(sorted(found)) or 'none'}")
    factory: Factory = load_point(*found[name])
    return factory
