"""`agentenv data import agentgym`: what items come to, and what is written of those that are here."""

import json
from pathlib import Path

import pytest
import yaml

from agentenv.agents.prompts import load_format
from agentenv.cli.main import main
from agentenv.data.agentgym.files import BadData, read_folder, role_of
from agentenv.data.agentgym.kinds import kind_of, kinds
from agentenv.data.agentgym.places import Places, Status
from agentenv.data.agentgym.records import UNKNOWN_END, trajectory_of
from agentenv.errors import BadCall
from agentenv.protocol import Outcome
from agentenv.registry import get_spec
from agentenv.trajectory import read_jsonl
from evals.plan import make_plan
from evals.suite import load as load_suite
from trainers.config import TrainConfig
from trainers.settings import load
from trainers.tasks import chosen

FILES = Path(__file__).with_name("agentgym_files")


@pytest.fixture
def cli(capsys):
    """Call the command line in this process: exit code, stdout, stderr."""

    def call(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit:
            main(["data", "import", "agentgym", *map(str, words)])
        out, err = capsys.readouterr()
        return int(exit.value.code or 0), out, err

    return call


@pytest.fixture(scope="module")
def rows():
    return {(row.file, row.number): row for row in read_folder(FILES)}


def of_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def task_of(item_id: str) -> str:
    place = Places().of(item_id)
    assert place.task is not None, place
    return place.task.id


# Where items stand


@pytest.mark.parametrize(
    ("item", "task"),
    [
        ("babyai_0", "babyai/agentgym/0"),
        ("babyai_3999", "babyai/agentgym/3999"),
        ("lmrlgym_maze_0", "maze/double_t/0"),
        ("maze_24", "maze/double_t/24"),
    ],
)
def test_an_item_is_the_task_of_its_number_where_numbers_mean_the_same(item, task):
    assert task_of(item) == task
    assert Places().of(item).status is Status.OK


def test_babyai_counts_forty_levels_and_then_the_next_seed():
    tasks = get_spec("babyai").task_set()
    for number in (0, 39, 40, 3999):
        assert task_of(f"babyai_{number}") == f"babyai/agentgym/{number}"
        assert tasks.get("agentgym", number).seed == number // 40
    assert tasks.get("agentgym", 0).template == tasks.get("agentgym", 40).template
    assert len({tasks.get("agentgym", number).template for number in range(40)}) == 40


def test_a_task_of_sciworld_is_that_of_the_references_numbering():
    places = Places()
    if places.of("sciworld_0").status is Status.NEEDS:
        pytest.skip(str(places.of("sciworld_0")))
    last = places.of("sciworld_4638")
    assert (last.task.id, last.options) == ("sciworld/agentgym/4638", {"numbering": "agentgym"})
    assert places.of("sciworld_4639").why == "numbers of sciworld end at 4638 here"


@pytest.mark.parametrize(
    ("item", "status", "words"),
    [
        ("webshop_6", Status.NEEDS, "items_shuffle_1000.json"),
        ("webarena_811", Status.NEEDS, "six sites"),
        ("alfworld_2420", Status.NEEDS, "json_2.1.1"),
        ("sqlgym_10961", Status.NEEDS, "BIRD"),
        ("searchqa_51712", Status.NEEDS, "Search-R1"),
        ("weather_342", Status.NEEDS, "open-meteo"),
        ("tool_weather_1", Status.NEEDS, "open-meteo"),
        ("movie_237", Status.NEEDS, "TMDB"),
        ("todo_154", Status.NEEDS, "Todoist"),
        ("tool_academia_19", Status.NEEDS, "paper_net.pkl"),
        ("tool_sheet_19", Status.NEEDS, "Google Sheets"),
        ("textcraft_12", Status.NOT_PORTABLE, "file system"),
        ("lmrlgym_wordle_4", Status.NOT_PORTABLE, "drawn again"),
        ("lmrlgym_maze_25", Status.NOT_PORTABLE, "end at 24"),
        ("babyai_4000", Status.NOT_PORTABLE, "end at 3999"),
        ("babyai_007", Status.NOT_PORTABLE, "no number"),
        ("babyai_-1", Status.NOT_PORTABLE, "no number"),
        ("maze_left", Status.NOT_PORTABLE, "no number"),
        ("babyai_99999999999999999999", Status.NOT_PORTABLE, "no number"),
        ("chess_1", Status.NOT_PORTABLE, "no prefix"),
        ("12", Status.NOT_PORTABLE, "no prefix"),
    ],
)
def test_every_other_item_says_what_is_missing(item, status, words):
    place = Places().of(item)
    assert (place.status, place.task) == (status, None)
    assert words in place.why
    assert str(place) == f"{status} ({place.why})"


def test_the_name_of_a_game_of_alfworld_has_a_task_of_the_same_sort_that_stands_in():
    name = "look_at_obj_in_light-AlarmClock-None-DeskLamp-301_trial_T20190907_174127_043461"
    for item in (name, f"alfworld_{name}"):
        place = Places().of(item)
        assert place.status is Status.NEEDS
        assert place.stand_in is not None
        assert "AlarmClock" in get_spec("alfworld").task_set().get(place.stand_in.split, place.stand_in.index).template
    assert Places().of("alfworld_7").stand_in is None, "a number says nothing of its game"


def test_the_table_covers_every_prefix_once_and_names_what_there_is():
    prefixes = [prefix for kind in kinds() for prefix in kind.prefixes]
    assert len(prefixes) == len(set(prefixes))
    for kind in kinds():
        assert sum(map(bool, (kind.ranges and not kind.needs, kind.needs, kind.why))) == 1, kind.name
        load_format(kind.format)
        if kind.env:
            assert {*kind.options, *kind.asks, *kind.takes} <= {option.name for option in get_spec(kind.env).options}
    assert kind_of("lmrlgym_maze_3")[0].name == "maze"
    assert kind_of("tool_todo_3")[0].name == "todo"


def test_with_the_users_copy_of_the_data_its_items_are_tasks(tmp_path):
    rows = [{"db_id": "one", "question": f"How many {n}?", "SQL": f"SELECT {n}"} for n in range(3)]
    (tmp_path / "database" / "one").mkdir(parents=True)
    (tmp_path / "database" / "one" / "one.sqlite").touch()
    for split in ("train", "dev"):
        (tmp_path / f"{split}.json").write_text(json.dumps(rows))
    places = Places({"sqlgym": {"folder": str(tmp_path)}})
    assert places.of("sqlgym_2").task.id == "sql/train/2"
    assert places.of("sqlgym_9429").task.id == "sql/dev/1"
    assert places.of("sqlgym_9429").options == {"match": "set", "folder": str(tmp_path)}
    assert places.of("sqlgym_3").status is Status.NEEDS, "the copy is smaller than the original"


@pytest.mark.parametrize(
    "given", [{"chess": {"folder": "x"}}, {"sqlgym": {"evidence": "1"}}, {"babyai": {"size": "3"}}]
)
def test_an_import_takes_no_other_options(given):
    with pytest.raises(BadCall, match=r"an import takes sqlgym\.folder"):
        Places(given)


# Files


def test_folders_and_names_say_what_a_file_is_for():
    assert [role_of(n) for n in ("train/a.json", "eval/a.json", "a_test.json", "a_train.json", "a.json")] == [
        "train", "eval", "eval", "train", "train",
    ]  # fmt: skip
    assert role_of("eval/a_train.json") == "eval"


def test_what_is_hidden_or_deep_is_not_read(tmp_path):
    for name in (".cache/a_train.json", "one/two/three/b_train.json", "one/c.txt"):
        of_file(tmp_path, name, "no JSON")
    of_file(tmp_path, "one/two/d_train.json", '[{"item_id": "babyai_1"}]')
    assert [row.file for row in read_folder(tmp_path)] == ["one/two/d_train.json"]


def test_files_beside_the_tests_are_their_categories(rows):
    tested = {row.item_id: row.category for row in rows.values() if row.role == "eval"}
    assert tested["babyai_0"] == "babyai_goto"
    assert tested["babyai_1"] == "open"
    assert tested["babyai_2"] == "babyai_goto", "it is in no file of tests, and a test by its category"
    assert tested["babyai_4"] == ""
    assert not any(row.category for row in rows.values() if row.role == "train")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", "{", "a.json: "),
        ("a.json", '{"item_id": "babyai_1"}', "a.json: Expected `array`"),
        ("a.json", '[{"item_id": "babyai_1"}, {"item_id": 7}]', "a.json: row 1: Expected `str`, got `int` at item_id"),
        ("a.json", '[{"item_id": "babyai_1"}, {"id": 7}]', "a.json: row 1: .*missing required field `item_id`"),
        ("a.json", '[{"item_id": ""}]', "a.json: row 0: item_id has 0 characters"),
        ("a.json", f'[{{"item_id": "{"x" * 301}"}}]', "row 0: item_id has 301 characters"),
        (
            "a.json",
            '[{"item_id": "b_1", "conversations": [{"from": "gpt"}]}]',
            "a.json: row 0: message 0 needs from and value",
        ),
        ("a.json", '[{"item_id": "b_1", "conversations": [{"value": 1}]}]', r"row 0: .*conversations\[0\].value"),
        ("a.json", '[{"item_id": "b_1", "reward": NaN}]', "a.json: JSON is malformed"),
        ("a.json", "[" * 100_000, "a.json: "),
        ("a.json", "\udcff", "a.json: "),
        ("b.jsonl", '{"item_id": "babyai_1"}\n{"item_id": 7}', "b.jsonl: row 1: Expected `str`"),
        ("train/c.json", "[7]", "train/c.json: row 0"),
        ("d.txt", "", "no .json or .jsonl file"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_row(tmp_path, name, text, words):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadData, match=words):
        read_folder(tmp_path)


def test_sizes_are_bounded(tmp_path, monkeypatch):
    from agentenv.data.agentgym import files

    of_file(tmp_path, "a.json", json.dumps([{"item_id": f"babyai_{n}"} for n in range(20)]))
    for name, most, words in (("MOST_ROWS", 19, "20 rows"), ("MOST_BYTES", 100, "bytes"), ("MOST_FILES", 0, "1 files")):
        with monkeypatch.context() as patch:
            patch.setattr(files, name, most)
            with pytest.raises(BadData, match=words):
                read_folder(tmp_path)
    long = [{"from": "human", "value": "x" * 11}] * 3
    of_file(tmp_path, "a.json", json.dumps([{"item_id": "babyai_1", "conversations": long}]))
    for name, most, words in (
        ("MOST_MESSAGES", 2, "row 0: 3 messages"),
        ("LONGEST_MESSAGE", 10, "row 0: message 0 has 11"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(files, name, most)
            with pytest.raises(BadData, match=words):
                read_folder(tmp_path)


# Conversations


def record_of(rows, file: str, number: int):
    row = rows[file, number]
    return trajectory_of(row, Places().of(row.item_id))


def test_a_conversation_becomes_turns_with_their_messages(rows):
    record = record_of(rows, "train/lmrlgym_maze_train.json", 0)
    assert (record.task.id, record.env, record.success, record.reward) == ("maze/double_t/18", "maze", True, 1.0)
    assert record.outcome is Outcome.SUCCESS
    assert record.task.digest == get_spec("maze").task_set().get("double_t", 18).digest
    [turn] = record.turns
    assert (turn.action, turn.malformed) == ("move down", None)
    assert [(m["role"], m.get("weight")) for m in turn.messages] == [
        ("user", None), ("assistant", 0), ("user", None), ("assistant", None),
    ]  # fmt: skip
    assert turn.observation == turn.messages[2]["content"]
    assert record.final_observation == "Success\n"


def test_what_is_not_to_be_learned_is_a_turn_of_weight_0(rows):
    record = record_of(rows, "train/lmrlgym_maze_train.json", 1)
    assert [turn.action for turn in record.turns] == ["move left", "move down", "move down"]
    assert [turn.messages[-1].get("weight") for turn in record.turns] == [0, None, None]


def test_a_record_without_a_reward_claims_no_success(rows):
    record = record_of(rows, "train/lmrlgym_maze_train.json", 1)
    assert (record.success, record.outcome, record.error) == (False, Outcome.STEP_LIMIT, UNKNOWN_END)
    assert record.agent["recorded_reward"] is None


def test_rewards_of_other_scales_become_ours():
    by_name = {kind.name: kind for kind in kinds()}
    assert by_name["sciworld"].reward(-100) == -1.0
    assert by_name["sciworld"].reward(83) == pytest.approx(0.83)
    assert by_name["maze"].reward(-1) == 0.0
    assert by_name["babyai"].reward(0.8875) == 0.8875


def test_a_task_that_is_not_here_is_a_record_of_an_environment_that_is_not_ours(rows):
    record = record_of(rows, "train/webshop_train.json", 0)
    assert (record.env, record.task.env, record.task.template) == ("agentgym_webshop", "agentgym_webshop", "webshop_6")
    assert record.turns[0].action == "search[socks]"
    assert record.task.digest
    assert record.task.digest == record_of(rows, "train/webshop_train.json", 0).task.digest


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["human"], "without a turn"),
        (["gpt"], "message 0 of the agent answers nothing"),
        (["human", "gpt", "gpt"], "message 2 of the agent answers nothing"),
        (["human", "robot"], "message 1 is from 'robot'"),
    ],
)
def test_what_is_no_conversation_is_refused_by_file_and_row(tmp_path, said, words):
    messages = [{"from": sender, "value": "x", "loss": True} for sender in said]
    of_file(tmp_path, "a.json", json.dumps([{"item_id": "babyai_1", "conversations": messages}]))
    [row] = read_folder(tmp_path)
    with pytest.raises(BadData, match=rf"a\.json: row 0: .*{words}"):
        trajectory_of(row, Places().of(row.item_id))


def test_without_flags_the_known_acknowledgement_is_no_turn(tmp_path):
    messages = [{"from": s, "value": v} for s, v in (("human", "Rules"), ("gpt", "Ok."), ("human", "a"), ("gpt", "b"))]
    of_file(tmp_path, "a.json", json.dumps([{"item_id": "searchqa_1", "conversations": messages}]))
    [row] = read_folder(tmp_path)
    record = trajectory_of(row, Places().of(row.item_id))
    assert [(turn.observation, turn.action) for turn in record.turns] == [("a", "b")]


def test_logs_of_rollouts_have_other_names_for_the_same(rows, tmp_path):
    row = rows["train/lmrlgym_maze_train.json", 0]
    roles = {"human": "user", "gpt": "assistant"}
    said = [{"role": roles[m.sender], "content": m.value} for m in row.conversation]
    of_file(tmp_path, "a.json", json.dumps([{"item_id": row.item_id, "conversations": said, "reward": 1}]))
    [log] = read_folder(tmp_path)
    place = Places().of(row.item_id)
    assert trajectory_of(log, place).turns == trajectory_of(row, place).turns


def test_an_action_is_what_the_references_client_sends(tmp_path):
    said = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "Action:\ngo to  'red ball 1'."}]
    of_file(tmp_path, "a.json", json.dumps([{"item_id": f"{n}_1", "conversations": said} for n in ("babyai", "maze")]))
    actions = [trajectory_of(row, Places().of(row.item_id)).turns[0].action for row in read_folder(tmp_path)]
    assert actions == ["go to red ball 1", "go to  'red ball 1'."]


