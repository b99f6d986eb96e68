"""The contract as a table, in the order in which it is checked."""

from __future__ import annotations

from agentenv.testing.rules import calls, equality, many, play, tasks
from agentenv.testing.rules.base import Needs, Rule

RULES: tuple[Rule, ...] = (
    Rule(
        name="card_is_sound",
        statement="Ranges, limits, texts and declared abilities of the card hold together",
        needs=Needs.PLAYER,
        check=tasks.card_is_sound,
    ),
    Rule(
        name="options_are_validated",
        statement="Defaults and choices of options are taken, other names and values refused",
        needs=Needs.OBJECT,
        check=tasks.options_are_validated,
    ),
    Rule(
        name="tasks_are_stable",
        statement="Equal options make an equal task set in another process and under another hash seed",
        needs=Needs.OBJECT,
        check=tasks.tasks_are_stable,
    ),
    Rule(
        name="splits_are_disjoint",
        statement="No task stands in two splits, by digest or in canonical form",
        needs=Needs.OBJECT,
        check=tasks.splits_are_disjoint,
    ),
    Rule(
        name="same_bytes_elsewhere",
        statement="An equal task and equal actions give equal bytes in another process and under another hash seed",
        needs=Needs.OBJECT,
        check=equality.same_bytes_elsewhere,
    ),
    Rule(
        name="asking_changes_nothing",
        statement="available_actions() and solve() change nothing",
        needs=Needs.PLAYER,
        check=equality.asking_changes_nothing,
    ),
    Rule(
        name="odd_actions_answered",
        statement="Empty, huge, control-character and nonsense actions are answered by an observation",
        needs=Needs.PLAYER,
        check=calls.odd_actions_answered,
    ),
    Rule(
        name="malformed_actions_count",
        statement="A malformed action is a step: the card's text, reward 0, counted",
        needs=Needs.SESSION,
        check=calls.malformed_actions_count,
    ),
    Rule(
        name="calls_out_of_order",
        statement="A step before reset or after the end is a typed error and earns nothing",
        needs=Needs.SESSION,
        check=calls.calls_out_of_order,
    ),
    Rule(
        name="close_twice",
        statement="A second close does nothing",
        needs=Needs.SESSION,
        check=calls.close_twice,
    ),
    Rule(
        name="reset_in_mid_episode",
        statement="After a reset in mid-episode an env answers like a fresh one",
        needs=Needs.PLAYER,
        check=equality.reset_in_mid_episode,
    ),
    Rule(
        name="sessions_are_apart",
        statement="64 sessions side by side do not see each other",
        needs=Needs.SESSION,
        check=many.sessions_are_apart,
    ),
    Rule(
        name="solve_succeeds",
        statement="solve() reaches success",
        needs=Needs.PLAYER,
        check=play.solve_succeeds,
    ),
    Rule(
        name="rewards_in_range",
        statement="Rewards and returns stay in the card's ranges, and an end says whether it was a success",
        needs=Needs.PLAYER,
        check=play.rewards_in_range,
    ),
    Rule(
        name="snapshots_restore",
        statement="A fresh env restores a snapshot and goes on like the original",
        needs=Needs.OBJECT,
        check=equality.snapshots_restore,
    ),
    Rule(
        name="replies_are_json",
        statement="Observations and info survive the wire's JSON",
        needs=Needs.OBJECT,
        check=equality.replies_are_json,
    ),
    Rule(
        name="sessions_leave_nothing",
        statement="Memory, threads, files and processes after 1,000 sessions are as before",
        needs=Needs.OBJECT,
        check=many.sessions_leave_nothing,
    ),
)
