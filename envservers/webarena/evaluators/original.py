"""The original's evaluators: the product of `string_match`, `url_match` and `program_html`, each with its reason.

`original` has their results, defects included; `strict` mends what `strict_rules.VARIANTS` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from envservers.webarena.evaluators import original_strings, original_urls, strict_rules
from envservers.webarena.evaluators.judge import Judge, Judged, WordsJudge
from envservers.webarena.evaluators.original_functions import ShopApi
from envservers.webarena.evaluators.original_pages import PageLike, PageRules, check_pages
from envservers.webarena.evaluators.original_result import Found, Scored, Status, product
from envservers.webarena.evaluators.original_spec import UNACHIEVABLE, Evaluation

EARLY = "Early stop:"
"""Begins the answer of an episode that was cut, in the original's runner."""


class Includes(Protocol):
    """Whether a text holds a reference; `alone` tells that it is the task's only one."""

    def __call__(self, reference: str, text: str, *, alone: bool = False) -> bool:
        """Compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One way to evaluate."""

    name: str
    includes: Includes
    is_at: Callable[[str, str], bool]
    """Reference, address."""
    null: str
    bare_na: bool
    """Whether N/A without a reason is right where a task cannot be done."""
    cut_counts: bool
    """Whether an episode that was cut is evaluated like one that stopped."""
    variants: tuple[str, ...] = ()


RULES: Mapping[str, Rules] = {
    "original": Rules(
        name="original",
        includes=original_strings.includes,
        is_at=original_urls.is_at,
        null="None",
        bare_na=True,
        cut_counts=True,
    ),
    "strict": Rules(
        name="strict",
        includes=strict_rules.includes,
        is_at=strict_rules.is_at,
        null="",
        bare_na=False,
        cut_counts=False,
        variants=strict_rules.VARIANTS,
    ),
}


async def score(
    evaluation: Evaluation,
    *,
    intent: str,
    answer: str,
    page: PageLike,
    judge: Judge | None = None,
    api: ShopApi | None = None,
    rules: str = "original",
) -> Scored:
    """Score an episode by its answer (empty when there was none) and the agent's page.

    A judge is asked only while nothing has failed. Without one, words are compared.
    """
    chosen = RULES[rules]
    judge = judge or WordsJudge()
    checks: list[Found] = []
    if not chosen.cut_counts and answer.startswith(EARLY):
        checks.append(Found(check="own_stop", passed=False, reason="the episode was cut before it was stopped"))
    if "url_match" in evaluation.types:
        checks.append(_check_url(evaluation.reference_url, page.url, chosen))
    if "string_match" in evaluation.types:
        checks += check_texts(evaluation, answer, chosen)
    if "program_html" in evaluation.types:
        page_rules = PageRules(includes=lambda ref, text: chosen.includes(ref, text), null=chosen.null)
        checks += await check_pages(evaluation.targets, page, api, page_rules)
    if "string_match" in evaluation.types and all(found.passed is not False for found in checks):
        checks += await _check_meaning(evaluation, intent, answer, judge, chosen)
    return product(checks, rules=chosen.name, variants=chosen.variants)


def check_texts(evaluation: Evaluation, answer: str, rules: Rules) -> list[Found]:
    """The parts of `string_match` that need no judge."""
    said = original_strings.clean(answer)  # and once more inside of each comparison, as in the original
    found = []
    if evaluation.exact is not None:
        passed = original_strings.is_exactly(evaluation.exact, said)
        reason = "the answer is the reference" if passed else "the answer is another text than the reference"
        found.append(Found(check="string_match:exact_match", passed=passed, reason=reason))
    references = evaluation.includes or ()
    missing = sum(not rules.includes(ref, said, alone=len(references) == 1) for ref in references)
    if references:
        reason = f"{missing} of {len(references)} references are not in the answer" if missing else "all are in it"
        found.append(Found(check="string_match:must_include", passed=not missing, reason=reason))
    return found


def _check_url(reference: str, url: str, rules: Rules) -> Found:
    passed = rules.is_at(reference, url)
    return Found(check="url_match", passed=passed, reason="on the page asked for" if passed else "on another page")


async def _check_meaning(evaluation: Evaluation, intent: str, answer: str, judge: Judge, rules: Rules) -> list[Found]:
    said = original_strings.clean(answer)
    found = []
    for reference in evaluation.fuzzy or ():
        if not said:  # a judge has been seen to accept it
            passed = not reference
            found.append(Found(check="string_match:fuzzy_match", passed=passed, reason="the answer is empty"))
        else:
            judged = await judge.same_answer(intent, reference, said)
            found.append(_judged("string_match:fuzzy_match", judged, judge))
        if found[-1].passed is False:
            return found
    if evaluation.unachievable:
        found.append(await _check_unachievable(evaluation, intent, said, judge, rules))
    return found


async def _check_unachievable(evaluation: Evaluation, intent: str, said: str, judge: Judge, rules: Rules) -> Found:
    check = "string_match:unachievable"
    if original_strings.is_exactly(UNACHIEVABLE, said):
        reason = "the answer is N/A" if rules.bare_na else "the answer is N/A without a reason"
        return Found(check=check, passed=rules.bare_na, reason=reason)
    if not said.strip():
        return Found(check=check, passed=False, reason="the answer is empty")
    return _judged(check, await judge.same_reason(intent, evaluation.reason, said), judge)


def _judged(check: str, judged: Judged, judge: Judge) -> Found:
    reason = {True: "judged the same", False: "judged different", None: "the judge failed"}[judged.passed]
    return Found(
        check=check,
        passed=judged.passed,
        reason=reason,
        failed=Status.UNSCORED,
        judge=judge.name,
        words=judged.words,
        needs_judge=judged.needs_judge,
    )
