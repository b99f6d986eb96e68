"""An environment-centric gym platform for LLM agents."""

__version__ = "0.1.0"
