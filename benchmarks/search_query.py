"""Milliseconds of a search over many passages: the encyclopedia's own, repeated under other names up to the size asked.

`python benchmarks/search_query.py [PASSAGES]`, by default 100,000.
"""

import json
import random
import sys
import tempfile
import time
from pathlib import Path

from envservers.search.passages import Passage
from envservers.search.retrieve.bm25 import Bm25, write_index
from envservers.search.world.graph import SIZES, build_graph
from envservers.search.world.text import write_all

QUERIES = 500
K = 3


def passages(count: int) -> list[Passage]:
    made: list[Passage] = []
    for seed in range(-(-count // SIZES["full"])):
        made += [Passage(w.title, w.text) for w in write_all(build_graph(seed, "full"), seed)]
    return made[:count]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    corpus = passages(count)
    rng = random.Random(0)
    queries = [" ".join(rng.sample(rng.choice(corpus).text.split(), 8)) for _ in range(QUERIES)]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        write_index(corpus, Path(folder))
        index_s = time.perf_counter() - started
        retriever = Bm25(Path(folder), corpus, "")
        retriever.search(queries[:20], K)
        times = []
        for query in queries:
            started = time.perf_counter()
            retriever.search([query], K)
            times.append((time.perf_counter() - started) * 1000)
    times.sort()
    report = {
        "passages": count,
        "index_s": round(index_s, 1),
        "query_ms_p50": round(times[len(times) // 2], 2),
        "query_ms_p99": round(times[int(len(times) * 0.99)], 2),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
