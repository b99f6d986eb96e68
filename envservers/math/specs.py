"""The specs of this family; importing it imports no engine."""

from agentenv.registry import EnvSpec
from envservers.math.spec import SPEC

SPECS: list[EnvSpec] = [SPEC]
