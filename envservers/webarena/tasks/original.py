"""The original's 812 tasks and the verified ones: listed from a file, never part of this project.

They come from the wheel `webarena-verified`, read as an archive or as installed files and never imported, or from a
file of the user's. They are played on sites of the user's own, so here they are listed as `needs sites`.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from agentenv.errors import BadCall
from envservers.webarena.evaluators.original_spec import BadTask, Evaluation, read_evaluation

DISTRIBUTION = "webarena-verified"
VERSION = "1.2.3"
FOLDER = "webarena_verified/assets/dataset"
ORIGINAL_FILE = f"{FOLDER}/test.raw.json"
VERIFIED_FILE = f"{FOLDER}/webarena-verified.json"
HINT = f"pip install {DISTRIBUTION}=={VERSION} --no-deps, or give a file of your own"

NEEDS = "needs sites"
"""What stands beside a task in a list until sites are configured for it."""
SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia", "homepage")
PLACEHOLDERS: Mapping[str, str] = {f"__{site.upper()}__": site for site in SITES}
AND = " |AND| "
"""Between the addresses of several tabs."""

MOST_BYTES = 64 * 2**20
MOST_TASKS = 100_000
LONGEST = 20_000
"""Characters of one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTask:
    """A task as lists show it; texts hold placeholders such as `__SHOPPING__` in place of addresses."""

    set: str
    """`original` or `verified`."""
    number: int
    sites: tuple[str, ...]
    intent: str
    template: int
    """Groups the instances of one template."""
    start_urls: tuple[str, ...]
    """A tab each, the first one in front."""
    kind: str
    """The evaluators of an original task, what is to be done of a verified one."""
    evaluation: Evaluation | None = None
    """Of original tasks."""
    needs: str = NEEDS

    @property
    def id(self) -> str:
        """`original/12`"""
        return f"{self.set}/{self.number}"


def original_tasks(source: Path | None = None) -> list[ListedTask]:
    """The original set. `source`: a wheel or a JSON file; None takes what is installed. BadCall says what is wrong."""
    return [_original(where, record) for where, record in _checked(_records(source, ORIGINAL_FILE), source)]


def verified_tasks(source: Path | None = None) -> list[ListedTask]:
    """The verified set, from the same sources."""
    return [_verified(where, record) for where, record in _checked(_records(source, VERIFIED_FILE), source)]


def original_rows(source: Path | None = None) -> list[dict[str, Any]]:
    """The original set as a table."""
    return [_row(task) for task in original_tasks(source)]


def verified_rows(source: Path | None = None) -> list[dict[str, Any]]:
    """The verified set as a table."""
    return [_row(task) for task in verified_tasks(source)]


def _row(task: ListedTask) -> dict[str, Any]:
    needs = f"{task.needs}: {', '.join(needed_sites(task))}"
    return {"id": task.id, "template": task.template, "kind": task.kind, "needs": needs, "intent": task.intent}


def with_sites(text: str, sites: Mapping[str, str]) -> str:
    """A text with each placeholder replaced by the address of its site; BadCall names all that are missing."""
    missing = [name for name, site in PLACEHOLDERS.items() if name in text and not sites.get(site)]
    if missing:
        names = ", ".join(PLACEHOLDERS[name].upper() for name in missing)
        raise BadCall(f"no address for: {names}; set a variable of that name, or WA_ and the name, for each")
    for name, site in PLACEHOLDERS.items():
        if name in text:
            text = text.replace(name, sites[site].rstrip("/"))
    return text


def needed_sites(task: ListedTask) -> list[str]:
    """Every site that a task's data name, its evaluators' too."""
    texts = [*task.start_urls]
    if task.evaluation is not None:
        texts += [task.evaluation.reference_url, *(target.url for target in task.evaluation.targets)]
    named = {site for name, site in PLACEHOLDERS.items() if any(name in text for text in texts)}
    return sorted(named | set(task.sites))


def _records(source: Path | None, file: str) -> Any:
    try:
        text = _read(source, file)
        return json.loads(text)
    except (OSError, ValueError, KeyError, RecursionError, zipfile.BadZipFile) as exc:
        raise BadCall(f"{source or DISTRIBUTION}: cannot be read as tasks: {type(exc).__name__}: {exc}") from exc


def _read(source: Path | None, file: str) -> bytes:
    if source is None:
        source = _installed(file)
    if source.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(source) as archive, archive.open(file) as member:
            return _bounded(member.read(MOST_BYTES + 1))  # a packed size may lie
    with source.open("rb") as plain:
        return _bounded(plain.read(MOST_BYTES + 1))


def _installed(file: str) -> Path:
    try:
        return Path(str(metadata.distribution(DISTRIBUTION).locate_file(file)))
    except metadata.PackageNotFoundError:
        raise BadCall(f"the package {DISTRIBUTION} is not installed: {HINT}") from None


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise ValueError(f"over {MOST_BYTES} bytes")
    return data


def _checked(records: Any, source: Path | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Each record with the words for its place."""
    name = source or DISTRIBUTION
    if not isinstance(records, list) or len(records) > MOST_TASKS:
        raise BadCall(f"{name}: must be a list of at most {MOST_TASKS} tasks")
    found: list[tuple[str, Mapping[str, Any]]] = []
    for place, record in enumerate(records):
        if not isinstance(record, dict):
            raise BadCall(f"{name}, task at {place}: must be an object")
        found.append((f"{name}, task at {place}", record))
    numbers = [record.get("task_id") for _, record in found]
    if len({repr(number) for number in numbers}) != len(numbers):
        raise BadCall(f"{name}: two tasks have the same task_id")
    return found


def _original(where: str, record: Mapping[str, Any]) -> ListedTask:
    try:
        evaluation = read_evaluation(record.get("eval"))
    except BadTask as exc:
        raise BadCall(f"{where}: {exc}") from exc
    return ListedTask(
        set="original",
        **_common(where, record),
        start_urls=tuple(_text(record.get("start_url"), f"{where}: start_url").split(AND)),
        kind="+".join(evaluation.types),
        evaluation=evaluation,
    )


def _verified(where: str, record: Mapping[str, Any]) -> ListedTask:
    return ListedTask(
        set="verified",
        **_common(where, record),
        start_urls=_texts(record.get("start_urls"), f"{where}: start_urls"),
        kind=_asked(record.get("eval"), where),
    )


def _common(where: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Of both sets; keys that are not known are left out."""
    return {
        "number": _number(record.get("task_id"), f"{where}: task_id"),
        "sites": _texts(record.get("sites"), f"{where}: sites"),
        "intent": _text(record.get("intent"), f"{where}: intent"),
        "template": _number(record.get("intent_template_id"), f"{where}: intent_template_id"),
    }


def _asked(evaluators: Any, where: str) -> str:
    """What a verified task asks for: `retrieve`, `navigate` or `mutate`."""
    if isinstance(evaluators, list) and len(evaluators) <= 1000:
        for evaluator in evaluators:
            expected = evaluator.get("expected") if isinstance(evaluator, dict) else None
            if isinstance(expected, dict) and "task_type" in expected:
                return _text(expected["task_type"], f"{where}: task_type").lower()
    raise BadCall(f"{where}: eval: no evaluator with expected.task_type")


def _number(value: Any, where: str) -> int:
    if type(value) is not int or not 0 <= value < 10**9:
        raise BadCall(f"{where}: must be a number from 0")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value or len(value) > LONGEST:
        raise BadCall(f"{where}: must be a text of 1 to {LONGEST} characters")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= 20:
        raise BadCall(f"{where}: must be a list of 1 to 20 texts")
    return tuple(_text(item, where) for item in value)
