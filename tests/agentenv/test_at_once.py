import asyncio

import pytest

from agentenv.at_once import at_once


def test_results_come_in_the_items_order_and_no_more_than_so_many_run():
    running, most = 0, 0

    async def work(item):
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(0.001 * (5 - item))
        running -= 1
        return 10 * item

    assert asyncio.run(at_once(range(5), work, most=3)) == [0, 10, 20, 30, 40]
    assert most == 3
    assert asyncio.run(at_once([], work, most=3)) == []


def test_the_first_exception_leaves_as_it_is_and_ends_the_rest():
    begun = []

    async def work(item):
        begun.append(item)
        await asyncio.sleep(0)
        if item == 1:
            raise KeyError("one")
        await asyncio.sleep(60)

    with pytest.raises(KeyError, match="one"):
        asyncio.run(at_once(range(9), work, most=3))
    assert begun == [0, 1, 2]
