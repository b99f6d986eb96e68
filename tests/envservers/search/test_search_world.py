"""What the encyclopedia promises: one answer a question, namesakes, no leaks, splits that share nothing."""

import hashlib
import json
from collections import Counter

import pytest

from agentenv.protocol import digest_of
from envservers.search.calibrate import calibrated, calibration
from envservers.search.scoring import normalise
from envservers.search.tasks import COUNTS, canonical_task
from envservers.search.world.build import PASSAGES, SEED, world_folder
from envservers.search.world.graph import SIZES, Entity, build_graph
from envservers.search.world.language import HELD_OUT, PHRASINGS, YEAR, relations, words
from envservers.search.world.questions import NEAR_MISSES, OVERLAP, UNANSWERABLE, content_words
from envservers.search.world.templates import templates
from envservers.search.world.text import write_all

SPLITS = ("train", "dev", "test", "test_ood")
GOLDEN_PASSAGES = "43daec636b957d98fbf896bc765eae98f64fa570a459a4159d054bdfdb5e4ceb"
GOLDEN_TASKS = "8f12203699c3d7fa683b7081d887cca5b0241decbb471ee81cbd8c5c6f6f2ffa"


@pytest.fixture(scope="module")
def graph():
    return build_graph(SEED, "small")


@pytest.fixture
def tasks(world):
    return [world.get(split, index) for split in SPLITS for index in range(world.count(split))]


def test_equal_seeds_make_equal_passages_and_questions(world, tasks):
    assert hashlib.sha256((world_folder("small") / PASSAGES).read_bytes()).hexdigest() == GOLDEN_PASSAGES
    assert digest_of([task.digest for task in tasks]) == GOLDEN_TASKS


def test_the_full_encyclopedia_has_at_least_twenty_thousand_passages():
    assert SIZES["full"] >= 20_000
    assert dict(COUNTS["full"]) == {"train": 20_000, "dev": 500, "test": 500, "test_ood": 500}


def test_no_two_entities_share_a_name_or_an_alias_even_normalised(graph):
    counts = Counter(normalise(name) for entity in graph for name in entity.names)
    assert [name for name, count in counts.items() if count > 1] == []


def test_at_least_fifteen_per_cent_of_entities_share_a_word_of_their_name(graph):
    shared = Counter((e.kind, word) for e in graph for word in content_words(e.name))
    namesakes = [e for e in graph if any(shared[e.kind, word] > 1 for word in content_words(e.name))]
    assert len(namesakes) >= 0.15 * len(graph)


def test_every_relation_has_its_forms_and_held_out_phrasings():
    for relation in relations().values():
        assert len(set(relation.says)) >= 6
        assert len(set(relation.asks)) == PHRASINGS
        assert bool(relation.nouns) == (relation.range != YEAR)
        for forms in (relation.nouns, relation.earlier):
            assert len(set(forms)) in (0, PHRASINGS)


def test_a_relation_that_holds_both_ways_is_said_once_and_answered_from_both_sides(graph):
    mutual = [relation for relation in relations().values() if relation.mutual]
    assert [relation.name for relation in mutual] == ["twin"]
    for relation in mutual:
        told = [(e, e.facts[relation.name]) for e in graph if relation.name in e.facts]
        assert len(told) > 0.7 * sum(e.kind == relation.domain for e in graph)
        for entity, fact in told:
            other = graph[fact.object].facts[relation.name]
            assert (other.object, other.told_by) == (entity.id, fact.told_by)
            assert fact.told_by in (entity.id, fact.object)
        written = write_all(graph, SEED)
        for entity, fact in told:
            assert written[fact.told_by].text.count(written[fact.told_by].sentences[entity.id, relation.name]) == 1


def test_a_capital_lies_in_its_region(graph):
    capitals = [e for e in graph if "capital" in e.facts]
    assert len(capitals) >= 0.8 * sum(e.kind == "region" for e in graph)
    for region in capitals:
        assert graph[region.facts["capital"].object].facts["region"].object == region.id


def test_names_and_passages_agree_on_what_a_thing_is(graph):
    called = words()["called"]
    for entity in graph:
        if entity.type in called:
            assert called[entity.type] in entity.name
    told = write_all(graph, SEED)
    ship, town = (next(e for e in graph if e.kind == kind and not e.aliases) for kind in ("ship", "place"))
    assert told[ship.id].text.startswith(f"{ship.name} was a ")
    assert told[town.id].text.startswith(f"{town.name} is a ")


def test_ships_come_from_shipyards(graph):
    builders = {graph[e.facts["builder"].object].type for e in graph if "builder" in e.facts}
    assert builders == {"shipyard"}


def test_nobody_commands_a_ship_in_childhood(graph):
    born = {e.id: int(e.facts["born"].mention) for e in graph if "born" in e.facts}
    for ship in (e for e in graph if e.kind == "ship" and {"captain", "launched"} <= set(e.facts)):
        if (captain := ship.facts["captain"].object) in born:
            assert 25 <= int(ship.facts["launched"].mention) - born[captain] <= 55


