"""The specs of this family; importing it imports no engine."""

from agentenv.registry import EnvSpec
from envservers.shop.webshop.spec import SPEC

SPECS: list[EnvSpec] = [SPEC]
