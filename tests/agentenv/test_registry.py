"""The registry: options by their types, tasks by their names, specs as cards, and plug-ins that are broken."""

import json
from dataclasses import replace
from typing import Any

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_envs import SPECS, tasks_of

import agentenv
from agentenv import registry
from agentenv.errors import BadCall, EnvUnavailable, UnknownEnv, UnknownOption, UnknownTask
from agentenv.plugins import Broken
from agentenv.protocol import index_of_seed
from agentenv.registry import Concurrency, EnvSpec, Option, TableTasks, TaskAt, find_task, get_spec, specs

TOY = SPECS["toy_inline"]


# Options.


def option(kind: type, default: Any = None, **more: Any) -> Option:
    return Option(name="x", type=kind, default=default, help="", **more)


@pytest.mark.parametrize(
    ("kind", "given", "parsed"),
    [
        (int, "7", 7),
        (int, "-7", -7),
        (int, 7, 7),
        (float, "0.5", 0.5),
        (float, 2, 2.0),
        (float, "1e-3", 0.001),
        (bool, "true", True),
        (bool, "False", False),
        (bool, "1", True),
        (bool, "0", False),
        (bool, False, False),
        (str, "text", "text"),
        (str, "", ""),
        (int, None, None),
    ],
)
def test_an_option_is_read_in_its_type_also_from_text(kind: type, given: Any, parsed: Any) -> None:
    found = option(kind).parse(given)
    assert found == parsed
    assert type(found) is type(parsed)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (int, "seven"),
        (int, "1.5"),
        (int, 1.5),
        (int, True),
        (int, ""),
        (int, [1]),
        (int, "9" * 5000),
        (float, "much"),
        (float, True),
        (float, "nan"),
        (float, "inf"),
        (float, float("nan")),
        (bool, "yes"),
        (bool, 1),
        (bool, "2"),
        (str, 3),
        (str, b"bytes"),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(kind: type, given: Any) -> None:
    with pytest.raises(UnknownOption, match="option x="):
        option(kind).parse(given)


def test_none_is_a_value_only_where_it_is_the_default() -> None:
    with pytest.raises(UnknownOption, match="must be int"):
        option(int, 3).parse(None)


@pytest.mark.parametrize(
    ("bounds", "value", "message"),
    [
        ({"low": 4}, 3, "must be at least 4"),
        ({"high": 10}, 11, "must be at most 10"),
        ({"low": 4, "high": 10}, 11, "must be at most 10"),
        ({"choices": (1, 2)}, 3, "choose from 1, 2"),
    ],
)
def test_bounds_and_choices_are_told(bounds: dict[str, Any], value: int, message: str) -> None:
    with pytest.raises(UnknownOption, match=message):
        option(int, 5, **bounds).parse(value)


def test_resolved_options_are_complete_and_an_unknown_one_is_told_with_the_nearest() -> None:
    assert TOY.resolve_options({"goal": "3"}) == {"goal": 3, "pause_s": 0.0}
    with pytest.raises(UnknownOption, match="toy_inline has no option 'gaol'; did you mean 'goal'"):
        TOY.resolve_options({"gaol": 3})
    with pytest.raises(UnknownOption, match="it has: goal, pause_s"):
        TOY.resolve_options({"zzzzzz": 3})
    with pytest.raises(UnknownOption, match="it has: none"):
        SPECS["toy_odd"].resolve_options({"zzzzzz": 3})


def test_an_option_of_the_server_names_the_command_that_sets_it() -> None:
    with pytest.raises(UnknownOption, match=r"agentenv serve toy_inline --env-option toy_inline.pause_s="):
        TOY.resolve_options({"pause_s": 0.1}, scope="session")
    assert TOY.resolve_options({"pause_s": 0.1})["pause_s"] == 0.1


# Tasks.

TASKS = tasks_of("toy_inline")


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "toy_inline",
        "toy_inline/train",
        "toy_inline/train/",
        "toy_inline//3",
        "other/train/3",
        "toy_inline/train/x",
        "toy_inline/train/-1",
        "toy_inline/train/+1",
        "toy_inline/train/ 1",
        "toy_inline/train/1\n",
        "toy_inline/train/٣",
        "toy_inline/train/03",
        "toy_inline/train/" + "9" * 5000,
        "toy_inline/train/1000",
        "toy_inline/dev/0",
        "toy_inline/train/x/3",
        TaskAt(split="train"),
        TaskAt(split="train", index=0, seed=0),
        TaskAt(split="train", index=-1),
        TaskAt(split="train", index=1000),
        TaskAt(split="nope", index=0),
    ],
)
def test_a_task_that_is_not_there_is_unknown(wanted: str | TaskAt) -> None:
    with pytest.raises(UnknownTask) as caught:
        find_task(TOY, TASKS, wanted)
    assert len(caught.value.message) < 6000


@given(st.integers(0, 999))
def test_every_task_is_found_by_its_id_and_by_its_place(index: int) -> None:
    task = find_task(TOY, TASKS, f"toy_inline/train/{index}")
    assert (task.id, task.index) == (f"toy_inline/train/{index}", index)
    assert find_task(TOY, TASKS, TaskAt(split="train", index=index)) == task


