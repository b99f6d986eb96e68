"""The configurations under examples/training load, go together, and are what they say they are."""

from pathlib import Path

import pytest

from agentenv.registry import get_spec
from trainers.algorithms.checks import check_together
from trainers.algorithms.rounds import turn_limit
from trainers.config import TrainConfig
from trainers.demo.run import DemoSettings, train_config
from trainers.foreign import FOREIGN
from trainers.settings import load, plain

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "training"
FILES = sorted(FOLDER.glob("*.yaml"))
PUBLISHED = {
    # (turns by stage, steps of one), episodes of a task, tasks, tasks of a minibatch, epochs, (prompt, rest, turn)
    "textcraft-fixed": (([30], None), 8, 32, 8, 30, (512, 10240, 512)),
    "textcraft-scaling": (([10, 20, 30], 100), 8, 32, 8, 30, (512, 10240, 512)),
    "babyai-fixed": (([20], None), 8, 16, 8, 10, (1024, 4096, 200)),
    "babyai-scaling": (([6, 13, 20], 100), 4, 32, 8, 20, (512, 8192, 512)),
    "sciworld-fixed": (([20], None), 8, 16, 8, 10, (1024, 4096, 200)),
    "sciworld-scaling": (([10, 20, 30], 100), 8, 16, 8, 10, (1024, 8192, 200)),
    "search-fixed": (([5], None), 4, 32, 8, 20, (1024, 8192, 512)),
    "search-scaling": (([5, 8, 10], 100), 4, 32, 8, 20, (1024, 8192, 512)),
    "webarena-fixed": (([15], None), 4, 32, 4, 25, (750, 14098, 512)),
    "webarena-scaling": (([8, 12, 15], 80), 4, 32, 4, 25, (750, 14098, 512)),
}
"""What the scripts of AgentGym-RL pass."""


def loaded(name: str) -> TrainConfig:
    return load(TrainConfig, FOLDER / f"{name}.yaml", foreign=FOREIGN)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_every_example_loads_and_goes_together(file):
    check_together(load(TrainConfig, file, foreign=FOREIGN))


def test_every_scenario_is_here():
    assert {f.stem for f in FILES} == {*PUBLISHED, "maze-grpo", "maze-gae"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_scenario_has_the_published_settings(name):
    (rounds, every), members, tasks, minibatch, epochs, (prompt, rest, turn) = PUBLISHED[name]
    config = loaded(name)
    [env] = config.environments
    assert env.env == name.partition("-")[0]
    assert (config.batch.group_size, config.batch.tasks_per_step) == (members, tasks)
    assert (config.batch.tasks_per_minibatch, config.run.epochs) == (minibatch, epochs)
    assert config.rollout.max_prompt_tokens == prompt
    assert config.rollout.max_episode_tokens == prompt + rest
    assert config.rollout.max_turn_tokens == turn
    steps = [1 + (every or 100) * stage for stage in range(len(rounds))]
    assert [turn_limit(step, config.algorithm.rounds, env) for step in steps] == rounds
    if every:
        assert turn_limit(every, config.algorithm.rounds, env) == rounds[0]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_environment_of_a_scenario_is_here(name):
    assert get_spec(loaded(name).environments[0].env)


@pytest.mark.parametrize("algo", ["grpo", "gae"])
def test_the_maze_examples_are_the_demo(algo):
    folder = Path("runs/train-demo") / f"{algo}-0"
    demo = train_config(DemoSettings(folder=folder, algo=algo), folder / "sft" / "model", "http://127.0.0.1:8000")
    assert plain(loaded(f"maze-{algo}")) == plain(demo)
