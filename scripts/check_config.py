"""Which settings does nothing read? `make check-config` runs the tests with notes, then this.

`python scripts/check_config.py FOLDER` unites the notes in FOLDER (see trainers/reads.py) and fails naming each setting
of `agentenv train` and `agentenv sft` that no code of this project has read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from trainers.config import TrainConfig
from trainers.reads import united
from trainers.sft.config import SftConfig


def main(folder: Path) -> int:
    """0 when every setting was read."""
    read = united(folder)
    if not read:
        print(f"{folder} has no notes; run the tests with AGENTENV_CONFIG_READS={folder}", file=sys.stderr)
        return 2
    settings: dict[str, list[str]] = {}
    """Paths by what the notes have: one class may stand in several sections."""
    for key, path in (*settings_of(TrainConfig), *settings_of(SftConfig)):
        settings.setdefault(key, []).append(path)
    unread = sorted(" = ".join(dict.fromkeys(paths)) for key, paths in settings.items() if key not in read)
    for paths in unread:
        print(f"nothing reads {paths}")
    print(f"{len(settings) - len(unread)} of {len(settings)} settings are read")
    return 1 if unread else 0


def settings_of(cls: type[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """`module.Class.field` and dotted path of every setting that is no section."""
    hints = get_type_hints(cls)
    for field in fields(cls):
        kind = hints[field.name]
        inner = next((a for a in (kind, *get_args(kind)) if is_dataclass(a)), None)
        if inner is None:
            yield f"{cls.__module__}.{cls.__qualname__}.{field.name}", f"{prefix}{field.name}"
        else:
            yield from settings_of(inner, f"{prefix}{field.name}{'' if kind is inner else '[]'}.")  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