@given(st.integers(-(2**70), 2**70))
def test_every_seed_names_a_task(seed: int) -> None:
    task = find_task(TOY, TASKS, TaskAt(split="test", seed=seed))
    assert task.index == index_of_seed("test", seed, 10)


def test_a_task_set_is_made_once_for_equal_options_and_its_digest_tells_the_tasks() -> None:
    assert TOY.task_set({"goal": 3}) is TOY.task_set({"goal": "3"})
    train = list(TASKS.tables["train"])
    same = TableTasks(tables={"train": list(train)}, version="1")
    assert same.digest == TableTasks(tables={"train": train}, version="1").digest
    others = [
        TableTasks(tables={"train": train[::-1]}, version="1"),
        TableTasks(tables={"train": [replace(train[0], seed=9), *train[1:]]}, version="1"),
        TableTasks(tables={"test": train}, version="1"),
        TableTasks(tables={"train": train}, version="2"),
        TableTasks(tables={"train": train}, version="1", options={"size": 4}),
    ]
    assert len({same.digest, *(o.digest for o in others)}) == 6


# Specs.


@pytest.mark.parametrize("id", ["", "Maze", "2d", "a-b", "a b", "é", "a\n"])
def test_an_id_of_another_form_is_refused(id: str) -> None:
    with pytest.raises(BadCall, match="must match"):
        replace(TOY, id=id)


@pytest.mark.parametrize("spec", [*SPECS.values(), *specs()], ids=lambda s: s.id)
def test_a_card_is_json_and_gives_back_all_but_engine_tasks_and_prompt(spec: EnvSpec) -> None:
    card = json.loads(json.dumps(spec.card()))
    assert not {"entry", "tasks", "prompt"} & set(card)
    back = EnvSpec.from_card({**card, "field_of_a_newer_server": 1})
    hidden = {"entry": "", "tasks": "", "prompt": "", "other_prompts": {}, "unreplayable": ""}
    bare = {**hidden, "options": (), "shortcuts": (), "listings": ()}
    assert back == replace(spec, **bare, functions=back.functions)
    assert json.dumps(back.functions) == json.dumps(spec.functions)


@pytest.mark.parametrize("lost", ["id", "concurrency", "max_steps"])
def test_a_card_without_a_needed_field_is_refused(lost: str) -> None:
    card = {k: v for k, v in TOY.card().items() if k != lost}
    with pytest.raises(BadCall, match="not an environment's card"):
        EnvSpec.from_card(card)
    with pytest.raises(BadCall, match="not an environment's card"):
        EnvSpec.from_card({**TOY.card(), "concurrency": "telepathy"})


def test_an_engine_that_is_missing_names_the_command_that_installs_it() -> None:
    spec = replace(TOY, entry="no_such_engine:Env", extra="science")
    with pytest.raises(EnvUnavailable, match=r"toy_inline is unavailable: .*pip install 'agentenv-gym\[science\]'"):
        spec.make()
    with pytest.raises(EnvUnavailable, match=r"no attribute 'NoSuchClass'; its spec names 'agentenv\.env:NoSuchClass'"):
        replace(TOY, entry="agentenv.env:NoSuchClass").make()


def test_a_constructor_that_does_not_take_the_specs_options_is_named_with_them() -> None:
    spec = replace(TOY, options=(Option(name="sise", type=int, default=1, help=""),))
    with pytest.raises(EnvUnavailable, match=rf"'sise'; the constructor of {spec.entry} gets every option .*: sise$"):
        spec.make()


# Known envs.


def test_an_unknown_env_is_told_with_the_nearest_name() -> None:
    for wrong, right in (("textcarft", "textcraft"), ("wordl", "wordle"), ("mase", "maze")):
        with pytest.raises(UnknownEnv, match=f"did you mean '{right}'"):
            get_spec(wrong)
    with pytest.raises(UnknownEnv, match="`agentenv envs` lists all"):
        get_spec("zzzzzzzz")


def test_a_registered_env_is_known_here_and_in_gymnasium(toys: None) -> None:
    assert get_spec("toy_inline") is TOY
    assert "agentenv/ToyToyInline-v0" in gymnasium.registry
    assert [s.id for s in specs()] == sorted(s.id for s in specs())
    spec = replace(TOY, id="toy_own", gym_name="ToyOwn-v0")
    agentenv.register(spec)
    assert gymnasium.make("agentenv/ToyOwn-v0").unwrapped.source.env == "toy_own"  # type: ignore[attr-defined]


@pytest.mark.parametrize("loaded", [None, {"SPECS": [TOY]}, [TOY, "text"], "SPECS", TOY])
def test_a_plug_in_without_a_list_of_specs_is_broken_and_the_others_are_listed(
    loaded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "load_group", lambda group: {"odd": loaded, "good": [TOY]})
    registry._installed.cache_clear()
    try:
        known = registry.all_specs()
        assert known["toy_inline"] is TOY
        assert isinstance(known["odd"], Broken)
        with pytest.raises(EnvUnavailable, match=r"odd is unavailable: .*not a list of EnvSpec"):
            get_spec("odd")
        with pytest.raises(UnknownEnv, match=r"cannot be imported: odd \("):
            get_spec("zzzzzzzz")
    finally:
        monkeypatch.undo()
        registry._installed.cache_clear()


def test_every_concurrency_model_has_a_toy() -> None:
    assert {s.concurrency for s in SPECS.values()} == set(Concurrency)
