import asyncio

import pytest

from envservers.webarena.evaluators.judge import Judged
from envservers.webarena.evaluators.original import RULES, score
from envservers.webarena.evaluators.original_functions import Review, post_url, read_call
from envservers.webarena.evaluators.original_result import PageFailed, ScriptFailed, Status
from envservers.webarena.evaluators.original_spec import BadTask, read_evaluation


class Page:
    """A browser at the outer edge: pages by address, each with its HTML and the values of scripts."""

    def __init__(self, url="http://h/last", pages=None, opened=None):
        self.url, self.pages = url, pages or {}
        self.opened = [] if opened is None else opened

    async def content(self):
        return self._page().get("html", "")

    async def evaluate(self, script):
        value = self._page().get(script.removeprefix("() => "), ScriptFailed("null has no such property"))
        if isinstance(value, Exception):
            raise value
        return value

    async def open(self, url):
        self.opened.append(url)
        if isinstance(self.pages.get(url), Exception):
            raise self.pages[url]
        return Page(url, self.pages, self.opened)

    async def close(self):
        self.opened.append("closed")

    def _page(self):
        return self.pages.get(self.url, {})


class Judge:
    name = "stub"

    def __init__(self, passed):
        self.passed, self.asked = passed, []

    async def same_answer(self, question, reference, answer):
        self.asked.append((reference, answer))
        return Judged(passed=self.passed, words="said")

    async def same_reason(self, task, reason, report):
        self.asked.append((reason, report))
        return Judged(passed=self.passed, words="said")


class Api:
    base_url = "http://shop"

    async def latest_order(self):
        return "000000189"

    async def reviews(self, sku):
        return [Review(author="Ann", percent="20"), Review(author="Bob", percent="80")] if sku == "A1" else []


def scored(record, answer="", page=None, **more):
    evaluation = read_evaluation(record)
    return asyncio.run(score(evaluation, intent="Do it", answer=answer, page=page or Page(), **more))


def strings(**answers):
    return {"eval_types": ["string_match"], "reference_answers": answers, "string_note": "there is no such product"}


def html(*targets):
    return {"eval_types": ["program_html"], "program_html": list(targets)}


def target(url="last", locator="", prepare=None, **contents):
    record = {"url": url, "locator": locator, "required_contents": contents}
    return record if prepare is None else {**record, "prep_actions": prepare}


@pytest.mark.parametrize("answer", ["N/A", "n/a", '"N/A"', "'n/a'"])
def test_na_is_right_where_a_task_cannot_be_done_and_no_judge_is_asked(answer):
    judge = Judge(False)
    assert scored(strings(fuzzy_match="N/A"), answer, judge=judge).score == 1.0
    assert not judge.asked


def test_an_empty_answer_to_such_a_task_is_wrong_and_another_one_goes_to_the_judge():
    record = strings(fuzzy_match="N/A")
    assert scored(record, "", judge=Judge(True)).score == 0.0
    judge = Judge(True)
    result = scored(record, "not possible", judge=judge)
    assert (result.score, result.checks[0].judge, result.checks[0].words) == (1.0, "stub", "said")
    assert judge.asked == [("there is no such product", "not possible")]
    assert scored(record, "not possible", judge=Judge(False)).score == 0.0
    alone = scored(record, "not possible")
    assert (alone.score, alone.checks[0].needs_judge) == (0.0, True)


def test_na_to_a_task_that_can_be_done_is_wrong():
    assert scored(strings(exact_match="42"), "N/A").score == 0.0


@pytest.mark.parametrize("record", [strings(fuzzy_match=["a"]), strings(fuzzy_match="N/A")])
def test_a_judge_that_fails_leaves_the_episode_without_a_score(record):
    result = scored(record, "something", judge=Judge(None))
    assert (result.score, result.status) == (None, Status.UNSCORED)


def test_a_failure_that_needs_no_judge_is_a_failure_whatever_the_judge_does():
    judge = Judge(None)
    result = scored(strings(must_include=["x"], fuzzy_match=["a"]), "y", judge=judge)
    assert (result.score, result.status, judge.asked) == (0.0, Status.OK, [])


def test_every_reference_is_compared_with_the_whole_answer():
    judge = Judge(True)
    assert scored(strings(fuzzy_match=["a", "b"]), "'A and B'", judge=judge).score == 1.0
    assert judge.asked == [("a", "a and b"), ("b", "a and b")]


def test_several_rules_multiply():
    record = strings(exact_match="a b", must_include=["a", "b"])
    assert scored(record, "A b").score == 1.0
    assert scored(record, "b a").score == 0.0


