"""The action language and the observation dialects: pure functions, no engine."""

from envservers.webarena.language.dialects import DIALECTS, Observation, printed, target_of
from envservers.webarena.language.extract import Extracted, extract
from envservers.webarena.language.parse import PARSERS, parse

__all__ = ["DIALECTS", "PARSERS", "Extracted", "Observation", "extract", "parse", "printed", "target_of"]
