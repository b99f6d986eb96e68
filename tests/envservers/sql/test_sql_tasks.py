"""The tasks: counts, splits apart, shares that the questions keep, mutants that the hidden databases reject."""

import re
from collections import Counter

import pytest

from agentenv.config import home
from agentenv.protocol import digest_of
from agentenv.registry import get_spec
from agentenv.testing.subject import spaced
from envservers.sql.ask.draw import BUILDERS, HELD_TEXTS, draw, templates
from envservers.sql.ask.mutants import mutants
from envservers.sql.databases import databases, reader
from envservers.sql.make_tasks import LEAST_MUTANTS, LEAST_REJECTED, WANTED_REJECTED, Tally, why_not
from envservers.sql.spec import SPEC
from envservers.sql.tasks import COUNTS, canonical_task, table, world_tasks
from envservers.sql.worlds.schema import NAMING, SCHEMAS, SPLIT_SCHEMAS, schema

OUTSIDE_TRAIN = ("dev", "test", "test_ood")


def drafts(split):
    entries = table()[split]
    some = entries if split != "train" else [entries[i] for i in spaced(len(entries), 600)]
    return [draw(e.schema, e.template, e.number, held=split == "test_ood") for e in some]


@pytest.fixture(scope="module")
def drawn():
    return {split: drafts(split) for split in COUNTS}


def test_the_env_is_found_by_its_entry_point():
    assert get_spec("sql") == SPEC


def test_the_splits_have_their_counts_and_nothing_is_built_to_know_a_task():
    tasks = SPEC.task_set()
    assert {split: tasks.count(split) for split in tasks.splits()} == dict(COUNTS)
    assert tasks.get("test", 0).payload["question"]
    assert not (home() / "sql" / tasks.get("train", 0).payload["schema"]).exists() or home().name.startswith("sql-home")


GOLDEN = {
    "train": "f43cfd774cb6b113",
    "dev": "6acad741d32fb26b",
    "test": "439a600c20c95152",
    "test_ood": "74cd3681da096545",
}


@pytest.mark.parametrize("split", COUNTS)
def test_the_tasks_are_what_they_were(split):
    tasks = world_tasks("single")
    assert digest_of([tasks.get(split, i).digest for i in spaced(COUNTS[split], 300)])[:16] == GOLDEN[split]


GOLDEN_ROWS = "6acefda21dfba096"


def test_the_databases_are_what_they_were():
    seen = []
    for name in ("library", "retail", "port"):
        for path in databases(name):
            with reader(path) as lent:
                for listed in schema(name).tables:
                    seen.append([list(row) for row in lent.run(f"SELECT * FROM {listed}").rows])
    assert digest_of(seen)[:16] == GOLDEN_ROWS


NOT_SAID = (
    "whose points is",
    "dues is",
    "goods is",
    "hours is",
    "citations is",
    "means of transport are",
    "length_s are",
)


@pytest.mark.parametrize("split", COUNTS)
def test_verbs_agree_with_what_columns_are_called_and_no_number_of_a_room_is_added_up(drawn, split):
    for draft in drawn[split]:
        assert not [words for words in NOT_SAID if words in draft.question], draft.question
        assert not re.search(r"(SUM|AVG|MAX|MIN)\(\w+\.(office_no|phone_ext|shelf_mark|meeting_room)\)", draft.sql)
        assert not re.search(r"SUM\(\w+\.(floor_no|height_cm|vat_pct|h_index|rating)\)", draft.sql)


def test_names_that_make_no_noun_are_spelled_as_the_database_does():
    fields = {f.name: f.plain for name in SCHEMAS for t in schema(name).tables.values() for f in t.fields}
    assert (fields["released_on"], fields["fee_m"], fields["full_name"]) == ("released_on", "fee_m", "full name")


def test_every_level_is_a_column_of_numbers():
    for name in SCHEMAS:
        found = schema(name)
        known = {f"{t.name}.{f.name}" for t in found.tables.values() for f in t.of_kind("int", "real")}
        assert found.levels <= known, name


