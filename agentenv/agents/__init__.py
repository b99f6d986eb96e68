"""Agents that play: scripted controls, and language models behind prompts and formats that are data."""
