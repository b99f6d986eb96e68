import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentenv.functions.schema import schema_fault, value_fault


@pytest.mark.parametrize(
    ("value", "schema", "fault"),
    [
        ("a", {"type": "string"}, None),
        (1, {"type": "string"}, "must be a text, not 1"),
        (2.0, {"type": "integer"}, None),
        (2.5, {"type": "integer"}, "must be a whole number"),
        (float("inf"), {"type": "number"}, "must be a number"),
        (True, {"type": "integer"}, "must be a whole number, not true"),
        (None, {"type": ["string", "null"]}, None),
        (1, {"enum": [True]}, "must be one of true"),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "fits none of its forms"),
        ("x", {"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ("ab", {"pattern": "^[a-z]{3}$"}, r"must look like"),
        ("x" * 3000, {"pattern": "x"}, "must look like"),
        ("", {"minLength": 1}, "at least 1 characters"),
        ("abc", {"maxLength": 2}, "at most 2 characters"),
        (5, {"maximum": 4}, "must be at most 4, not 5"),
        ([1, "x"], {"items": {"type": "integer"}}, r"`\[1\]` must be a whole number"),
        ([1], {"minItems": 2}, "at least 2 items"),
        ([1, 2], {"maxItems": 1}, "at most 1 items"),
        ({}, {"required": ["a"]}, "`a` is missing"),
        ({"b": 1}, {"properties": {"a": {}}, "additionalProperties": False}, 'no argument "b"; there are: a'),
        ({"a": {"b": 1}}, {"properties": {"a": {"properties": {"b": {"type": "string"}}}}}, "`a.b` must be a text"),
        ({"z": 1}, {"additionalProperties": {"type": "string"}}, "`z` must be a text"),
        ("y", {"const": "x"}, 'must be "x"'),
    ],
)
def test_a_value_fits_or_the_reason_says_where_it_does_not(value, schema, fault):
    import re

    assert schema_fault(schema) is None
    found = value_fault(value, schema)
    assert found is None if fault is None else found is not None and re.search(fault, found)


@pytest.mark.parametrize("schema", [{"$ref": "http://x"}, {"oneOf": []}, {"items": {"not": {}}}, {"anyOf": [7]}, "x"])
def test_what_is_not_checked_is_refused(schema):
    assert schema_fault(schema)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=JSON)
def test_no_value_breaks_the_check(value):
    schema = {"type": ["object", "array"], "properties": {"a": {"enum": [1]}}, "items": {"pattern": "a", "minimum": 2}}
    assert value_fault(value, schema) is None or value_fault(value, schema)