def test_no_schema_and_no_question_is_in_two_splits():
    by_split = {split: {entry.schema for entry in entries} for split, entries in table().items()}
    assert by_split == {split: set(names) for split, names in SPLIT_SCHEMAS.items()}
    assert sum(map(len, by_split.values())) == len(set().union(*by_split.values())) == len(SCHEMAS) >= 12
    tasks = world_tasks("single")
    forms = [{str(canonical_task(tasks.get(s, i))) for i in spaced(COUNTS[s], 300)} for s in COUNTS]
    assert len(set().union(*forms)) == sum(map(len, forms))


@pytest.mark.parametrize("split", OUTSIDE_TRAIN)
def test_no_gold_query_comes_twice_in_a_split(drawn, split):
    assert len({draft.sql for draft in drawn[split]}) == len(drawn[split])


def test_a_fifth_of_the_templates_and_two_phrasings_of_each_are_asked_in_test_ood_alone():
    held = {name for name, template in templates().items() if template.held}
    assert len(held) >= 0.2 * len(BUILDERS)
    used = {split: {entry.template for entry in entries} for split, entries in table().items()}
    assert held <= used["test_ood"]
    assert not held & (used["train"] | used["dev"] | used["test"])
    for template in templates().values():
        assert len(set(template.texts)) >= 5
        assert HELD_TEXTS >= 2
    ood = [entry.template in held for entry in table()["test_ood"]]
    assert 0.3 < sum(ood) / len(ood) < 0.7


@pytest.mark.parametrize("split", COUNTS)
def test_the_shares_that_make_a_split_worth_playing(drawn, split):
    found = drawn[split]
    levels = Counter(draft.difficulty for draft in found)
    assert set(levels) == {1, 2, 3, 4}
    assert max(levels.values()) <= 0.4 * len(found)
    assert sum(draft.scalar for draft in found) <= 0.4 * len(found)
    assert sum(not draft.named for draft in found) >= 0.5 * len(found)
    assert sum(draft.respelled for draft in found) >= 0.2 * len(found)


@pytest.mark.parametrize("split", COUNTS)
def test_hidden_databases_reject_mutants_and_no_gold_result_is_empty_or_all_null(drawn, split):
    tally = Tally()
    entries = table()[split]
    for index in spaced(len(entries), 25):
        entry = entries[index]
        draft = draw(entry.schema, entry.template, entry.number, held=split == "test_ood")
        assert len(mutants(draft.query, schema(entry.schema))) >= LEAST_MUTANTS
        assert why_not(entry.schema, draft, tally) == ""
    assert LEAST_REJECTED == 0.8
    assert WANTED_REJECTED == 0.95
    assert tally.rejected >= 0.9 * tally.mutants  # of a sample; make_tasks holds every split to 95 %


def test_schemas_have_five_to_twelve_tables_with_names_for_every_row_and_words_for_every_column():
    for name in SCHEMAS:
        found = schema(name)
        assert 5 <= len(found.tables) <= 12
        for listed in found.tables.values():
            assert listed.key.kind == "key"
            for field in listed.fields:
                if field.kind in ("label", "word"):
                    assert len({value.stored for value in found.pool(field)}) >= listed.rows[1], (name, field.name)
                if field.kind == "ref":
                    assert list(found.tables).index(field.parent) < list(found.tables).index(listed.name)
                    assert len(field.says) == 2
                if field.kind not in NAMING | {"key", "flag", "ref"}:
                    assert len(field.says) == 1, (name, field.name)
                    assert not re.search(rf"\b{field.plain}\b", field.says[0]), (name, field.name)


def test_databases_of_a_schema_share_what_rows_are_called_and_differ_in_all_else():
    sets, rows = [], []
    for path in databases("retail"):
        with reader(path) as lent:
            sets.append({name for (name,) in lent.run("SELECT product_name FROM products").rows})
            rows.append(lent.run("SELECT product_id, unit_price FROM products").rows)
    assert len(set.intersection(*sets)) >= 90
    assert len(set(rows)) == 3
    with reader(databases("retail")[0]) as lent:
        orphans = "SELECT COUNT(*) FROM order_items WHERE order_id NOT IN (SELECT order_id FROM orders)"
        assert lent.run(orphans).rows == ((0,),)


def test_a_damaged_database_is_found_and_made_anew(tmp_path, monkeypatch):
    from envservers.sql.databases import _databases

    monkeypatch.setenv("AGENTENV_HOME", str(tmp_path))
    path = databases("zoo")[1]
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    _databases.cache_clear()
    assert databases("zoo")[1].read_bytes() == whole
