"""Folders in the layout of BIRD and of Spider."""

import json

import pytest
from fruit_folder import FRUITS, bird, spider, write_fruits

from agentenv.errors import EnvFailed, UnknownOption
from agentenv.protocol import Action
from envservers.sql.env import SQLEnv
from envservers.sql.spec import SPEC
from envservers.sql.tasks import make_tasks

GOLD = "SELECT name FROM f WHERE qty = 5"


def test_a_folder_of_bird_s_layout_is_played_with_its_difficulty_and_without_its_evidence(tmp_path):
    options = {"folder": str(bird(tmp_path, GOLD))}
    tasks = make_tasks(options)
    assert tasks.splits() == ("train", "dev")
    assert tasks.get("train", 0).difficulty == 2
    env = SQLEnv(**options)
    seen = env.reset(tasks.get("dev", 0)).observation
    assert "Table f: name TEXT, price REAL, qty INTEGER." in seen
    assert "fig is a fruit" not in seen
    assert env.step(Action(text=GOLD)).success


def test_spider_s_two_files_for_training_are_one_split_and_its_test_databases_are_found(tmp_path):
    spider(tmp_path, GOLD)
    write_fruits(tmp_path / "test_database/fruit/fruit.sqlite")
    for name in ("train_spider", "train_others", "test"):
        rows = [{"db_id": "fruit", "question": f"From {name}?", "query": GOLD}]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    tasks = make_tasks({"folder": str(tmp_path)})
    assert {split: tasks.count(split) for split in tasks.splits()} == {"train": 2, "dev": 1, "test": 1}
    asked = [tasks.get("train", index).payload["question"] for index in range(2)]
    assert asked == ["From train_spider?", "From train_others?"]
    assert tasks.get("test", 0).payload["files"] == ["test_database/fruit/fruit.sqlite"]


def test_evidence_is_shown_where_it_is_asked_for(tmp_path):
    options = {"folder": str(bird(tmp_path, GOLD)), "evidence": True}
    assert "Evidence: fig is a fruit" in SQLEnv(**options).reset(make_tasks(options).get("dev", 0)).observation


def test_an_answer_must_hold_in_further_databases_of_the_folder(tmp_path):
    options = {"folder": str(spider(tmp_path, GOLD))}
    write_fruits(tmp_path / "database/fruit/other.sqlite", [*FRUITS[:3], ("kiwi", 9.0, 5)])
    env, task = SQLEnv(**options), make_tasks(options).get("dev", 0)
    for sql, right in (("SELECT 'fig'", False), (f"{GOLD} AND price > 1", True)):
        env.reset(task)
        assert env.step(Action(text=sql)).success is right


def test_the_order_of_a_gold_query_counts_where_it_has_one(tmp_path):
    tasks = make_tasks({"folder": str(spider(tmp_path, "SELECT name FROM f", "SELECT name FROM f ORDER BY qty"))})
    assert [tasks.get("dev", n).payload["ordered"] for n in range(2)] == [False, True]


def test_a_gold_query_that_fails_breaks_the_environment_and_not_the_score(tmp_path):
    options = {"folder": str(spider(tmp_path, "SELECT nothing FROM f"))}
    env = SQLEnv(**options)
    env.reset(make_tasks(options).get("dev", 0))
    with pytest.raises(EnvFailed, match="gold query"):
        env.step(Action(text="SELECT 1"))


@pytest.mark.parametrize("db_id", ["../fruit", "missing", "", ".."])
def test_a_database_outside_of_the_folder_or_missing_is_refused(tmp_path, db_id):
    spider(tmp_path, GOLD)
    (tmp_path / "dev.json").write_text(json.dumps([{"db_id": db_id, "question": "q", "query": GOLD}]))
    with pytest.raises(UnknownOption, match="option folder"):
        make_tasks({"folder": str(tmp_path)})


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"question": "q"}]', "[]"])
def test_a_file_that_is_no_list_of_questions_is_refused(tmp_path, text):
    spider(tmp_path, GOLD)
    (tmp_path / "dev.json").write_text(text)
    with pytest.raises(UnknownOption, match="option folder"):
        make_tasks({"folder": str(tmp_path)})
    with pytest.raises(UnknownOption, match="no such folder"):
        make_tasks({"folder": str(tmp_path / "nowhere")})


def test_a_session_may_not_choose_a_folder_of_the_server():
    with pytest.raises(UnknownOption, match="server"):
        SPEC.resolve_options({"folder": "/"}, scope="session")
