"""Conversations to token ids and back, by a model's own chat template."""

from agentenv.render.escape import ChatTokenizer
from agentenv.render.load import eos_ids_of, load_renderer
from agentenv.render.renderer import DATE, Renderer, TemplateFacts, prefix_break, prompt_hash

__all__ = [
    "DATE",
    "ChatTokenizer",
    "Renderer",
    "TemplateFacts",
    "eos_ids_of",
    "load_renderer",
    "prefix_break",
    "prompt_hash",
]
