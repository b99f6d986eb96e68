import asyncio

import pytest

from agentenv.errors import EpisodeCut
from agentenv.policy import Completion
from agentenv.protocol import Outcome
from envservers.webarena.evaluators.judge import ModelJudge, WordsJudge, model_judge
from envservers.webarena.evaluators.judge_words import says_the_same


class Says:
    """The outer edge: a model that always says the same, or is gone."""

    def __init__(self, text):
        self.text, self.asked = text, []

    def describe(self):
        return {}

    async def complete(self, messages, *, seed=None):
        self.asked.append(messages)
        if self.text is None:
            raise EpisodeCut(Outcome.INFRA_LOST, "no reply")
        return Completion(text=self.text)

    async def close(self):
        pass


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("3h 30min", "3 hours 30 minutes"),
        ("1h 58min", "118 minutes"),
        ("49 min", "It takes 49 minutes."),
        ("driving: 15min", "walking: 1h 47min, driving: 15 minutes"),
        ("$1603.69 total spend", "12 orders, $1,603.69 total spend"),
        ("March 11th 2023", "mar 11, 2023"),
        ("170: cancelled", "189: pending\n170: Cancelled"),
        ("0 order", "0 order, $0 total spend"),
        ("Yes, it is closed", "yes it is closed!"),
    ],
)
def test_words_know_another_spelling(reference, answer):
    assert says_the_same(reference, answer)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("7min", "17min"),
        ("0 order", "10 order"),
        ("driving: 15min", "driving: 25min, walking: 15min"),
        ("Yes, it is closed", "no"),
        ("5", "-5"),
        ("anything", ""),
        ("", "anything"),
        ("3h 30min", "3 hours"),
    ],
)
def test_words_know_a_difference(reference, answer):
    assert not says_the_same(reference, answer)


def test_what_words_cannot_tell_is_marked():
    said = asyncio.run(WordsJudge().same_reason("Find it", "no such product", "it is not sold here"))
    assert said.passed is False
    assert said.needs_judge


@pytest.mark.parametrize(
    ("reply", "passed"),
    [
        ("It fits.\ncorrect", True),
        ("Verdict: **Correct**.", True),
        ("One would say correct, but no.\nincorrect", False),
        ("half of it\n\npartially correct\n", False),
        ("It is not incorrect, I think.", None),
        ("", None),
        ("same", None),
        (None, None),
    ],
)
def test_a_model_decides_by_its_last_line_and_fails_without_one(reply, passed):
    said = asyncio.run(ModelJudge(Says(reply)).same_answer("q", "r", "a"))
    assert said.passed is passed
    assert said.words or reply == ""


@pytest.mark.parametrize(("reply", "passed"), [("[same]", True), ("Different.", False), ("correct", None)])
def test_a_model_decides_on_reasons(reply, passed):
    assert asyncio.run(ModelJudge(Says(reply)).same_reason("t", "r", "a")).passed is passed


def test_what_is_asked_holds_the_texts_as_they_are():
    model = Says("correct")
    asyncio.run(ModelJudge(model).same_answer("What {x}?", "{reference}", "{0} % answer"))
    (message,) = model.asked[0]
    assert "Question: What {x}?\nReference answer: {reference}\nStudent's answer: {0} % answer\n" in message["content"]


def test_a_judge_at_an_endpoint_is_greedy_and_named_after_its_model():
    judge = model_judge(model="m", url="http://localhost:1/v1")
    assert judge.name == "m"
