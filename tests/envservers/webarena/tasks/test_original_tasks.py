import asyncio
import json
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from agentenv.cli.main import main
from agentenv.errors import BadCall
from envservers.webarena.evaluators.original import score
from envservers.webarena.evaluators.original_functions import Review, read_call
from envservers.webarena.evaluators.original_result import ScriptFailed
from envservers.webarena.tasks import original
from envservers.webarena.tasks.original import needed_sites, original_tasks, verified_tasks, with_sites

TASK = {
    "task_id": 3,
    "sites": ["shopping"],
    "intent": "Find it",
    "intent_template_id": 7,
    "start_url": "__SHOPPING__/a |AND| __REDDIT__",
    "eval": {"eval_types": ["url_match"], "reference_url": "__MAP__/x", "note_of_nobody": 1},
    "unknown": {"a": 1},
}
VERIFIED = {
    "task_id": 3,
    "sites": ["shopping", "map"],
    "intent": "Get it",
    "intent_template_id": 7,
    "start_urls": ["__SHOPPING__"],
    "eval": [{"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve"}}],
}


def written(tmp_path, records):
    path = tmp_path / "tasks.json"
    path.write_text(records if isinstance(records, str) else json.dumps(records))
    return path


def test_a_task_of_a_file_is_listed_as_one_that_needs_sites(tmp_path):
    (task,) = original_tasks(written(tmp_path, [TASK]))
    assert (task.id, task.kind, task.needs) == ("original/3", "url_match", "needs sites")
    assert task.start_urls == ("__SHOPPING__/a", "__REDDIT__")
    assert needed_sites(task) == ["map", "reddit", "shopping"]


def test_a_verified_task_is_listed_by_what_it_asks_for(tmp_path):
    (task,) = verified_tasks(written(tmp_path, [VERIFIED]))
    assert (task.id, task.kind, task.needs) == ("verified/3", "retrieve", "needs sites")


def test_both_sets_are_read_out_of_a_wheel(tmp_path):
    wheel = tmp_path / "tasks.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(original.ORIGINAL_FILE, json.dumps([TASK]))
        archive.writestr(original.VERIFIED_FILE, json.dumps([VERIFIED]))
    assert [t.id for t in original_tasks(wheel) + verified_tasks(wheel)] == ["original/3", "verified/3"]


def test_placeholders_are_replaced_as_text():
    sites = {"shopping": "http://h:7770/", "shopping_admin": "http://h:7780/admin"}
    assert with_sites("__SHOPPING__/a?b=__SHOPPING_ADMIN__", sites) == "http://h:7770/a?b=http://h:7780/admin"
    assert with_sites("nothing __HERE__", {}) == "nothing __HERE__"


def test_all_missing_sites_are_named_at_once():
    with pytest.raises(BadCall, match="no address for: REDDIT, MAP; set"):
        with_sites("__REDDIT__ __MAP__ __SHOPPING__", {"shopping": "http://h"})


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ("not json", "cannot be read as tasks: JSONDecodeError"),
        ("[" * 100_000, "cannot be read as tasks: RecursionError"),
        ({"a": 1}, "must be a list"),
        ([1], "task at 0: must be an object"),
        ([TASK, TASK], "same task_id"),
        ([{**TASK, "task_id": True}], "task at 0: task_id: must be a number"),
        ([{**TASK, "task_id": -1}], "task_id: must be a number"),
        ([{**TASK, "sites": "shopping"}], "sites: must be a list"),
        ([{**TASK, "intent": "x" * 20_001}], "intent: must be a text"),
        ([{**TASK, "start_url": None}], "start_url: must be a text"),
        ([{**TASK, "eval": {"eval_types": ["magic"]}}], "task at 0: eval.eval_types"),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_place(tmp_path, records, words):
    with pytest.raises(BadCall, match=words):
        original_tasks(written(tmp_path, records))


@pytest.mark.parametrize("evaluators", [None, [], [1], [{"expected": 3}], [{"expected": {}}]])
def test_a_verified_task_without_an_expectation_is_refused(tmp_path, evaluators):
    with pytest.raises(BadCall, match="no evaluator with"):
        verified_tasks(written(tmp_path, [{**VERIFIED, "eval": evaluators}]))


def test_a_file_that_is_not_there_and_one_that_is_no_archive_are_named(tmp_path):
    with pytest.raises(BadCall, match=r"gone\.json: cannot be read as tasks: FileNotFoundError"):
        original_tasks(tmp_path / "gone.json")
    (tmp_path / "bad.whl").write_text("no archive")
    with pytest.raises(BadCall, match="BadZipFile"):
        original_tasks(tmp_path / "bad.whl")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(original, "MOST_BYTES", 1000)
    wheel = tmp_path / "big.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(original.ORIGINAL_FILE, " " * 100_000)
    with pytest.raises(BadCall, match="over 1000 bytes"):
        original_tasks(wheel)


