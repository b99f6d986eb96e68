"""A folder in BIRD's or Spider's layout with one small database, for tests."""

import json
import sqlite3
from pathlib import Path

FRUITS = [("apple", 1.5, 2), ("pear", 2.0, None), ("apple", 1.5, 3), ("fig", 2.0, 5)]


def write_fruits(path: Path, rows=FRUITS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE f (name TEXT, price REAL, qty INTEGER)")
        connection.executemany("INSERT INTO f VALUES (?, ?, ?)", rows)
    connection.close()


def spider(folder: Path, *golds: str) -> Path:
    """`dev.json` and `database/fruit/fruit.sqlite`."""
    write_fruits(folder / "database/fruit/fruit.sqlite")
    rows = [{"db_id": "fruit", "question": f"Question {n}?", "query": gold} for n, gold in enumerate(golds)]
    (folder / "dev.json").write_text(json.dumps(rows))
    return folder


def bird(folder: Path, gold: str) -> Path:
    """`dev.json` and `train/train.json` with their own folders of databases, evidence and difficulty."""
    for split, base in (("dev", folder), ("train", folder / "train")):
        write_fruits(base / f"{split}_databases/fruit/fruit.sqlite")
        row = {"db_id": "fruit", "question": "Which?", "SQL": gold, "evidence": "fig is a fruit"}
        (base / f"{split}.json").write_text(json.dumps([{**row, "difficulty": "moderate"}]))
    return folder
