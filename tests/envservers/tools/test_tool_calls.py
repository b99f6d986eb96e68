"""How the action of a tool environment is read: JSON and nothing else, with the reason for what is refused."""

import pytest
from todo_play import HOME, after, small

from agentenv.agents.parse import parse
from agentenv.agents.prompts import load_format
from agentenv.functions.table import Refused
from envservers.tools.toolkit.call import MAX_CHARS, read_call

TASKS = f'get_tasks with Action Input: {{"project_id": "{HOME}"}}'


@pytest.mark.parametrize(
    "text",
    [
        TASKS,
        f"Action: {TASKS}",
        f"Thought: I need the tasks.\n\nAction: {TASKS}",
        f"Thought:\nI need them.\n\nAction:\n{TASKS}",
        f"**ignored**\nAction : {TASKS}\n",
        f"{TASKS}\nObservation: []\nThought: b\nAction: finish with Action Input: {{}}",
        f"Action: {TASKS}\r\nAction: delete_project with Action Input: {{}}",
        f"Thought: my Action: plan\nAction: {TASKS}",
        f'Action: [get_tasks] with Action Input: {{"project_id": "{HOME}"}}',
        f'get_tasks  with action input:\n{{\n  "project_id": "{HOME}"\n}}',
    ],
)
def test_a_call_is_read_with_or_without_thought_and_marker(text):
    found = read_call(text)
    assert (found.name, found.arguments) == ("get_tasks", {"project_id": HOME})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "format error"),
        ("get_tasks", "which is {} where a tool takes no arguments"),
        ("noop", "format error"),
        ('with Action Input: {"a": 1}', "format error"),
        ("get tasks with Action Input: {}", "format error"),
        ("get_tasks with Action Input:", "not JSON"),
        ("get_tasks with Action Input: {'project_id': '1'}", "not JSON"),
        ('get_tasks with Action Input: {"a": NaN}', "NaN is no number"),
        ('get_tasks with Action Input: {"a": 1} {"a": 2}', "something follows the Action Input on its line"),
        ('get_tasks with Action Input: {"a": 1}, then finish', "something follows the Action Input on its line"),
        ('get_tasks with Action Input: {"a": 1, "a": 2}', "a name stands in it twice"),
        ("get_tasks with Action Input: [1]", "must be a JSON object"),
        ("get_tasks with Action Input: " + "[" * 8000, "not usable: nested too deeply"),
        ('get_tasks with Action Input: {"a": ' + "9" * 8000 + "}", "too many digits"),
        ('get_tasks with Action Input: {"a": "\\ud800"}', "lone surrogate"),
        ("x" * (MAX_CHARS + 1), f"more than {MAX_CHARS} characters"),
        ("finish with Action Input: __import__('os').system('true')", "not JSON"),
    ],
)
def test_what_is_no_call_is_refused_with_the_reason(text, reason):
    with pytest.raises(Refused, match=reason):
        read_call(text)
    assert after(text)[1].startswith("ERROR | ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("get_task with Action Input: {}", "no tool get_task; did you mean get_tasks?"),
        ("qqqq with Action Input: {}", "check_valid_actions lists the tools"),
        ("get_tasks with Action Input: {}", "get_tasks: missing required argument `project_id`"),
        ('get_tasks with Action Input: {"project_id": 7}', "get_tasks: Expected `str`, got `int` in project_id"),
        ('get_projects with Action Input: {"id": "7"}', "get_projects: contains unknown argument `id`"),
        ('get_tasks with Action Input: {"project_id": "7"}', "there is no project with id 7"),
        ('complete_task with Action Input: {"task_id": "7"}', "there is no task with id 7"),
        ('update_task with Action Input: {"task_id": "7", "due_date": "tomorrow"}', "date, use YYYY-MM-DD in due_date"),
        ('update_task with Action Input: {"task_id": "7", "priority": 5}', "<= 4 in priority"),
        ('update_task with Action Input: {"task_id": "7", "priority": true}', "Expected `int`, got `bool` in priority"),
        ('update_task with Action Input: {"task_id": "7", "labels": ["a", 1]}', "got `int` in labels[1]"),
    ],
)
def test_wrong_arguments_and_unknown_ids_change_nothing_and_say_why(text, reason):
    state, reply = after(text)
    assert reply.startswith("ERROR | ")
    assert reason in reply
    assert state == small()


def test_a_name_with_finish_in_it_does_not_end_anything():
    state, reply = after('create_project with Action Input: {"name": "Finish Line, then finish"}')
    assert "ERROR" not in reply
    assert "Finish Line, then finish" in {project.name for project in state.projects.values()}


def test_of_two_actions_in_one_answer_the_agents_reader_takes_the_first():
    completion = f"Thought: a\nAction: {TASKS}\nObservation: []\nThought: b\nAction: finish with Action Input: {{}}"
    parsed = parse(completion, load_format("react"))
    assert parsed.extra_text
    assert parsed.action is not None
    assert read_call(parsed.action).name == "get_tasks"


@pytest.mark.parametrize(
    "completion",
    [
        f"Action:\r\n{TASKS}\r\n",
        f"Action:\n\n{TASKS}",
        f"Action:\n```\n{TASKS}\n```",
        f"Action: `{TASKS}`",
        f"action: {TASKS}",
        f"**Action:** {TASKS}",
        f"Thought: my Action: plan\nAction: {TASKS}",
    ],
)
def test_small_variations_of_form_give_the_same_call(completion):
    parsed = parse(completion, load_format("react"))
    assert parsed.action is not None
    assert read_call(parsed.action).arguments == {"project_id": HOME}


@pytest.mark.parametrize("completion", [TASKS, "Action:", "Thought: done"])
def test_without_an_action_the_completion_is_malformed(completion):
    assert parse(completion, load_format("react")).reason
