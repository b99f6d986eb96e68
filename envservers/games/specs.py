"""The specs of this family; importing it imports no engine."""

from agentenv.registry import EnvSpec
from envservers.games.maze.spec import SPEC as MAZE
from envservers.games.wordle.spec import SPEC as WORDLE

SPECS: list[EnvSpec] = [WORDLE, MAZE]
