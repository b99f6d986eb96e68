import random

import pytest

from agentenv.errors import EpisodeOver, ResetNeeded, UnknownOption
from agentenv.functions import Call, FunctionTable
from agentenv.protocol import Action, StepResult
from envservers.games.wordle.env import TRIES, Wordle, read_guess
from envservers.games.wordle.spec import SPEC
from envservers.games.wordle.words import answers, guesses

WRONG = ["adieu", "crane", "moist", "lucky", "vivid", "pouch"]
"""Six valid words, none of them hidden below."""
NOT_LISTED = "it is not in the list of words"


def game(word: str, **options) -> Wordle:
    env = SPEC.make({"word": word, **options})
    env.last = env.reset(SPEC.task_set({"word": word, **options}).get("test", 0))
    return env


def say(env: Wordle, text: str) -> StepResult:
    return env.step(Action(text=text))


def test_the_first_observation_opens_the_game_and_shows_no_word():
    assert game("those").last == StepResult(observation="Let's start Wordle!", info={"tries_left": 6})


def test_the_vocabulary_is_shown_only_by_option():
    text = game("those", show_vocabulary=True).last.observation
    assert text.startswith("Let's start Wordle!\nThe vocabulary: ")
    assert text.partition("vocabulary: ")[2].split(", ") == list(guesses())


LOOSE = ["ADIEU", "adieu", "a d i e u", " A  d i\te u\n", "guess adieu", "guess a d i e u"]
MARKED = ["adieu.", '"ADIEU"', "“adieu”", "[a d i e u]", "Guess: adieu", 'guess "adieu".', "**adieu**", "`guess adieu`"]


@pytest.mark.parametrize("text", [*LOOSE, *MARKED])
def test_case_blanks_and_marks_around_it_do_not_change_a_guess(text):
    assert say(game("those"), text).observation == "b b b y b"


INVALID = {
    "no word": "zzzzz",
    "four letters": "abcd",
    "four spaced letters": "a b c d",
    "hyphens": "a-d-i-e-u",
    "two pieces": "ad ieu",
    "empty": "",
    "blank": " ",
    "six letters": "adieus",
    "two words": "adieu crane",
    "a dot within": "adi.eu",
    "commas": "a, d, i, e, u",
    "a letter that only looks like one": "\u212aiosk",
    "an accent": "\u00e4dieu",
    "an emoji": "\U0001f4a5",
    "a control character": "\x00",
    "a lone surrogate": "\ud800dieu",
    "half a megabyte": "adieu" * 100_000,
    "a megabyte of blanks": " " * 1_000_000 + "adieu",
}


@pytest.mark.parametrize("text", INVALID.values(), ids=INVALID)
def test_an_invalid_word_is_said_to_be_one_and_uses_up_one_try(text):
    result = say(game("those"), text)
    why = NOT_LISTED if text == "zzzzz" else "write one word of 5 letters"
    assert result == StepResult(observation=f"invalid word: {why}", info={"tries_left": 5})


def test_the_word_guess_can_be_guessed():
    assert [read_guess(text) for text in ("guess", "g u e s s", "guess guess")] == ["guess"] * 3


def test_six_invalid_words_end_the_game_as_a_failure_after_the_sixth():
    env = game("those")
    results = [say(env, "zzzzz") for _ in range(TRIES)]
    assert [r.terminated for r in results] == [False] * 5 + [True]
    assert results[-1].observation == f"invalid word: {NOT_LISTED}"
    assert results[-1].success is False


def test_six_wrong_words_end_the_game_with_reward_0_and_a_seventh_is_refused():
    env = game("those")
    results = [say(env, word) for word in WRONG]
    assert [r.terminated for r in results] == [False] * 5 + [True]
    assert [r.success for r in results] == [None] * 5 + [False]
    assert sum(r.reward for r in results) == 0
    with pytest.raises(EpisodeOver, match="reset or close") as refused:
        say(env, "those")
    assert refused.value.extra == {"outcome": "failure"}


@pytest.mark.parametrize("tries_before", range(TRIES))
def test_the_right_word_wins_on_every_try_also_on_the_last(tries_before):
    env = game("those")
    assert [say(env, word).reward for word in WRONG[:tries_before]] == [0.0] * tries_before
    result = say(env, "t h o s e")
    assert result == StepResult(
        observation="g g g g g", reward=1.0, terminated=True, success=True, info={"tries_left": 5 - tries_before}
    )
    with pytest.raises(EpisodeOver):
        say(env, "those")


