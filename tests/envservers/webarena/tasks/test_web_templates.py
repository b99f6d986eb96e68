"""What holds of every template and split, without a site."""

import string
from collections import Counter, defaultdict

import pytest
from web_tasks import plan_of, small, split

from envservers.webarena.evaluators.combine import NEEDED, TaskKind
from envservers.webarena.tasks.catalog import by_name
from envservers.webarena.tasks.make import MOST_STEPS, bucket
from envservers.webarena.tasks.plan import Stop
from envservers.webarena.tasks.splits import GENERATED, TEST, TEST_OOD
from envservers.webarena.tasks.task_set import SPLITS, golden, measure_world
from envservers.webarena.tasks.template import HELD_OUT_PHRASINGS, LEAST_PHRASINGS, Template

TEMPLATES = list(by_name().values())
MOST_OF_A_FAMILY = 3
TIMES = {"created_at", "added_at", "placed_at", "updated_at", "shipped_at"}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: t.name)
def test_a_template_has_five_phrasings_with_the_same_slots(template: Template) -> None:
    assert len(template.phrasings) >= LEAST_PHRASINGS
    assert len(set(template.phrasings)) == len(template.phrasings)
    slots = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in template.phrasings]
    assert all(found == slots[0] for found in slots)


def test_at_most_three_templates_of_a_family_and_all_of_one_kind() -> None:
    families = defaultdict(list)
    for template in TEMPLATES:
        families[template.family].append(template)
    for name, members in families.items():
        assert len(members) <= MOST_OF_A_FAMILY, name
        assert len({t.kind for t in members}) == 1, name


def test_a_fifth_of_the_templates_is_held_out() -> None:
    assert sum(t.held_out for t in TEMPLATES) >= 0.2 * len(TEMPLATES)


def test_splits_own_their_forms_by_hash() -> None:
    dealt = [number for s in GENERATED for number in s.buckets]
    assert sorted(dealt) == sorted(set(dealt))
    for name in ("dev", "test", "test_ood", "mini"):
        owner = next(s for s in GENERATED if s.name == name)
        for task in split(name):
            form = by_name()[task.template].canonical(task.payload["params"])
            assert bucket(form) in owner.buckets


def test_test_has_seen_templates_and_phrasings_and_test_ood_the_others() -> None:
    for task in split("test"):
        template = by_name()[task.template]
        assert not template.held_out
        assert task.payload["phrasing"] < len(template.phrasings) - HELD_OUT_PHRASINGS
    for task in split("test_ood"):
        template = by_name()[task.template]
        assert task.payload["phrasing"] >= len(template.phrasings) - HELD_OUT_PHRASINGS
    counts = golden()["sizes"]["medium"]["counts"]["test_ood"]["0"]
    assert all(counts[template.name] for template in TEMPLATES)


def test_at_most_a_tenth_cannot_be_done_and_each_has_a_twin_that_can() -> None:
    for name in ("dev", "test", "test_ood"):
        tasks = split(name)
        kinds = Counter(task.category for task in tasks)
        assert kinds["unachievable"] <= 0.1 * len(tasks)
        assert set(kinds) >= {"retrieve", "navigate", "mutate", "fill"}
    twins = defaultdict(Counter)
    for task in [*split("test"), *split("dev")]:
        twins[task.template][task.category == "unachievable"] += 1
    for name, counts in twins.items():
        if counts[True]:
            assert abs(counts[False] - counts[True]) <= 2, name


def test_small_and_smoke_are_spread_over_templates() -> None:
    mini, smoke = split("mini"), split("smoke")
    assert (len(mini), len(smoke)) == (60, 12)
    assert len({t.template for t in smoke}) == 12
    assert len({t.template for t in mini}) == 60
    assert len({t.payload["start"][0] for t in mini}) == 3
    assert not {t.template + str(t.payload["params"]) for t in mini} & {
        t.template + str(t.payload["params"]) for t in smoke
    }
    assert {t.category for t in mini} >= {"retrieve", "navigate", "mutate", "fill"}
    assert {t.digest for t in smoke} == {small().get("smoke", n).digest for n in range(12)}


def test_ids_name_split_and_index() -> None:
    for name in SPLITS:
        task = small().get(name, small().count(name) - 1)
        assert task.id == f"webarena/{name}/{small().count(name) - 1}"
        assert small().get(name, task.index) == task


def test_a_task_has_the_check_of_its_kind_and_at_most_thirty_steps() -> None:
    for task in split("test"):
        checks = [check["check"] for check in task.payload["checks"]]
        assert NEEDED[TaskKind(task.category)] in checks
        assert 10 <= (task.max_steps or 0) <= MOST_STEPS
        assert 1 <= task.difficulty <= 4
        assert "{" not in task.payload["intent"]


@pytest.mark.parametrize("name", ["test", "test_ood"])
def test_four_levels_and_none_above_two_fifths_of_a_split(name: str) -> None:
    levels = Counter(task.difficulty for task in split(name))
    assert set(levels) == {1, 2, 3, 4}
    assert max(levels.values()) <= 0.4 * sum(levels.values())


def test_what_a_retrieve_task_answers_is_not_among_its_slots() -> None:
    for task in [*split("test"), *split("test_ood")]:
        if task.category != "retrieve":
            continue
        stop = plan_of(task)[-1]
        assert isinstance(stop, Stop)
        assert callable(stop.answer), task.template
        answer = next(check for check in task.payload["checks"] if check["check"] == "answer")
        slots = {str(value).casefold() for value in task.payload["params"].values()}
        for value in answer["values"]:
            assert len(value) < 4 or value.casefold() not in slots, (task.id, task.template)


def test_every_allowed_column_has_a_reason_and_they_are_few() -> None:
    allowed = defaultdict(set)
    for task in [*split("test"), *split("test_ood")]:
        for check in task.payload["checks"]:
            for entry in check.get("allow", ()):
                allowed[entry["table"], entry["column"]].add(entry["reason"])
    assert all(reason for reasons in allowed.values() for reason in reasons)
    assert {column for _, column in allowed} <= TIMES | {"slug", "picture"}
    assert len(allowed) == 16


@pytest.mark.parametrize("owner", [TEST, TEST_OOD], ids=lambda s: s.name)
def test_counts_and_digests_are_those_checked_in(owner) -> None:
    counts, digest = measure_world("small", owner, 0)
    kept = golden()["sizes"]["small"]
    assert counts == kept["counts"][owner.name]["0"]
    assert digest == kept["digests"][f"{owner.name}/0"]


@pytest.mark.slow
@pytest.mark.parametrize("size", ["small", "medium"])
def test_counts_and_digests_of_every_world_are_those_checked_in(size: str) -> None:
    kept = golden()["sizes"][size]
    for owner in GENERATED:
        for world in owner.worlds:
            counts, digest = measure_world(size, owner, world)
            assert counts == kept["counts"][owner.name][str(world)]
            assert digest == kept["digests"][f"{owner.name}/{world}"]


def test_a_world_gives_a_thousand_tasks() -> None:
    counts = golden()["sizes"]["medium"]["counts"]
    for world in range(1, 9):
        assert sum(counts["train"][str(world)].values()) >= 1000
    assert sum(counts["test"]["0"].values()) + sum(counts["test_ood"]["0"].values()) >= 1000