def test_two_references_of_one_character_are_no_words():
    record = strings(must_include=["0", "refund"])
    assert scored(record, "10 refunds").score == 1.0
    assert scored(record, "10 refunds", rules="strict").score == 0.0


def test_an_address_and_an_answer_multiply():
    record = {**strings(exact_match="a"), "eval_types": ["string_match", "url_match"], "reference_url": "http://h/a"}
    assert scored(record, "a", Page("http://h/a")).score == 1.0
    assert scored(record, "a", Page("http://h/b")).score == 0.0
    assert scored(record, "b", Page("http://h/a")).score == 0.0


def test_escaped_html_and_alternatives():
    record = html(target(must_include=["Tom & Jerry |OR| Tom and Jerry"]))
    page = Page(pages={"http://h/last": {"html": "<p>Tom &amp; Jerry</p>"}})
    assert scored(record, page=page).score == 1.0
    assert scored(record, page=Page(pages={"http://h/last": {"html": "<p>Tom</p>"}})).score == 0.0


def test_one_of_two_texts_is_not_enough():
    page = Page(pages={"http://h/last": {"html": "only a"}})
    assert scored(html(target(must_include=["a", "zz"])), page=page).score == 0.0


def test_a_script_that_throws_gives_no_text():
    result = scored(html(target(locator="document.x.y", exact_match="a")))
    assert (result.score, result.status) == (0.0, Status.OK)
    assert scored(html(target(locator="document.x.y", exact_match=""))).score == 1.0


@pytest.mark.parametrize(
    ("value", "text"), [("Abc", "abc"), (5, "5"), (True, "true"), (["a", 1], "['a', 1]"), (None, "none")]
)
def test_a_script_gives_its_value_as_text(value, text):
    page = Page(pages={"http://h/last": {"document.x": value}})
    assert scored(html(target(locator="document.x", exact_match=text)), page=page).score == 1.0


def test_strict_takes_null_for_no_text():
    page = Page(pages={"http://h/last": {"document.x": None}})
    assert scored(html(target(locator="document.x", exact_match="")), page=page, rules="strict").score == 1.0


def test_other_pages_are_opened_afresh_and_the_last_one_is_looked_at_first():
    pages = {"http://h/last": {"html": "last"}, "http://h/other": {"html": "other"}}
    page = Page(pages=pages)
    record = html(target("http://h/other", must_include=["other"]), target("last", must_include=["last"]))
    assert scored(record, page=page).score == 1.0
    assert page.opened == ["http://h/other", "closed"]
    assert page.url == "http://h/last"


def test_steps_before_a_script_are_run_and_may_throw():
    page = Page(pages={"http://h/last": {"document.x": "a"}})
    record = html(target(locator="document.x", exact_match="a", prepare=["document.gone.click()"]))
    assert scored(record, page=page).score == 1.0


@pytest.mark.parametrize("where", ["page", "script", "api"])
def test_a_site_that_fails_leaves_the_episode_without_a_score(where):
    lost = PageFailed("HTTP 502")
    throwing = Page(pages={"http://h/last": {"document.x": lost}})
    record, page = {
        "page": (html(target("http://h/x", must_include=["a"])), Page(pages={"http://h/x": lost})),
        "script": (html(target(locator="document.x", exact_match="")), throwing),
        "api": (html(target(locator="func:shopping_get_sku_latest_review_author('A1')", exact_match="Bob")), Page()),
    }[where]
    result = scored(record, page=page)
    assert (result.score, result.status) == (None, Status.ERROR)
    assert len([u for u in page.opened if u != "closed"]) == (2 if where == "page" else 0)  # one more try


def test_the_functions_that_data_may_name():
    record = html(
        target("func:shopping_get_latest_order_url()", must_include=["placed"]),
        target(locator="func:shopping_get_sku_latest_review_author('A1')", exact_match="bob"),
        target(locator="func:shopping_get_sku_latest_review_rating('A1')", exact_match="80"),
        target(locator="func:shopping_get_sku_latest_review_rating('none')", exact_match=""),
        target("func:reddit_get_post_url('__last_url__')", must_include=["post"]),
    )
    pages = {"http://shop/sales/order/view/order_id/189/": {"html": "Placed"}, "http://h/f/a/7/": {"html": "post"}}
    assert scored(record, page=Page("http://h/f/a/7/title/x", pages=pages), api=Api()).score == 1.0


