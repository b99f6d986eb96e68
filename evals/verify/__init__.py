"""Played again without a model: does a run hold what its row says?"""
