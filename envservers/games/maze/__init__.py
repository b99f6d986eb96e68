"""Maze: walk to the goal with four moves."""