def follow(graph: list[Entity], subject: str, path: list[str]) -> list[str]:
    """The answers that the graph gives for a path from whatever is called `subject`, by brute force."""
    found = []
    for entity in (e for e in graph if subject in e.names):
        here: Entity | None = entity
        answer: list[str] = []
        for name in path:
            fact = here.facts.get(name) if here is not None else None
            if fact is None:
                return []
            here = None if fact.object is None else graph[fact.object]
            answer = [fact.mention] if here is None else list(here.names)
        found.append(answer)
    assert len(found) == 1, f"{len(found)} entities are called {subject}"
    return found[0]


def test_the_graph_gives_exactly_the_listed_answer_for_every_question(tasks, graph):
    for task in tasks:
        kind, _, path = task.template.partition(":")
        way, payload = path.split("."), task.payload
        subjects = [graph[int(number)] for number in payload["canonical"].rpartition(":")[2].split(".")]
        called = [next(n for n in s.names if n in payload["question"]) for s in subjects]
        answers = [follow(graph, name, way) for name in called]
        if kind.startswith("missing"):
            assert answers == [[]]
            assert payload["answers"] == list(UNANSWERABLE)
        elif kind == "same":
            assert payload["answers"] == ["yes" if answers[0] == answers[1] else "no"]
        elif kind in ("earlier", "via"):
            years = [int(year) for [year] in answers]
            first = called[years.index(min(years))]
            assert years[0] != years[1]
            right = graph[subjects[called.index(first)].facts[way[0]].object].names if kind == "via" else None
            assert payload["answers"] == list(right or subjects[called.index(first)].names)
        else:
            assert answers == [payload["answers"]]


def test_bridges_and_answers_are_not_in_the_question(tasks, graph):
    for task in tasks:
        said = f" {normalise(task.payload['question'])} "
        named = {
            n for number in task.payload["canonical"].rpartition(":")[2].split(".") for n in graph[int(number)].names
        }
        hidden = [] if task.payload["kind"] in ("earlier", "same") else task.payload["answers"]
        bridges = [step["read"] for step in task.payload["steps"][:-1] if task.category == "multi-hop"]
        for text in {*hidden, *bridges} - named - {""}:
            assert f" {normalise(text)} " not in said, (task.id, text)


def test_gold_passages_share_few_words_with_the_question_and_have_near_misses(tasks, graph, world):
    lines = (world_folder("small") / PASSAGES).read_text(encoding="utf-8").splitlines()
    for task in tasks:
        asked = content_words(task.payload["question"])
        for step in task.payload["steps"]:
            told = content_words(json.loads(lines[step["passage"]])["text"])
            assert len(asked & told) <= OVERLAP * len(told)
        subject = graph[int(task.payload["canonical"].rpartition(":")[2].split(".")[0])]
        first = task.template.partition(":")[2].split(".")[0]
        own = content_words(subject.name)
        near = [
            e
            for e in graph
            if e.kind == subject.kind and e is not subject and own & content_words(e.name)
            if first in e.facts
        ]
        if task.category != "comparison":
            assert len(near) >= NEAR_MISSES, task.id


def test_no_question_stands_twice_and_no_world_is_asked_about_in_two_splits(tasks, graph):
    assert len({canonical_task(task) for task in tasks}) == len(tasks)
    for task in tasks:
        for step in task.payload["steps"]:
            assert graph[step["entity"]].world == task.split


def test_a_fifth_of_templates_and_two_phrasings_are_seen_in_test_ood_alone(tasks):
    kept, held = (sum(len(some) for some in templates(ood=ood).values()) for ood in (False, True))
    assert held >= 0.2 * (kept + held)
    seen = {split: {t.template for t in tasks if t.split == split} for split in SPLITS}
    ood = {t.name for some in templates(ood=True).values() for t in some}
    assert not ood & (seen["train"] | seen["dev"] | seen["test"])
    assert ood & seen["test_ood"]
    for task in tasks:
        assert (task.payload["phrasing"] >= PHRASINGS - HELD_OUT) == (task.split == "test_ood")


def test_names_of_test_ood_come_from_a_pool_of_their_own(graph):
    surnames = {w: {e.name.split()[1] for e in graph if e.kind == "person" and e.world == w} for w in SPLITS}
    assert surnames["train"] & surnames["test"]
    assert not surnames["test_ood"] & (surnames["train"] | surnames["dev"] | surnames["test"])


@pytest.mark.parametrize("split", SPLITS)
def test_no_level_fills_more_than_two_fifths_and_kinds_keep_their_shares(world, split):
    tasks = [world.get(split, index) for index in range(world.count(split))]
    levels = Counter(task.difficulty for task in tasks)
    assert set(levels) == {1, 2, 3, 4}
    assert max(levels.values()) <= 0.4 * len(tasks)
    categories = Counter(task.category for task in tasks)
    assert categories["comparison"] <= 0.15 * len(tasks)
    assert categories["unanswerable"] <= 0.10 * len(tasks)


@pytest.mark.slow
@pytest.mark.parametrize("split", ["dev", "test", "test_ood"])
def test_a_search_for_the_raw_question_finds_neither_too_much_nor_too_little(split):
    report = calibration("full", split)
    assert calibrated(report), report
