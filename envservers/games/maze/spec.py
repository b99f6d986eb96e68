"""What is known of Maze without its engine."""

from agentenv.functions import function
from agentenv.registry import RANDOM, Concurrency, EnvSpec, Option

SPEC = EnvSpec(
    id="maze",
    version="1",
    gym_name="Maze-v0",
    title="Maze: walk to the goal with four moves",
    entry="envservers.games.maze.env:MazeEnv",
    tasks="envservers.games.maze.tasks:make_tasks",
    concurrency=Concurrency.INLINE,
    # Every task has a smaller limit of its own: twice its shortest path, at least 2 x size; 50 in the double-T maze.
    max_steps=200,
    success_rule="The goal was reached.",
    action_grammar="move up\nmove down\nmove left\nmove right\nup, down, left, right: the same",
    options=(
        Option(name="size", type=int, default=5, help="Cells per side of a generated maze.", low=4, high=10),
        Option(
            name="path",
            type=str,
            default="long",
            help="long: the shortest path takes at least 2 x size moves; short: 2 to size.",
            choices=("long", "short"),
        ),
        Option(
            name="observation",
            type=str,
            default="absolute",
            help="absolute: row and column of you and the goal; relative: rows and columns from you to the goal.",
            choices=("absolute", "relative"),
        ),
    ),
    snapshots=True,
    shortcuts=(RANDOM,),
    world="agentenv-maze-v1",
    replay="Equal everywhere: nothing but the task and the actions decides.",
    prompt="envservers.games.maze:prompt.yaml",
    functions=(
        function(
            "move",
            "Move by one cell; a wall leaves you where you are.",
            "move {direction}",
            direction={"type": "string", "enum": ["up", "down", "left", "right"]},
        ),
    ),
)
