from collections import Counter
from itertools import accumulate
from statistics import mean

import pytest

from agentenv.protocol import UNPROVEN
from envservers.science.sciworld import proof as module
from envservers.science.sciworld.proof import FULL, HEAD, Played, proof
from envservers.science.sciworld.spec import SPEC
from envservers.science.sciworld.tasks import agentgym, catalog, make_tasks, own

UP_TO = (13, 28, 35, 120)
"""Steps of a solution, on the average, up to which a kind is of difficulty 1, 2, 3 or 4."""
SPLITS = ("train", "dev", "test")
FAILED = {("boil", 3), ("find-plant", 290)}
"""Variations of train and test; their kinds are in AgentGym's numbering too."""


@pytest.fixture
def failed(monkeypatch, tmp_path):
    """As if no solution of these were known."""
    lines = [Played(task, variation, 9, 40, "0" * 16).line() for task, variation in sorted(FAILED)]
    path = tmp_path / "proof.tsv"
    path.write_text("\n".join(["\t".join(HEAD), *lines]) + "\n", encoding="utf-8")
    monkeypatch.setattr(module, "PROOF", path)
    proof.cache_clear()
    yield
    monkeypatch.undo()
    proof.cache_clear()


@pytest.fixture
def tasks(needs):
    return SPEC.task_set()


def test_there_are_thirty_kinds_with_7207_variations_of_five_difficulties():
    assert len(catalog()) == len({kind.number for kind in catalog()}) == 30
    assert sum(kind.variations for kind in catalog()) == 7207
    assert {kind.difficulty for kind in catalog()} == {1, 2, 3, 4, 5}
    assert {kind.max_steps for kind in catalog()} <= set(range(100, SPEC.max_steps + 1))


@pytest.mark.parametrize("kind", catalog(), ids=lambda kind: kind.name)
def test_the_splits_of_a_kind_are_its_variations_once_each(kind):
    assert sorted(v for split in SPLITS for v in kind.split(split)) == list(range(kind.variations))


def test_the_splits_have_the_simulators_sizes():
    assert {split: len(own(split)) for split in SPLITS} == {"train": 3592, "dev": 1796, "test": 1819}


def test_what_no_solution_reaches_is_in_no_split(failed):
    assert {split: len(own(split)) for split in SPLITS} == {"train": 3591, "dev": 1796, "test": 1818}
    assert not FAILED & {(kind.name, v) for split in SPLITS for kind, v in own(split)}


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_solution_of_every_task_that_is_no_training_was_played_and_succeeds(split):
    assert [(kind.name, v) for kind, v in own(split) if (kind.name, v) not in proof()] == []
    assert all(proof()[kind.name, v].score == FULL for kind in catalog() for v in kind.split(split))


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_begins_with_one_task_of_each_kind(split):
    assert [kind for kind, _ in own(split)[:30]] == list(catalog())


def test_every_played_solution_is_of_a_variation_and_fits_its_limit():
    kinds = {kind.name: kind for kind in catalog()}
    for played in proof().values():
        assert played.variation in range(kinds[played.task].variations)
        if played.score == FULL:
            assert played.steps <= kinds[played.task].max_steps, played


@pytest.mark.parametrize("kind", catalog(), ids=lambda kind: kind.name)
def test_the_difficulty_goes_by_the_mean_length_of_the_solutions_of_a_kind_in_dev_and_test(kind):
    steps = [proof()[kind.name, v].steps for split in ("dev", "test") for v in kind.split(split)]
    assert kind.difficulty == 1 + sum(mean(steps) > most for most in UP_TO)


@pytest.mark.parametrize("split", SPLITS)
def test_no_difficulty_is_over_two_fifths_of_a_split(split):
    listed = Counter(kind.difficulty for kind, _ in own(split))
    assert max(listed.values()) <= 0.4 * sum(listed.values())


def test_each_kind_was_played_at_least_three_times():
    assert min(Counter(task for task, _ in proof()).values()) >= 3
    assert {task for task, _ in proof()} == {kind.name for kind in catalog()}


def test_the_agentgym_numbering_has_its_ids_of_every_kind():
    listed = agentgym()
    assert len(listed) == 4639
    sizes = Counter(kind.name for kind, _ in listed)
    firsts = dict(zip(sizes, accumulate([0, *sizes.values()]), strict=False))
    assert firsts == {
        "boil": 0,
        "melt": 30,
        "freeze": 60,
        "change-the-state-of-matter-of": 90,
        "use-thermometer": 120,
        "measure-melting-point-known-substance": 660,
        "measure-melting-point-unknown-substance": 1096,
        "power-component": 1396,
        "power-component-renewable-vs-nonrenewable-energy": 1416,
        "test-conductivity": 1436,
        "test-conductivity-of-unknown-substances": 2336,
        "find-living-thing": 2936,
        "find-non-living-thing": 3236,
        "find-plant": 3536,
        "find-animal": 3836,
        "chemistry-mix": 4136,
        "chemistry-mix-paint-secondary-color": 4168,
        "chemistry-mix-paint-tertiary-color": 4204,
        "lifespan-longest-lived": 4240,
        "lifespan-shortest-lived": 4365,
        "lifespan-longest-lived-then-shortest-lived": 4490,
        "identify-life-stages-1": 4615,
        "identify-life-stages-2": 4629,
    }
    assert all(variation == place - firsts[kind.name] for place, (kind, variation) in enumerate(listed))


def test_a_task_says_its_kind_and_its_limit(tasks):
    task = tasks.get("test", 0)
    assert (task.id, task.category, task.template, task.max_steps) == ("sciworld/test/0", "boil", "1-1", 200)
    assert task.payload == {"task": "boil", "variation": 21}


def test_the_numbering_is_an_option_and_changes_the_digest(needs):
    other = SPEC.task_set({"numbering": "agentgym"})
    assert (other.splits(), other.count("agentgym")) == (("agentgym",), 4639)
    task = other.get("agentgym", 4638)
    assert (task.id, task.payload) == (
        "sciworld/agentgym/4638",
        {"task": "identify-life-stages-2", "variation": 9},
    )
    assert other.digest != SPEC.task_set().digest == SPEC.task_set({"jvms": 3, "heap_mb": 512}).digest


def test_the_agentgym_numbering_keeps_what_no_solution_reaches_and_says_so(needs, failed):
    other = make_tasks({"numbering": "agentgym", "simplifications": "none"})
    flagged = [t for t in (other.get("agentgym", i) for i in range(4639)) if t.category == UNPROVEN]
    assert {(t.payload["task"], t.payload["variation"]) for t in flagged} == FAILED


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_simulator_has_the_same_kinds_and_splits(pool):
    world = pool.load("boil", 0, "")
    jvm = world._jvm
    with jvm.calls("compare"):
        simulator = jvm._interface
        assert sorted(simulator.getTaskNames()) == sorted(kind.name for kind in catalog())
        for kind in catalog():
            simulator.load(kind.name, 0, "", False)
            assert simulator.getTaskMaxVariations(kind.name) == kind.variations
            parts = simulator.getVariationsTrain(), simulator.getVariationsDev(), simulator.getVariationsTest()
            for split, variations in zip(SPLITS, parts, strict=True):
                assert list(variations) == list(kind.split(split)), (kind.name, split)
