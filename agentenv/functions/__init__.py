"""The functions of an environment as data: what may be called, with which arguments, and which action a call makes."""

from agentenv.functions.make import function
from agentenv.functions.table import Call, Function, FunctionTable, Refused, check_functions

__all__ = ["Call", "Function", "FunctionTable", "Refused", "check_functions", "function"]
