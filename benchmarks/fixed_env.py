"""An agentenv environment that answers every action with the same 1 KB."""

from fixed import REPLY

from agentenv.env import Env
from agentenv.protocol import Action, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec, TableTasks

ANSWER = StepResult(observation=REPLY)


class Fixed(Env):
    def reset(self, task: Task) -> StepResult:
        return ANSWER

    def step(self, action: Action) -> StepResult:
        return ANSWER


def make_tasks(options: dict) -> TableTasks:
    return TableTasks(
        tables={"test": [Task(id="fixed/test/0", env="fixed", split="test", index=0)]}, version="1", options=options
    )


SPEC = EnvSpec(
    id="fixed",
    version="1",
    gym_name="Fixed-v0",
    title="One fixed reply",
    entry="fixed_env:Fixed",
    tasks="fixed_env:make_tasks",
    concurrency=Concurrency.INLINE,
    max_steps=10**9,
    success_rule="none",
    action_grammar="any text",
)