def test_the_hidden_word_stays_the_same_whatever_is_guessed():
    env = game("those")
    assert [say(env, "adieu").observation for _ in range(5)] == ["b b b y b"] * 5
    assert say(env, "those").success


def test_step_before_reset_says_what_to_do():
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        SPEC.make().step(Action(text="adieu"))


def test_a_reset_starts_afresh_in_mid_game_and_after_the_end():
    env, tasks = SPEC.make(), SPEC.task_set()
    for index in range(3):
        task = tasks.get("test", index)
        assert env.reset(task).info["tries_left"] == 6
        env.step(Action(text="zzzzz"))
        if index:
            assert env.step(Action(text=task.payload["word"])).success


def test_a_restored_game_goes_on_as_the_first_one_would_have():
    env = game("those")
    for text in ("adieu", "zzzzz"):
        say(env, text)
    other = SPEC.make({"word": "those"})
    other.restore(env.snapshot())
    rest = [*WRONG[:3], "those"]
    assert [say(env, text) for text in rest] == [say(other, text) for text in rest]
    ended = SPEC.make()
    ended.restore(env.snapshot())
    with pytest.raises(EpisodeOver):
        say(ended, "those")


def test_a_snapshot_is_not_changed_by_later_steps():
    env = game("those")
    before = env.snapshot()
    say(env, "those")
    assert before == ("those", 0, None)


def test_available_actions_are_the_whole_list_and_a_copy():
    env = game("those")
    first = env.available_actions()
    assert first == list(guesses())
    first.clear()
    assert env.available_actions() == list(guesses())


def test_a_fixed_word_must_be_one_that_can_be_guessed():
    with pytest.raises(UnknownOption, match="word='zzzzz'"):
        SPEC.task_set({"word": "zzzzz"})
    with pytest.raises(UnknownOption, match="is the server's"):
        SPEC.resolve_options({"word": "those"}, scope="session")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_the_scripted_solution_wins_every_task(split):
    env, tasks = SPEC.make(), SPEC.task_set()
    for index in range(tasks.count(split)):
        task = tasks.get(split, index)
        env.last = env.reset(task)
        solution = env.solve(task)
        action = next(solution)
        while not (result := env.step(action)).terminated:
            env.last = result
            action = solution.send(result)
        assert result.success, task.id


def test_the_scripted_solution_guesses_only_words_that_fit_the_marks_so_far():
    env, task = SPEC.make(), SPEC.task_set().get("test", 0)
    env.last = env.reset(task)
    solution, seen = env.solve(task), []
    action = next(solution)
    while True:
        guess = action.text.replace(" ", "")
        assert guess in answers()
        for earlier, marks in seen:
            assert _marks(guess, earlier) == marks
        result = env.step(action)
        if result.terminated:
            break
        seen.append((guess, result.observation))
        action = solution.send(result)
    assert seen, "won by the first guess, which shows nothing"


def _marks(hidden: str, guess: str) -> str:
    return say(game(hidden), guess).observation


def test_a_fixed_word_that_is_no_answer_is_solved_too():
    assert "funky" not in answers()
    env = game("funky")
    task = SPEC.task_set({"word": "funky"}).get("test", 0)
    solution = env.solve(task)
    action = next(solution)
    while not (result := env.step(action)).terminated:
        action = solution.send(result)
    assert result.success


def test_random_guessing_wins_at_most_one_percent_and_noop_nothing():
    env, tasks = SPEC.make(), SPEC.task_set()
    count = tasks.count("test")
    for seed in range(3):
        rng, wins = random.Random(seed), 0
        for index in range(count):
            env.reset(tasks.get("test", index))
            choices = env.available_actions()
            while not (result := env.step(Action(text=rng.choice(choices)))).terminated:
                pass
            wins += result.success
        assert wins <= 0.01 * count
    for index in range(count):
        env.reset(tasks.get("test", index))
        assert sum(env.step(Action(text="")).reward for _ in range(TRIES)) == 0


@pytest.mark.parametrize("word", ["SHIRE.", "s h i r e", "shires"])
def test_a_call_is_a_guess_whatever_its_word_so_that_it_costs_what_a_written_one_does(word):
    text = FunctionTable.of(SPEC.functions).action(Call(name="guess", arguments={"word": word}))
    result = say(game("those"), text)
    assert result.info == {"tries_left": 5}
    assert ("invalid word" in result.observation) is (word == "shires")