# The command


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The fixtures, imported with a replay: the folder and what was printed."""
    import io
    from contextlib import redirect_stdout

    folder = tmp_path_factory.mktemp("import") / "out"
    printed = io.StringIO()
    with redirect_stdout(printed), pytest.raises(SystemExit):
        main(["data", "import", "agentgym", str(FILES), "--out", str(folder), "--replay", "--json"])
    return folder, json.loads(printed.getvalue())


def test_items_are_counted_by_kind_and_role(imported):
    _, said = imported
    counted = {(row["kind"], row["role"]): row for row in said["kinds"]}
    assert counted["babyai", "eval"] == {
        "kind": "babyai", "role": "eval", "items": 5, "ok": 4, "needs": 0, "not_portable": 1, "stand_ins": 0,
        "recorded": 0,
    }  # fmt: skip
    assert counted["maze", "train"]["recorded"] == counted["maze", "train"]["ok"] == 3
    assert counted["alfworld", "eval"]["stand_ins"] == 1
    for row in said["kinds"]:
        assert row["items"] == row["ok"] + row["needs"] + row["not_portable"]
    assert said["in_both"] == 2, "babyai_0 and webshop_6 are trained on and tested with"
    told = sum(reason["items"] for reason in said["reasons"])
    assert told == sum(row["items"] - row["ok"] for row in said["kinds"])


def test_a_replay_tells_which_rewards_come_out(imported):
    _, said = imported
    by_env = {row["env"]: row for row in said["replay"]}
    # One of the three mazes has no reward, one claims a reward that its actions do not earn.
    assert by_env["maze"] == {
        "env": "maze", "replayed": 3, "broken": 0, "with_reward": 2, "reproduced": 1, "share": 0.5, "succeeded": 2,
    }  # fmt: skip
    # 0.8875 is what the reference was measured to give for this action in this task.
    assert by_env["babyai"]["share"] == 1.0


def test_a_replay_fills_in_what_records_do_not_tell(imported):
    folder, _ = imported
    by_item = {record.agent["item_id"]: record for record in read_jsonl(folder / "trajectories.jsonl")}
    told = by_item["lmrlgym_maze_17"]
    assert (told.success, told.outcome, told.reward, told.error) == (True, Outcome.SUCCESS, 1.0, None)
    assert [turn.reward for turn in told.turns] == [0.0, 0.0, 1.0]
    claimed = by_item["lmrlgym_maze_16"]
    assert (claimed.reward, claimed.turns[0].reward) == (1.0, 1.0), "what is not reproduced stays as recorded"


def test_the_suite_has_an_entry_a_category_and_plays(imported):
    folder, _ = imported
    plan = make_plan(load_suite(str(folder / "suite.yaml")))
    by_label: dict[str, set[str]] = {}
    for planned in plan.tasks:
        by_label.setdefault(planned.label, set()).add(planned.task.id)
    assert by_label["babyai_goto"] == {"babyai/agentgym/0", "babyai/agentgym/2"}
    assert by_label["babyai_open"] == {"babyai/agentgym/1"}
    assert by_label["babyai_agentgym"] == {"babyai/agentgym/4"}
    assert by_label["maze_double_t"] == {"maze/double_t/24"}
    assert {world.env: world.max_steps for world in plan.worlds}["maze"] == 15


def test_training_reads_the_lists_of_tasks(imported):
    folder, _ = imported
    settings = yaml.safe_load((folder / "train.yaml").read_text())
    assert len(load(TrainConfig, folder / "train.yaml", ["model.path=x"]).environments) == 2
    for entry in settings["environments"]:
        spec = get_spec(entry["env"])
        tasks = spec.task_set(entry.get("options"))
        split = [tasks.get(entry["split"], index).ref() for index in range(tasks.count(entry["split"]))]
        found = [task.id for task in chosen(split, entry["tasks"])]
        assert (
            found
            == {
                "maze": ["maze/double_t/18", "maze/double_t/17", "maze/double_t/16"],
                "babyai": ["babyai/agentgym/0", "babyai/agentgym/41"],
            }[entry["env"]]
        )


def test_stand_ins_are_played_only_when_asked_for_and_never_change_sides(cli, tmp_path):
    game = "look_at_obj_in_light-{}-None-DeskLamp-301_trial_T20190907_174127_043461"
    trained, held_out = game.format("Book"), game.format("AlarmClock")  # which stand in train, and in test_ood
    of_file(tmp_path, "in/train/alfworld_train.json", json.dumps([{"item_id": trained}, {"item_id": held_out}]))
    of_file(tmp_path, "in/eval/alfworld_test.json", json.dumps([{"item_id": trained}, {"item_id": held_out}]))
    code, out, _ = cli(tmp_path / "in", "--out", tmp_path / "without")
    assert code == 0
    assert "alfworld: 4 needs original data (ALFWorld's games (json_2.1.1))" in out
    assert [path.name for path in (tmp_path / "without").iterdir()] == ["items.jsonl"]
    assert cli(tmp_path / "in", "--out", tmp_path / "with", "--stand-ins")[0] == 0
    [task] = (tmp_path / "with" / "tasks" / "alfworld_train.txt").read_text().split()
    assert task == Places().of(trained).stand_in.id
    [entry] = yaml.safe_load((tmp_path / "with" / "suite.yaml").read_text())["envs"]
    assert (entry["split"], entry["tasks"]) == ("test_ood", [Places().of(held_out).stand_in.index])


def test_a_folder_that_holds_something_is_left_alone_and_after_an_error_there_is_none(cli, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    code, _, err = cli(FILES, "--out", tmp_path / "full")
    assert (code, "holds something" in err) == (2, True)
    messages = [{"from": "gpt", "value": "x"}]
    of_file(tmp_path, "in/a.json", json.dumps([{"item_id": "babyai_1", "conversations": messages}]))
    code, _, err = cli(tmp_path / "in", "--out", tmp_path / "new")
    assert (code, "a.json: row 0" in err) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "in"]
