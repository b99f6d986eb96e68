"""FreeText takes what a model may say or see; PngImage takes what an image is."""

import pickle

import numpy as np
import pytest
from gymnasium.vector.utils import batch_space
from hypothesis import given
from hypothesis import strategies as st

from agentenv.client.infos import batched
from agentenv.client.spaces import FreeText, PngImage
from agentenv.wire import clean_text

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))  # lone surrogates too


@given(ANY_TEXT)
def test_text_is_a_member_exactly_when_it_can_be_encoded(text: str) -> None:
    try:
        text.encode()
        encodes = True
    except UnicodeEncodeError:
        encodes = False
    assert (text in FreeText()) is encodes


@given(ANY_TEXT)
def test_cleaned_text_is_always_a_member(text: str) -> None:
    assert clean_text(text) in FreeText()


@pytest.mark.parametrize("value", [None, 3, b"bytes", ["text"], object()])
def test_what_is_no_text_is_no_member(value: object) -> None:
    assert value not in FreeText()


def test_samples_follow_the_seed_and_are_members() -> None:
    first, second, other = FreeText(seed=1), FreeText(seed=1), FreeText(seed=2)
    drawn = [first.sample() for _ in range(50)]
    assert drawn == [second.sample() for _ in range(50)]
    assert drawn != [other.sample() for _ in range(50)]
    assert all(text in first for text in drawn)
    first.seed(1)
    assert [first.sample() for _ in range(50)] == drawn


@pytest.mark.parametrize("kind", [FreeText, PngImage])
def test_spaces_are_equal_by_kind_hash_alike_and_pickle(kind: type) -> None:
    space = kind(seed=3)
    assert space == kind()
    assert space != "text"
    assert hash(space) == hash(kind())
    assert pickle.loads(pickle.dumps(space)) == space
    assert repr(space) == f"{kind.__name__}()"
    assert FreeText() != PngImage()


def test_a_batch_of_free_text_takes_tuples() -> None:
    many = batch_space(FreeText(), 2)
    assert ("a", "b\n") in many
    assert ("a",) not in many


def test_an_image_is_empty_or_begins_as_a_png() -> None:
    space = PngImage()
    assert b"" in space
    assert b"\x89PNG\r\n\x1a\n..." in space
    assert b"GIF89a" not in space
    assert "" not in space
    assert space.sample() in space


# Infos of many slots.


def test_an_array_takes_its_type_from_every_slot() -> None:
    infos = {
        0: {"whole": 1, "mixed": 1, "flag": True, "gap": True, "late": None},
        1: {"whole": 2, "mixed": 0.5, "flag": False, "gap": None, "late": 2.5, "own": "x"},
    }
    together = batched(infos, 3)
    kinds = {name: together[name].dtype for name in ("whole", "mixed", "flag", "gap", "late", "own")}
    assert kinds == {
        "whole": np.int64,
        "mixed": np.float64,
        "flag": np.bool_,
        "gap": object,
        "late": object,
        "own": object,
    }
    assert together["mixed"].tolist() == [1.0, 0.5, 0.0]
    assert together["gap"].tolist() == [True, None, None]
    assert together["_own"].tolist() == [False, True, False]
    assert together["_mixed"].tolist() == [True, True, False]


def test_dicts_become_dicts_of_arrays_unless_a_slot_shows_something_else() -> None:
    both = batched({0: {"d": {"a": 1}}, 1: {"d": {"b": 2}}}, 2)
    assert both["d"]["a"].tolist() == [1, 0]
    assert both["d"]["_b"].tolist() == [False, True]
    assert batched({0: {"d": {"a": 1}}, 1: {"d": "text"}}, 2)["d"].tolist() == [{"a": 1}, "text"]
    assert batched({0: {"final_obs": {"text": "a"}}}, 2)["final_obs"].tolist() == [{"text": "a"}, None]


@pytest.mark.parametrize("value", [2**70, [1, 2], "text", None])
def test_what_no_array_of_numbers_holds_is_kept_as_it_is(value: object) -> None:
    assert batched({1: {"x": value}}, 2)["x"].tolist() == [None, value]


def test_no_infos_are_an_empty_dict() -> None:
    assert batched({}, 3) == {}