def test_the_role_of_a_member_is_read_from_the_page_with_the_name_as_data():
    name = 'a"b'
    script = (
        'document.querySelectorAll("td.col-max-role span")'
        """[[...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")]"""
        '.findIndex(name => name.outerText === "@a\\"b")].outerText'
    )
    record = html(target(locator=f"func:gitlab_get_project_memeber_role(__page__, '{name}')", exact_match="guest"))
    assert scored(record, page=Page(pages={"http://h/last": {script: "Guest"}})).score == 1.0
    assert scored(record).score == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "func:__import__('os')",
        "func:reddit_get_post_url(__import__('os').system('x'))",
        "func:reddit_get_post_url('a') + 1",
        "func:reddit_get_post_url('a\\'b')",
        "func:exec('1')",
        "func:",
        "func:reddit_get_post_url('a', 'b')",
    ],
)
def test_what_is_not_in_the_table_is_never_run_and_has_no_score(text):
    assert scored(html(target(text, must_include=["a"])), api=Api()).status is Status.ERROR
    assert scored(html(target(locator=text, must_include=["a"])), api=Api()).status is Status.ERROR


def test_calls_are_read_with_quoted_arguments_alone():
    assert read_call("func:f(__page__, 'a b', \"c\")").arguments == ("__page__", "a b", "c")
    assert read_call("func:f()").arguments == ()
    with pytest.raises(BadTask, match="quoted texts"):
        read_call("func:f('a', )")


@pytest.mark.parametrize(
    ("url", "post"),
    [
        ("http://r/f/books/12/a-title/-/comment/3", "http://r/f/books/12/"),
        ("http://r/f/books/12", "http://r/f/books/12/"),
        ("http://r/f/books", "http://r/f/books"),
        ("http://r/user/x/y", "http://r/user/x/y"),
    ],
)
def test_the_address_of_a_post(url, post):
    assert post_url(url) == post


def test_a_cut_episode_counts_in_the_original_and_not_in_strict():
    record = {"eval_types": ["url_match"], "reference_url": "http://h/a"}
    cut = "Early stop: Reach max steps 30"
    assert scored(record, cut, Page("http://h/a")).score == 1.0
    assert scored(record, cut, Page("http://h/a"), rules="strict").score == 0.0


def test_bare_na_counts_in_the_original_and_not_in_strict():
    record = strings(fuzzy_match="N/A")
    assert scored(record, "N/A", rules="strict").score == 0.0
    assert scored(record, "there is no such product", rules="strict").score == 1.0


def test_the_record_names_the_rules_and_where_they_differ():
    for rules in RULES:
        result = scored(strings(exact_match="a"), "a", rules=rules)
        assert result.rules == rules
        assert bool(result.variants) == (rules == "strict")


def test_reasons_are_one_line_and_do_not_give_the_answer_away():
    record = {
        **strings(exact_match="SECRET", must_include=["SECRET"], fuzzy_match=["SECRET"]),
        **html(target(must_include=["SECRET"]), target(exact_match="SECRET")),
        "eval_types": ["string_match", "url_match", "program_html"],
        "reference_url": "http://SECRET/",
    }
    for found in scored(record, "wrong").checks:
        assert found.passed is False
        assert "SECRET" not in found.reason
        assert "\n" not in found.reason


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "eval: must be an object"),
        ({"eval_types": []}, "eval_types"),
        ({"eval_types": ["magic"]}, "must be some of"),
        ({"eval_types": ["string_match"]}, "without an answer"),
        ({"eval_types": ["string_match"], "reference_answers": {"must_include": []}}, "without an answer"),
        ({"eval_types": ["string_match"], "reference_answers": {"regex": "a"}}, "no such rule"),
        ({"eval_types": ["string_match"], "reference_answers": {"exact_match": 5}}, "must be a text"),
        ({"eval_types": ["url_match"]}, "without an address"),
        ({"eval_types": ["url_match"], "reference_url": "h", "url_note": "EXACT"}, "no known rule"),
        ({"eval_types": ["program_html"]}, "no target"),
        (html(target()), "needs exact_match or must_include"),
        (html({"url": 3, "locator": "", "required_contents": {"exact_match": "a"}}), r"program_html\[0\].url"),
        (html(target(must_include="abc")), "must be a list"),
        (html(target(must_include=[])), "needs exact_match or must_include"),
        (html(*[target(exact_match="a")] * 101), "at most 100"),
    ],
)
def test_data_of_another_form_are_refused_with_their_place(record, words):
    with pytest.raises(BadTask, match=words):
        read_evaluation(record)


def test_unknown_keys_are_left_out():
    read_evaluation({**strings(exact_match="a"), "new_key": [1], "url_note": "whatever"})
