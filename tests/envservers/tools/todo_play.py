"""A small list to call tools on, and how tests play."""

from datetime import date

from agentenv.protocol import Action, StepResult
from envservers.tools.todo.env import TodoEnv
from envservers.tools.todo.service import TOOLKIT
from envservers.tools.todo.spec import SPEC
from envservers.tools.todo.state import Item, Person, Project, Section, State

HOME, WORK, SHED = "1000000001", "1000000002", "1000000003"
PAINT, SAND, BRUSH, DONE, MAIL = "1000000011", "1000000012", "1000000013", "1000000014", "1000000015"
ANNA = "1000000021"


def small() -> State:
    """Two projects; in Home a section with a task that has two subtasks, one of them completed."""
    tasks = (
        Item(id=PAINT, project_id=HOME, section_id=SHED, content="Paint", due_date=date(2030, 5, 1), labels=("home",)),
        Item(id=SAND, project_id=HOME, section_id=SHED, content="Sand", parent_id=PAINT, duration_minutes=30),
        Item(id=BRUSH, project_id=HOME, section_id=SHED, content="Buy a brush", parent_id=PAINT, is_completed=True),
        Item(id=DONE, project_id=HOME, content="Measure", is_completed=True, description="With Robin."),
        Item(id=MAIL, project_id=WORK, content="Answer the mail", priority=3, assignee_id=ANNA),
    )
    return State(
        key="small",
        today=date(2030, 5, 2),
        location="Porto",
        people={ANNA: Person(id=ANNA, name="Anna Berg")},
        projects={HOME: Project(id=HOME, name="Home", color="teal"), WORK: Project(id=WORK, name="Work", color="blue")},
        sections={SHED: Section(id=SHED, project_id=HOME, name="Shed")},
        tasks={task.id: task for task in tasks},
    )


def after(*actions: str, state: State | None = None) -> tuple[State, str]:
    """The state after these actions, and the last reply."""
    state, text = state or small(), ""
    for action in actions:
        called = TOOLKIT.act(state, action)
        state, text = called.state, called.text
    return state, text


def started(split: str, index: int) -> TodoEnv:
    """An env at the start of a task."""
    env = TodoEnv()
    env.last = env.reset(SPEC.task_set().get(split, index))
    return env


def solved(split: str, index: int) -> list[tuple[str, StepResult]]:
    """Each action of the scripted solution with its result."""
    env, task = started(split, index), SPEC.task_set().get(split, index)
    solution, found = env.solve(task), []
    action = next(solution)
    while True:
        env.last = env.step(action)
        found.append((action.text, env.last))
        if env.last.terminated:
            return found
        action = solution.send(env.last)


def call(env: TodoEnv, text: str) -> StepResult:
    """One step."""
    return env.step(Action(text=text))