def test_a_missing_package_is_named_with_what_to_type(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    with pytest.raises(BadCall, match=r"pip install webarena-verified==1\.2\.3 --no-deps"):
        original_tasks()


class GoldPage:
    """Stands where a task wants it to, and holds on every page what a task looks for there."""

    def __init__(self, url, targets):
        self.url, self._targets = url, targets

    async def content(self):
        return " ".join(text for target in self._targets if not target.locator.strip() for text in texts_of(target))

    async def evaluate(self, script):
        found = [target for target in self._targets if is_asked(target.locator, script)]
        if not found:
            raise ScriptFailed("a step before the script")
        return " ".join(text for target in found for text in texts_of(target))

    async def open(self, url):
        return GoldPage(url, [t for t in self._targets if t.url.startswith("func:") or t.url == url])

    async def close(self):
        pass


class GoldApi:
    base_url = "__SHOPPING__"

    def __init__(self, targets):
        self._targets = targets

    async def latest_order(self):
        return "000000001"

    async def reviews(self, sku):
        found = [target for target in self._targets if f"'{sku}'" in target.locator]
        by_rule = {"author" if "author" in target.locator else "percent": texts_of(target)[0] for target in found}
        return [Review(**{"author": "", "percent": "", **by_rule})]


def is_asked(locator, script):
    """Whether a script is a target's locator, or asks for the role of the member that its locator names."""
    if locator.startswith("func:gitlab"):
        return f'"@{read_call(locator).arguments[1]}"' in script
    return bool(locator.strip()) and script == f"() => {locator}"


def texts_of(target):
    return [target.exact] if target.exact is not None else _first(target.includes)


def _first(texts):
    return [text.split(" |OR| ")[0] for text in texts]


def gold_answer(evaluation):
    if evaluation.unachievable:
        return "N/A"
    parts = evaluation.includes or ()
    return evaluation.exact if evaluation.exact is not None else ", ".join([*parts, *(evaluation.fuzzy or ())])


@pytest.fixture(scope="module")
def installed():
    try:
        metadata.distribution(original.DISTRIBUTION)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{original.DISTRIBUTION} is not installed: {original.HINT}")
    return original_tasks(), verified_tasks()


def test_the_published_sets_are_listed_whole(installed):
    tasks, verified = installed
    assert [task.number for task in tasks] == list(range(812))
    assert len(verified) == 812
    assert sum("string_match" in task.evaluation.types for task in tasks) == 335
    assert sum(task.evaluation.unachievable for task in tasks) == 36
    assert sum(len(task.evaluation.targets) for task in tasks) == 651
    assert len({task.template for task in tasks}) == 190


def test_the_gold_answer_and_page_of_every_published_task_score_one(installed):
    wrong = [task.number for task in installed[0] if not golden(task)]
    assert wrong == []


def test_strict_takes_every_gold_answer_but_a_bare_na(installed):
    wrong = [task.number for task in installed[0] if not golden(task, rules="strict")]
    assert wrong == [task.number for task in installed[0] if task.evaluation.unachievable]


def golden(task, rules="original"):
    """Whether one of the reference addresses, with the gold answer and the texts looked for, scores 1."""
    evaluation = task.evaluation
    for url in (evaluation.reference_url or "http://h/").split(" |OR| "):
        page, api = GoldPage(url, evaluation.targets), GoldApi(evaluation.targets)
        result = asyncio.run(
            score(evaluation, intent=task.intent, answer=gold_answer(evaluation), page=page, api=api, rules=rules)
        )
        if result.score == 1.0:
            return True
    return False


def test_the_file_of_the_wheel_is_found_without_importing_it(installed):
    import sys

    assert "webarena_verified" not in sys.modules
    assert Path(original._installed(original.ORIGINAL_FILE)).is_file()


def listed(capsys, *words):
    with pytest.raises(SystemExit) as exit:
        main(["envs", "webarena", *words])
    return exit.value.code or 0, *capsys.readouterr()


def test_the_command_line_lists_them_as_tasks_that_need_sites(tmp_path, capsys):
    code, out, _ = listed(capsys, "--list", "original", "--file", str(written(tmp_path, [TASK])), "--json")
    (row,) = json.loads(out)
    assert (code, row["id"], row["needs"]) == (0, "original/3", "needs sites: map, reddit, shopping")
    code, _, err = listed(capsys, "--list", "published")
    assert code == 2
    assert "it has original, verified" in err
