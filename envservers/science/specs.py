"""The specs of this family; importing it imports no engine."""

from agentenv.registry import EnvSpec
from envservers.science.sciworld.spec import SPEC as SCIWORLD

SPECS: list[EnvSpec] = [SCIWORLD]
