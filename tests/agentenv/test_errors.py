"""The tree of errors: complete, picklable, one code each, and the same after a journey as a problem document."""

import copy
import inspect
import pickle
import re

import pytest

from agentenv import errors
from agentenv.errors import BY_CODE, AgentEnvError, BadCall, EnvFailed, InfraError, UnknownTask, boundary
from agentenv.wire import Problem, decode_problem, encode_problem

CLASSES = {
    name: cls
    for name, cls in vars(errors).items()
    if inspect.isclass(cls) and issubclass(cls, AgentEnvError) and cls.__module__ == errors.__name__
}
BRANCH = re.compile(r"^((?:[│ ]   )*)[├└]── (\w+) +(\S.*)$")


def tree() -> dict[str, str]:
    """Each class of the docstring's tree with its parent."""
    parents, path = {"AgentEnvError": ""}, ["AgentEnvError"]
    for line in (errors.__doc__ or "").splitlines():
        if match := BRANCH.match(line):
            depth = len(match[1]) // 4 + 1
            path[depth:] = [match[2]]
            parents[match[2]] = path[depth - 1]
    return parents


def test_the_tree_in_the_docstring_is_the_tree_of_the_code() -> None:
    of_code = {name: cls.__bases__[0].__name__ for name, cls in CLASSES.items() if cls is not AgentEnvError}
    assert tree() == {"AgentEnvError": "", **of_code}


def test_every_class_says_what_it_is() -> None:
    for cls in CLASSES.values():
        assert inspect.getdoc(cls), cls


def test_codes_are_unique_and_found_by_code() -> None:
    own = [cls for cls in CLASSES.values() if "code" in vars(cls)]
    assert len({cls.code for cls in own}) == len(own)
    assert {cls.code: cls for cls in own} == BY_CODE
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", code) for code in BY_CODE)


@pytest.mark.parametrize("cls", CLASSES.values(), ids=lambda c: c.__name__)
def test_status_and_retryable_fit_together(cls: type[AgentEnvError]) -> None:
    assert 400 <= cls.status < 600
    assert cls.retryable is issubclass(cls, InfraError)
    if issubclass(cls, BadCall):
        assert cls.status < 500


@pytest.mark.parametrize("cls", CLASSES.values(), ids=lambda c: c.__name__)
def test_errors_are_pickled_and_copied_with_their_extra_fields(cls: type[AgentEnvError]) -> None:
    error = cls("what happened", episode=3, step=4)
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is cls
        assert (other.message, str(other), other.extra) == ("what happened", "what happened", {"episode": 3, "step": 4})


@pytest.mark.parametrize("code", BY_CODE)
def test_an_error_comes_back_from_a_problem_document_as_itself(code: str) -> None:
    error = BY_CODE[code]("what happened", reason="expired", message="a field of this name", self="and this")
    problem = decode_problem(encode_problem(Problem.of(error)))
    back = problem.error()
    assert type(back) is type(error)
    assert (back.message, back.extra) == (error.message, error.extra)
    assert (problem.status, problem.retryable) == (error.status, error.retryable)


def test_a_code_of_a_newer_server_is_named() -> None:
    problem = Problem(type="x", title="x", status=409, detail="it is", code="brand_new", retryable=False)
    error = problem.error()
    assert type(error) is AgentEnvError
    assert error.message == "brand_new: it is"


def test_a_wrong_call_is_a_value_error_too() -> None:
    assert isinstance(UnknownTask("x"), ValueError)


def test_a_cut_of_an_episode_is_no_error_of_this_tree() -> None:
    cut = errors.EpisodeCut("context_full", "4096 tokens")
    assert not isinstance(cut, AgentEnvError)
    assert (cut.outcome, cut.detail, str(cut)) == ("context_full", "4096 tokens", "context_full: 4096 tokens")


def test_a_boundary_gives_what_escapes_foreign_code_one_class() -> None:
    with (
        pytest.raises(EnvFailed, match="loading: ZeroDivisionError: by zero") as caught,
        boundary(EnvFailed, "loading"),
    ):
        raise ZeroDivisionError("by zero")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(UnknownTask), boundary(EnvFailed, "loading"):
        raise UnknownTask("x")
