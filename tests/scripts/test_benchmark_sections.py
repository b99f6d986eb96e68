"""Each benchmark writes its own section of docs/benchmarks.md, and what both kinds of rollout wait for is the same."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def _importable():
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


def test_a_section_is_replaced_and_the_others_stay(tmp_path):
    import sections

    page = tmp_path / "benchmarks.md"
    sections.put("learner", "## Learner\n\nold", page)
    sections.put("steps", "## Steps\n\n<b>\\1</b>", page)
    sections.put("learner", "## Learner\n\nnew", page)
    text = page.read_text()
    assert sections.sections(text) == {"steps": "## Steps\n\n<b>\\1</b>", "learner": "## Learner\n\nnew"}
    assert text.startswith("# Benchmarks\n")
    assert text.index("## Steps") < text.index("## Learner")


def test_the_page_is_made_of_sections_alone(tmp_path):
    import sections

    page = tmp_path / "benchmarks.md"
    for name, body in sections.sections(sections.PAGE.read_text(encoding="utf-8")).items():
        sections.put(name, body, page)
    assert page.read_text() == sections.PAGE.read_text(encoding="utf-8")


def test_latencies_come_from_the_seed_alone_and_have_a_heavy_tail():
    import latency_env as env

    waits = [w for n in range(2000) for w in env.plan_of(0, n).waits_s]
    assert env.plan_of(3, 5).waits_s == env.plan_of(3, 5).waits_s != env.plan_of(4, 5).waits_s
    assert env.LOW_S <= min(waits) < 0.011
    assert 1.5 < max(waits) <= env.HIGH_S
    assert 0.015 < sorted(waits)[len(waits) // 2] < 0.04


def test_the_phases_of_a_run_are_shares_of_its_time():
    import phases

    row = {"time/collect_s": 3.0, "time/learn_s": 6.0, "time/push_s": 0.5, "time/save_s": 0.5, "time/step_s": 10.0}
    text = phases.section([row | {"tokens/trained": 1000.0}, row], "two cores")
    assert "| collect | 3.00 | 3.00 | 30% |" in text
    assert "| learn | 6.00 | 6.00 | 60% |" in text


def test_the_engine_is_compared_pair_by_pair():
    import engine

    pairs = [engine.Pair(ours=engine.Run(wall, 0.64), bare=engine.Run(1.0, 0.32)) for wall in (2.0, 1.25, 1.0)]
    pushes = engine.Pushes(100.0, {"one way": [0.5, 0.25, 1.0]})
    text = engine.section({(engine.REAL_NAME, 8): pairs}, pushes, "two cores")
    assert "at **80%** of the rate of bare vLLM, and takes **2.00** times its CPU time, with 8 requests at once" in text
    assert (
        f"| {engine.REAL_NAME} | 8 | {8 * engine.TOKENS} | {8 * engine.TOKENS / 1.25:.0f} | 80% | 50%, 100% |" in text
    )
    assert "| one way | 0.50 | 0.25, 1.00 | 200 |" in text
