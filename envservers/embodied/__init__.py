"""Embodied environments: bodies in worlds of rooms, told and moved by text."""
