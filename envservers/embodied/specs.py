"""The specs of this family; importing it imports no engine."""

from agentenv.registry import EnvSpec
from envservers.embodied.alfworld.spec import SPEC as ALFWORLD
from envservers.embodied.babyai.spec import SPEC as BABYAI

SPECS: list[EnvSpec] = [BABYAI, ALFWORLD]
