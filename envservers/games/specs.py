"""The specs of this family; importing it imports no engine."""

from agentenv.registry import EnvSpec
from envservers.games.maze.spec import SPEC as MAZE
from envservers.games.textcraft.spec import SPEC as TEXTCRAFT
from envservers.games.wordle.spec import SPEC as WORDLE

SPECS: list[EnvSpec] = [TEXTCRAFT, WORDLE, MAZE]
