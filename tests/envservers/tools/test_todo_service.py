"""What the tools of the task list do."""

import json

import pytest
from todo_play import ANNA, BRUSH, DONE, HOME, MAIL, PAINT, SAND, SHED, WORK, after, small

from envservers.tools.todo.compare import same
from envservers.tools.todo.service import TOOLKIT
from envservers.tools.todo.state import MAX_DEPTH, MAX_THINGS


def act(name, /, **arguments):
    return f"{name} with Action Input: {json.dumps(arguments)}"


def test_listings_show_open_tasks_without_what_they_do_not_have():
    _, text = after(act("get_tasks", project_id=HOME))
    assert json.loads(text) == [
        {
            "id": PAINT,
            "content": "Paint",
            "section_id": SHED,
            "due_date": "2030-05-01",
            "priority": 1,
            "labels": ["home"],
        },
        {"id": SAND, "content": "Sand", "section_id": SHED, "parent_id": PAINT, "priority": 1},
    ]
    assert [row["id"] for row in json.loads(after(act("get_completed_tasks", project_id=HOME))[1])] == [BRUSH, DONE]


def test_every_read_leaves_the_state_as_it_is():
    start = small()
    reads = ["get_user_current_date", "get_user_current_location", "get_people", "get_projects", "check_valid_actions"]
    for name in reads:
        called = TOOLKIT.act(start, act(name))
        assert called.state is start
        assert not called.refused
    assert json.loads(after(act("get_user_current_date"))[1]) == {"date": "2030-05-02", "weekday": "Thursday"}
    assert json.loads(after(act("get_task_duration", task_id=SAND))[1]) == {"duration_minutes": 30}
    assert json.loads(after(act("get_task_description", task_id=DONE))[1]) == {"description": "With Robin."}


def test_completing_a_task_completes_its_open_subtasks_and_only_once():
    state, text = after(act("complete_task", task_id=PAINT))
    assert json.loads(text) == {"completed": 2}
    assert all(state.tasks[id].is_completed for id in (PAINT, SAND, BRUSH))
    assert "already completed" in after(act("complete_task", task_id=PAINT), state=state)[1]
    assert not after(act("reopen_task", task_id=PAINT), state=state)[0].tasks[PAINT].is_completed


def test_an_update_changes_what_is_given_and_null_takes_away():
    state, _ = after(act("update_task", task_id=PAINT, due_date=None, labels=["a", "b", "a"], priority=4))
    task = state.tasks[PAINT]
    assert (task.due_date, task.labels, task.priority, task.content) == (None, ("a", "b"), 4, "Paint")
    assert "null" not in after(act("update_task", task_id=PAINT, content=None))[1].split("got")[0]
    assert after(act("update_task", task_id=PAINT, content=None))[0] == small()


def test_moving_takes_subtasks_along():
    state, _ = after(act("move_task", task_id=PAINT, project_id=WORK))
    assert {id for id in state.tasks if state.tasks[id].project_id == WORK} == {PAINT, SAND, BRUSH, MAIL}
    assert state.tasks[SAND].section_id is None
    assert state.tasks[SAND].parent_id == PAINT


def test_deleting_takes_along_what_is_inside():
    assert set(after(act("delete_task", task_id=PAINT))[0].tasks) == {DONE, MAIL}
    assert set(after(act("delete_section", section_id=SHED))[0].tasks) == {DONE, MAIL}
    state, text = after(act("delete_project", project_id=HOME))
    assert (set(state.tasks), set(state.sections), json.loads(text)) == ({MAIL}, set(), {"deleted_tasks": 4})


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (act("create_task", project_id=WORK, content="x", section_id=SHED), "in another project"),
        (act("create_task", project_id=WORK, content="x", parent_id=PAINT), "in another project"),
        (act("create_task", project_id=HOME, content="x", assignee_id="1"), "no person with id 1"),
        (act("create_task", project_id=HOME, content=""), "length >= 1"),
        (act("move_task", task_id=PAINT, project_id=WORK, section_id=SHED), "in another project"),
        (act("update_task", task_id=PAINT, assignee_id="1"), "no person with id 1"),
        (act("reopen_task", task_id=PAINT), "the task is open"),
    ],
)
def test_what_does_not_fit_together_is_refused(action, reason):
    state, text = after(action)
    assert text.startswith("ERROR | ")
    assert reason in text
    assert state == small()


def test_new_things_get_ids_that_later_calls_can_use():
    state, text = after(act("create_project", name="New"))
    project = json.loads(text)["id"]
    state, text = after(act("create_section", project_id=project, name="S"), state=state)
    section = json.loads(text)["id"]
    state, text = after(act("create_task", project_id=project, section_id=section, content="T"), state=state)
    assert state.tasks[json.loads(text)["id"]].section_id == section


def test_subtasks_and_lists_are_bounded():
    state, id = small(), PAINT
    for _ in range(MAX_DEPTH):
        state, text = after(act("create_task", project_id=HOME, content="deeper", parent_id=id), state=state)
        id = json.loads(text)["id"]
    assert "levels deep" in after(act("create_task", project_id=HOME, content="x", parent_id=id), state=state)[1]
    state = small()
    for _ in range(MAX_THINGS):
        state, text = after(act("create_project", name="more"), state=state)
    assert f"at most {MAX_THINGS} projects" in text
    assert len(state.projects) == MAX_THINGS


def test_end_states_are_equal_whatever_the_order_of_creation_and_not_with_one_field_more():
    first, second = act("create_project", name="A"), act("create_project", name="B")
    start, one, other = small(), after(first, second)[0], after(second, first)[0]
    assert same(one, other, start)
    assert not same(one, after(first)[0], start)
    assert not same(one, after(first, second, second)[0], start)
    spaced = after(act("update_task", task_id=PAINT, content=" Paint "))[0]
    assert same(spaced, start, start)
    for field, value in {
        "content": "Painting",
        "description": "x",
        "priority": 2,
        "labels": [],
        "duration_minutes": 5,
    }.items():
        assert not same(after(act("update_task", task_id=PAINT, **{field: value}))[0], start, start), field
    assert not same(after(act("update_task", task_id=PAINT, assignee_id=ANNA))[0], start, start)


def test_a_task_in_a_new_section_is_not_the_same_as_one_beside_it():
    start = small()
    state, text = after(act("create_section", project_id=HOME, name="New"))
    section = json.loads(text)["id"]
    inside, _ = after(act("create_task", project_id=HOME, content="T", section_id=section), state=state)
    beside, _ = after(act("create_task", project_id=HOME, content="T"), state=state)
    assert same(inside, inside, start)
    assert not same(inside, beside, start)


def test_the_schemas_are_what_is_taken():
    functions = {function["name"]: function for function in TOOLKIT.functions}
    assert len(functions) == 23
    update = functions["update_task"]["parameters"]
    assert update["required"] == ["task_id"]
    assert update["additionalProperties"] is False
    assert update["properties"]["priority"]["maximum"] == 4
    for function in functions.values():
        text = function["text"].replace("{arguments}", "{}")
        assert TOOLKIT.act(small(), text).tool == function["name"] or function["parameters"]["required"]
