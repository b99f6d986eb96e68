from collections import Counter
from itertools import accumulate
from statistics import mean

import pytest

from agentenv.protocol import UNPROVEN
from envservers.science.sciworld.proof import proof, unsolved
from envservers.science.sciworld.spec import SPEC
from envservers.science.sciworld.tasks import agentgym, catalog, own

UP_TO = (13, 28, 50, 120)
"""Steps of a solution, on the average, up to which a kind is of difficulty 1, 2, 3 or 4."""
SPLITS = ("train", "dev", "test")
LEFT_OUT = [played for played in proof().values() if played.score < 100]


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


def test_the_splits_have_the_simulators_sizes_but_for_what_its_own_solution_fails():
    wanted = {"train": 3592, "dev": 1796, "test": 1819}
    listed = {split: len(own(split)) for split in SPLITS}
    places = {(k.name, v): split for k in catalog() for split in SPLITS for v in k.split(split)}
    lost = Counter(places[played.task, played.variation] for played in LEFT_OUT)
    assert {split: listed[split] + lost[split] for split in SPLITS} == wanted


def test_what_the_solution_fails_is_left_out_and_is_at_most_three_percent_of_what_was_played_of_a_difficulty():
    assert LEFT_OUT
    listed = {(kind.name, v) for split in SPLITS for kind, v in own(split)}
    assert not listed & {(played.task, played.variation) for played in LEFT_OUT}
    assert all(unsolved(played.task, played.variation) for played in LEFT_OUT)
    level = {kind.name: kind.difficulty for kind in catalog()}
    played = Counter(level[p.task] for p in proof().values())
    failed = Counter(level[p.task] for p in LEFT_OUT)
    assert all(failed[d] <= max(3, 0.03 * played[d]) for d in played)


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_begins_with_one_task_of_each_kind(split):
    assert [kind for kind, _ in own(split)[:30]] == list(catalog())


def test_every_played_solution_is_of_a_variation_and_fits_its_limit():
    kinds = {kind.name: kind for kind in catalog()}
    for played in proof().values():
        assert played.variation in range(kinds[played.task].variations)
        if played.score == 100:
            assert played.steps <= kinds[played.task].max_steps, played


def test_the_difficulty_goes_by_the_mean_length_of_the_solutions_of_a_kind():
    steps = {
        kind.name: [p.steps for p in proof().values() if p.task == kind.name and p.score == 100] for kind in catalog()
    }
    for kind in catalog():
        assert kind.difficulty == 1 + sum(mean(steps[kind.name]) > most for most in UP_TO), kind.name


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


def test_the_agentgym_numbering_keeps_what_the_solution_fails_and_says_so(needs):
    other = SPEC.task_set({"numbering": "agentgym"})
    flagged = [t for t in (other.get("agentgym", i) for i in range(4639)) if t.category == UNPROVEN]
    kinds = {kind.name for kind, _ in agentgym()}
    assert {(t.payload["task"], t.payload["variation"]) for t in flagged} == {
        (played.task, played.variation) for played in LEFT_OUT if played.task in kinds
    }


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
