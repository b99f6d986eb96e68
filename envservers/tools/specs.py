"""The specs of this family; importing it makes no world."""

from agentenv.registry import EnvSpec
from envservers.tools.todo.spec import SPEC as TODO

SPECS: list[EnvSpec] = [TODO]
