import json

import pytest
from http_play import replies

from agentenv.data.rows import Wanted, rows_of
from agentenv.errors import UnknownOption
from agentenv.protocol import Action
from envservers.search.env import SearchEnv
from envservers.search.spec import SPEC

CORPUS = [
    {"id": "0", "contents": '"Fox"\nThe fox lives in the wood.'},
    {"id": "1", "contents": '"Heron"\nThe heron stands in the Ister.'},
]
NQ = [{"question": "Where does the fox live?", "golden_answers": ["wood", "the woods"]}]
HOTPOT = [
    {"_id": "a", "question": "Where does the heron stand?", "answer": "Ister", "type": "bridge", "level": "hard"},
    {"_id": "b", "question": "Is a fox a bird?", "answer": "no", "type": "comparison", "level": "easy"},
]


def write_lines(path, rows) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def corpus(tmp_path) -> str:
    return write_lines(tmp_path / "corpus.jsonl", CORPUS)


@pytest.fixture
def folder(tmp_path) -> str:
    folder = tmp_path / "questions"
    folder.mkdir()
    write_lines(folder / "dev.jsonl", NQ)
    (folder / "train.json").write_text(json.dumps(HOTPOT), encoding="utf-8")
    return str(folder)


def test_questions_of_a_folder_are_asked_over_a_corpus_file(corpus, folder):
    options = {"corpus": corpus, "questions": folder}
    tasks = SPEC.task_set(options)
    assert tasks.splits() == ("train", "dev")
    assert [tasks.get("train", i).difficulty for i in (0, 1)] == [3, 1]
    env = SearchEnv(**options)
    env.reset(tasks.get("dev", 0))
    shown = env.step(Action(text="<search>heron</search>"))
    assert shown.observation == ('<information>Doc 1(Title: "Heron") The heron stands in the Ister.</information>')
    assert env.step(Action(text="<answer>The Woods</answer>")).success


def test_the_shapes_of_common_data_sets_are_read(tmp_path):
    rows = [
        {"question": "q1", "answer": ["a"]},
        {"question": "q2", "answers": {"text": ["a", "b"]}},
        {"question": "q3", "reward_model": {"ground_truth": {"target": ["c"]}}},
    ]
    path = write_lines(tmp_path / "rows.jsonl", rows)
    tasks = SPEC.task_set({"questions": path, "retriever": "http://127.0.0.1:1"})
    assert [tasks.get("test", i).payload["answers"] for i in range(3)] == [["a"], ["a", "b"], ["c"]]


@pytest.mark.parametrize(
    "row", [{"question": "q"}, {"answer": "a"}, {"question": " ", "answer": "a"}, {"question": "q", "answer": []}, 3]
)
def test_a_question_that_cannot_be_asked_is_named_with_its_file(tmp_path, row):
    path = write_lines(tmp_path / "rows.jsonl", [{"question": "q", "answer": "a"}, row])
    with pytest.raises(UnknownOption, match=r"rows\.jsonl: question 1"):
        SPEC.task_set({"questions": path, "retriever": "http://127.0.0.1:1"})


def test_what_is_searched_and_what_is_asked_come_together(corpus, folder):
    for options in ({"corpus": corpus}, {"questions": folder}, {"retriever": "http://127.0.0.1:1"}):
        with pytest.raises(UnknownOption, match="give both"):
            SPEC.task_set(options)


def test_a_corpus_that_cannot_be_read_is_named_with_the_line(tmp_path, folder):
    path = write_lines(tmp_path / "bad.jsonl", [CORPUS[0], {"title": "no text"}])
    env = SearchEnv(corpus=path, questions=folder)
    with pytest.raises(UnknownOption, match=r"bad\.jsonl'?: line 2"):
        env.reset(SPEC.task_set({"corpus": path, "questions": folder}).get("dev", 0))


@pytest.mark.parametrize(
    ("reply", "gold", "over", "success"),
    [
        ("<answer>The Beatles!</answer>", "beatles", True, True),
        ("<answer>don’t</answer>", "don't", True, False),
        ("<answer></answer>", "A", True, False),
        ("Beijing", "Beijing", False, None),
        ("<answer>Rome</answer> no: <answer> Paris </answer>", "Paris", True, True),
        ("<answer>Paris", "Paris", False, None),
        ("<Answer>Paris</Answer>", "Paris", False, None),
        ("<answer>x\ny</answer>", "x y", True, True),
        ("<think><answer>Paris</answer></think>", "Paris", False, None),
    ],
)
def test_over_http_the_answer_of_a_reply_alone_is_judged(tmp_path, corpus, reply, gold, over, success):
    questions = write_lines(tmp_path / "questions.jsonl", [{"question": "Which?", "golden_answers": [gold]}])
    _, step = replies(SPEC, "search/test/0", [reply], served={"corpus": corpus, "questions": questions})
    found = step.json()
    assert (found["terminated"], found["success"], found["reward"]) == (over, success, float(bool(success)))


def test_rows_made_for_trainers_are_read_back_as_the_same_questions(world, corpus, tmp_path):
    wanted = Wanted(spec=SPEC, options={"size": "small"}, split="dev", limit=5, observation=False)
    rows = [{**row, "question": world.get("dev", n).payload["question"]} for n, row in enumerate(rows_of(wanted))]
    questions = write_lines(tmp_path / "rows.jsonl", rows)
    again = SPEC.task_set({"corpus": corpus, "questions": questions})
    for index in range(5):
        known = world.get("dev", index).payload
        assert list(again.get("test", index).payload["answers"]) == list(known["answers"])
