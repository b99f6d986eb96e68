"""Where the time of a training run goes, from its `metrics.jsonl`; writes a section of docs/benchmarks.md.

python benchmarks/phases.py runs/train-demo/grpo-0/grpo [--about "what ran, on what, under which load"] [--no-docs]
"""

import argparse
import json
import statistics
from pathlib import Path

import sections

PHASES = ("collect", "learn", "push", "validate", "save")


def steps_of(folder: Path) -> list[dict[str, float]]:
    """The rows of training steps; a validation before the first one has no times."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if "time/step_s" in row]


def section(rows: list[dict[str, float]], about: str) -> str:
    whole = sum(row["time/step_s"] for row in rows)
    lines = []
    for phase in PHASES:
        if not any(f"time/{phase}_s" in row for row in rows):
            continue
        times = [row.get(f"time/{phase}_s", 0.0) for row in rows]
        lines.append(f"| {phase} | {statistics.median(times):.2f} | {max(times):.2f} | {sum(times) / whole:.0%} |")
    tokens = statistics.median(row["tokens/trained"] for row in rows if "tokens/trained" in row)
    return "\n".join(
        [
            "## Phases of a training run",
            "",
            "Written by `python benchmarks/phases.py RUN_DIR`, from the figures of a run.",
            "",
            f"Seconds of a step, over {len(rows)} steps that took {whole:,.0f} s together; {tokens:,.0f} trained "
            "tokens in a step (median). The check of each push belongs to `push`.",
            "",
            "| phase | median | most | share of all |",
            "|---|---:|---:|---:|",
            *lines,
            "",
            about,
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--about", default="A run of `make train-demo`.", help="what ran, on what, under which load")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    text = section(steps_of(wanted.folder), wanted.about)
    print(text)
    if not wanted.no_docs:
        sections.put("phases", text)


if __name__ == "__main__":
    main()
