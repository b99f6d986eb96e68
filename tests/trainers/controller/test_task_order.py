"""Which tasks a step plays: each once an epoch, environments by weight, and a resumed cursor goes on where it was."""

import json
from collections import Counter

import pytest
from toy_envs import tasks_of

from agentenv.agents.tokens import sampling_seed
from agentenv.protocol import TaskRef
from trainers.settings import BadSetting
from trainers.tasks import TaskCursor, TaskOrder, chosen


def refs(count: int, env: str = "toy_inline") -> list[TaskRef]:
    return [task.ref() for task in tasks_of(env, count).tables["train"]]


def cursor(count: int = 240, *, seed: int = 0, shuffle: bool = True) -> TaskCursor:
    return TaskCursor([TaskOrder(refs(count), seed=seed, shuffle=shuffle)], [1.0])


def played(cursor: TaskCursor, steps: int, *, first: int = 1, batch: int = 4) -> list[tuple[str, int]]:
    """Task and sampling seed of every item."""
    return [
        (slot.task.id, sampling_seed(run_seed=0, step=step, task=slot.task.id, member=0, attempt=0, turn=0))
        for step in range(first, first + steps)
        for slot in cursor.draw(batch)
    ]


@pytest.mark.parametrize("stop", [60, 40, 120])
def test_stopped_and_resumed_the_items_are_those_of_an_undisturbed_run(stop):
    whole = played(cursor(), 120)
    before = cursor()
    items = played(before, stop)
    state = json.loads(json.dumps(before.state()))
    after = cursor()
    after.restore(state)
    items += played(after, 120 - stop, first=stop + 1)
    assert json.dumps(items).encode() == json.dumps(whole).encode()


def test_the_first_item_after_forty_steps_is_the_161st_of_the_epoch():
    order = [task for task, _ in played(cursor(), 60)]
    half = cursor()
    played(half, 40)
    assert half.draw(4)[0].task.id == order[160]


def test_each_epoch_has_every_task_once_in_an_order_of_its_own():
    items = [task for task, _ in played(cursor(), 120)]
    first, second = items[:240], items[240:]
    assert sorted(first) == sorted(second) == sorted(task.id for task in refs(240))
    assert first != second


def test_seeds_have_orders_of_their_own_and_without_shuffle_it_is_that_of_the_split():
    assert [t for t, _ in played(cursor(seed=1), 60)] != [t for t, _ in played(cursor(seed=2), 60)]
    assert [t for t, _ in played(cursor(shuffle=False), 60)] == [task.id for task in refs(240)]


def test_environments_are_drawn_by_weight_over_the_steps():
    orders = [TaskOrder(refs(50, env), seed=0, shuffle=True) for env in ("a", "b", "c")]
    several = TaskCursor(orders, [3.0, 1.0, 0.0])
    counts = Counter()
    for _ in range(16):
        slots = several.draw(2)
        assert [slot.group for slot in slots] == [0, 1]
        counts.update(slot.env for slot in slots)
    assert counts == {0: 24, 1: 8}


def test_what_is_owed_to_an_environment_survives_a_resume():
    def two() -> TaskCursor:
        return TaskCursor([TaskOrder(refs(9, env), seed=0, shuffle=True) for env in ("a", "b")], [5.0, 2.0])

    whole, before, after = two(), two(), two()
    expected = [[(s.env, s.task.id) for s in whole.draw(3)] for _ in range(9)]
    found = [[(s.env, s.task.id) for s in before.draw(3)] for _ in range(4)]
    after.restore(before.state())
    found += [[(s.env, s.task.id) for s in after.draw(3)] for _ in range(5)]
    assert found == expected


def test_other_tasks_than_those_of_the_checkpoint_are_refused():
    state = cursor().state()
    with pytest.raises(BadSetting, match=r"environments\[0\]: its tasks are not those of the checkpoint"):
        cursor(239).restore(state)
    with pytest.raises(BadSetting, match="the checkpoint has 1 of them, the settings 2"):
        TaskCursor([TaskOrder(refs(9), seed=0, shuffle=True)] * 2, [1.0, 1.0]).restore(state)


def test_an_empty_split_has_no_order():
    with pytest.raises(BadSetting, match="there is no task in it"):
        TaskOrder([], seed=0, shuffle=True)


def test_a_file_names_the_tasks_in_its_order(tmp_path):
    file = tmp_path / "tasks.txt"
    file.write_text("toy_inline/train/7\n\n  toy_inline/train/2\n")
    assert [task.index for task in chosen(refs(10), str(file))] == [7, 2]
    assert len(chosen(refs(10), None)) == 10


@pytest.mark.parametrize(
    ("text", "words"), [("toy_inline/train/77\n", "names toy_inline/train/77, not in the split"), ("", "names no task")]
)
def test_a_file_of_other_tasks_is_refused(tmp_path, text, words):
    file = tmp_path / "tasks.txt"
    file.write_text(text)
    with pytest.raises(BadSetting, match=words):
        chosen(refs(10), str(file))
    with pytest.raises(BadSetting, match="cannot read"):
        chosen(refs(10), str(tmp_path / "nowhere"))


def test_the_tasks_that_were_drawn_are_known_and_all_of_them_after_an_epoch():
    drawing = cursor(12)
    assert drawing.drawn() == frozenset()
    digests = {slot.task.digest for slot in drawing.draw(5)}
    assert drawing.drawn() == digests
    drawing.draw(20)
    assert drawing.drawn() == {task.digest for task in refs(12)}
