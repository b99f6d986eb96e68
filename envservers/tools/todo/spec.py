"""What is known of Todo without its worlds."""

from agentenv.registry import RANDOM, Concurrency, EnvSpec, Shortcut
from envservers.tools.todo.service import TOOLKIT
from envservers.tools.toolkit.call import FORM

ENV_ID = "todo"
_AGENTS = "envservers.tools.toolkit.shortcuts"

SPEC = EnvSpec(
    id=ENV_ID,
    version="1",
    gym_name="Todo-v0",
    title="Keep a task list: find projects, tasks and people with typed tools, change them, answer questions",
    entry="envservers.tools.todo.env:TodoEnv",
    tasks="envservers.tools.todo.tasks:make_tasks",
    concurrency=Concurrency.ANY_THREAD,
    max_steps=60,  # each task has a limit of its own: twice its scripted solution and ten more
    success_rule=(
        "When finish is called, every project, section and task is as expected, field by field, nothing else has "
        "changed, and the answer is right where one is asked. Reward 1.0 on that step, 0.0 on all others."
    ),
    action_grammar=(
        "TOOL with Action Input: JSON_OBJECT\n"
        'finish with Action Input: {"answer": ANSWER}: ends the episode; without a question {}\n'
        "check_valid_actions lists the tools."
    ),
    snapshots=True,
    shortcuts=(
        RANDOM,
        Shortcut(
            name="each_tool",
            entry=f"{_AGENTS}:EachTool",
            ceiling=0.02,
            about="calls each tool once with the first ids it sees, then finishes",
        ),
        Shortcut(
            name="each_read",
            entry=f"{_AGENTS}:EachRead",
            ceiling=0.02,
            about="calls each tool that changes nothing once, then answers with the last name it read",
        ),
        Shortcut(
            name="frequent",
            entry=f"{_AGENTS}:Frequent",
            ceiling=0.05,
            about="changes nothing and gives the most frequent answer of such questions in train",
        ),
        Shortcut(
            name="impossible",
            entry=f"{_AGENTS}:Impossible",
            ceiling=0.10,
            about="changes nothing and says that it is impossible",
        ),
    ),
    world="agentenv-todo-v1",
    replay="Equal everywhere: nothing but the task and the actions decides.",
    prompt="envservers.tools.todo:prompt.yaml",
    functions=TOOLKIT.functions,
    malformed_text=f'ERROR | {{reason}}. Answer with one action in the form "{FORM}".',
    step_s=5.0,
    reset_s=10.0,
)
