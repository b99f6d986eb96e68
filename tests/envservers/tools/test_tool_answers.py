"""Final answers are compared by type."""

import pytest

from envservers.tools.toolkit.answers import right


@pytest.mark.parametrize(
    ("type", "value", "good", "bad"),
    [
        ("number", 3, [3, 3.0, "3", " 3 "], [4, "three", "3 tasks", [3], None, "", "1e0"]),
        ("number", 1, [1, "1"], [True, "true", "yes"]),
        ("number", 0, [0, "0"], [False, None, "", []]),
        ("date", "2030-05-02", ["2030-05-02"], ["2030-5-2", "20300502", "2 May 2030", "2030-05-03", 20300502, None]),
        (
            "text",
            "Anna Berg",
            ["Anna Berg", " anna  berg. ", '"Anna Berg"', "“Anna Berg”"],
            ["Anna", "Anna Bergmann", ["Anna Berg"], None],
        ),
        (
            "texts",
            ["Paint", "Sand"],
            [["Sand", "Paint"], ["sand", "PAINT"]],
            [["Paint"], "Paint, Sand", ["Paint", "Sand", "Sand"]],
        ),
        ("texts", ["Paint"], [["Paint"], "paint"], [[], "", ["Sand"]]),
        ("text", "impossible", ["impossible", "Impossible."], ["not found", None, "done"]),
    ],
)
def test_answers_of_each_type(type, value, good, bad):
    wanted = {"type": type, "value": value}
    assert [answer for answer in good if not right(answer, wanted)] == []
    assert [answer for answer in bad if right(answer, wanted)] == []


@pytest.mark.parametrize("answer", [None, "done", 3])
def test_where_nothing_is_asked_any_answer_does(answer):
    assert right(answer, None)
