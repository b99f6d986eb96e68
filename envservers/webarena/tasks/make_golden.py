"""Writes golden.json: how many tasks each world gives, and digests of them. Run it after a change of templates.

python -m envservers.webarena.tasks.make_golden
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envservers.webarena.tasks.make import GENERATOR
from envservers.webarena.tasks.task_set import measure
from envservers.webarena.world.sizes import SIZES
from envservers.webarena.world.sizes import VERSION as WORLD_VERSION

PATH = Path(__file__).with_name("golden.json")


def main() -> None:
    """Measure every size anew."""
    sizes = {size: measure(size) for size in SIZES}
    PATH.write_text(shown({"generator": GENERATOR, "world": WORLD_VERSION, "sizes": sizes}) + "\n")


def shown(value: Mapping[str, Any], indent: str = "") -> str:
    """JSON with a line for each world: objects of plain values stay on one."""
    if not any(isinstance(item, Mapping) for item in value.values()):
        return json.dumps(value)
    inner = indent + " "
    parts = [
        f"{inner}{json.dumps(name)}: {shown(item, inner) if isinstance(item, Mapping) else json.dumps(item)}"
        for name, item in value.items()
    ]
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


if __name__ == "__main__":
    main()
