"""The denominator, worked out again from suite and plan: what is missing, extra, double or hidden."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict

from agentenv.errors import AgentEnvError
from evals import people
from evals.plan import MAX_TRIES, make_plan
from evals.suite import parse
from evals.verify.record import RunRecord, Try


def count_problems(record: RunRecord) -> list[str]:
    """One line for everything that a row's numbers hide or make up; empty for a sound run."""
    return [*_plan_problems(record), *_slot_problems(record), *_claim_problems(record)]


def standing(record: RunRecord) -> list[Try]:
    """The tries that count: the last one of each slot, where it is valid."""
    return [tries[-1] for tries in _by_slot(record).values() if tries[-1].trajectory.outcome.valid]


def _plan_problems(record: RunRecord) -> Iterator[str]:
    suite = parse(dict(record.suite), where=record.id)
    if suite.hash != record.suite_hash:
        yield f"the suite's hash is {suite.hash[:12]}, the row says {record.suite_hash[:12]}"
    try:
        plan = make_plan(suite, attempts=record.attempts, limit=record.task_limit)
    except AgentEnvError as error:
        yield f"the plan cannot be made again: {error.message}"
        return
    made = [(world.label, world.env, world.version, world.tasks_digest) for world in plan.worlds]
    told = [(w["label"], w["env"], w["version"], w["tasks_digest"]) for w in record.worlds]
    if made != told:
        return  # other worlds: nothing can be said of their tasks, and replay says which
    wanted = [(planned.label, asdict(planned.task)) for planned in plan.tasks]
    stored = [(planned.label, asdict(planned.task)) for planned in record.plan]
    if people.is_human(record.agent_data):  # who chooses the tasks one by one: any of the suite, each once
        yield from (f"{task['id']} is no task of the suite" for label, task in stored if (label, task) not in wanted)
        if len({(label, task["id"]) for label, task in stored}) < len(stored):
            yield "a task is there twice"
        return
    for position, (made_task, stored_task) in enumerate(zip(wanted, stored, strict=False)):
        if made_task != stored_task:
            yield f"task {position} of the plan is {stored_task[1]['id']}, the suite asks for {made_task[1]['id']}"
            return
    if len(wanted) != len(stored):
        yield f"the plan has {len(stored)} tasks, the suite asks for {len(wanted)}"


def _slot_problems(record: RunRecord) -> Iterator[str]:
    slots = len(record.plan) * record.attempts
    found = _by_slot(record)
    for slot in sorted(set(found) - set(range(slots))):
        yield f"slot {slot} is not in the plan of {slots}"
    seen = {(t.slot, t.number) for t in record.tries}
    if len(seen) != len(record.tries):
        yield f"{len(record.tries) - len(seen)} tries are there twice"
    numbered: dict[int, list[int]] = defaultdict(list)
    for one in record.tries:
        numbered[one.slot].append(one.number)
    for slot in range(slots):
        numbers = sorted(set(numbered[slot]))
        if numbers != list(range(len(numbers))):
            yield f"slot {slot} has the tries {numbers}: one is missing"
        yield from _end_problems(record, slot, found.get(slot, []))


def _end_problems(record: RunRecord, slot: int, tries: list[Try]) -> Iterator[str]:
    planned = record.plan[slot % len(record.plan)]
    for one in tries:
        if one.trajectory.task != planned.task:
            yield f"slot {slot} is planned for {planned.task.id} and holds {one.trajectory.task.id}"
    if any(one.trajectory.outcome.valid for one in tries[:-1]):
        yield f"slot {slot} was played on after a valid try"
    settled = bool(tries) and (tries[-1].trajectory.outcome.valid or len(tries) >= MAX_TRIES)
    if record.finished and not settled and not people.is_human(record.agent_data):
        yield f"slot {slot} ({planned.task.id}) has no episode that counts, and the run says that it is finished"


def _claim_problems(record: RunRecord) -> Iterator[str]:
    valid: dict[int, int] = defaultdict(int)
    success: dict[int, int] = defaultdict(int)
    for one in standing(record):
        position = one.slot % len(record.plan)
        valid[position] += 1
        success[position] += one.trajectory.success
    for position, planned in enumerate(record.plan):
        counted = (valid[position], success[position])
        if counted != (planned.valid, planned.success):
            yield (
                f"{planned.task.id}: the row counts {planned.success} of {planned.valid}, "
                f"the episodes {counted[1]} of {counted[0]}"
            )


def _by_slot(record: RunRecord) -> dict[int, list[Try]]:
    """The tries that were not superseded, in order."""
    found: dict[int, list[Try]] = {}
    for one in sorted(record.tries, key=lambda t: (t.slot, t.number)):
        if not one.superseded:
            found.setdefault(one.slot, []).append(one)
    return found
