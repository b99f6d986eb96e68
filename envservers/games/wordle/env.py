"""The game. The hidden word never changes during an episode."""

from __future__ import annotations

import random
from collections.abc import Generator

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, StepResult, Task
from envservers.command import bare, command
from envservers.games.wordle.feedback import answer_index, mark, members
from envservers.games.wordle.words import LENGTH, guess_set, guesses, vocabulary_text

TRIES = 6
LONGEST_TEXT = 64
"""Characters; a longer action is an invalid word, unread."""

State = tuple[str | None, int, bool | None]


class Wordle(Env):
    """Success is the hidden word within six tries; reward 1.0 then, else 0.0."""

    def __init__(self, *, show_vocabulary: bool = False, word: str | None = None) -> None:
        self.show_vocabulary = show_vocabulary
        self.word = word  # already in the task's payload; kept so that the options read back
        self._hidden: str | None = None  # None until reset()
        self._tries = 0
        self._success: bool | None = None  # None while the episode runs

    def reset(self, task: Task) -> StepResult:
        """Hide the task's word."""
        self._hidden, self._tries, self._success = task.payload["word"], 0, None
        text = "Let's start Wordle!"
        if self.show_vocabulary:
            text += f"\nThe vocabulary: {vocabulary_text()}"
        return self._result(text)

    def step(self, action: Action) -> StepResult:
        """One try, also when the word is invalid."""
        if self._hidden is None:
            raise ResetNeeded("Wordle.step() before reset(); call reset(task) first")
        if self._success is not None:
            outcome = "success" if self._success else "failure"
            raise EpisodeOver(f"this game of Wordle has ended ({outcome}); reset or close", outcome=outcome)
        self._tries += 1
        guess = read_letters(action.text)
        fault = fault_of(guess)
        if guess == self._hidden:
            self._success = True
        elif self._tries == TRIES:
            self._success = False
        return self._result(f"invalid word: {fault}" if fault else mark(self._hidden, guess))

    def available_actions(self) -> list[str] | None:
        """The list of words that may be guessed."""
        return list(guesses())

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Guess answers that fit every mark so far; the last try is the hidden word itself, if it comes to that."""
        rng = random.Random(task.seed)
        index = answer_index()
        left = index.everything
        for _ in range(TRIES - 1):
            words = members(left)
            if not words:  # a hidden word, fixed by option, that is no answer
                break
            guess = rng.choice(words)
            result = yield _spelled(guess)
            if result.terminated:
                return
            left &= index.consistent(guess, result.observation)
        yield _spelled(task.payload["word"])

    def snapshot(self) -> State:
        """The whole state."""
        return self._hidden, self._tries, self._success

    def restore(self, snapshot: object) -> None:
        """Take over a state."""
        assert isinstance(snapshot, tuple)
        self._hidden, self._tries, self._success = snapshot

    def _result(self, text: str) -> StepResult:
        return StepResult(
            observation=text,
            reward=float(self._success or False),
            terminated=self._success is not None,
            success=self._success,
            info={"tries_left": TRIES - self._tries},
        )


def read_guess(text: str) -> str:
    """The guessed word in lower case; empty where `text` is none of the list."""
    word = read_letters(text)
    return "" if fault_of(word) else word


def read_letters(text: str) -> str:
    """What `text` guesses, in lower case and without the marks around it; empty where it is not one piece."""
    if len(text) > LONGEST_TEXT or not bare(text.strip()).isascii():
        return ""
    first, _, rest = command(text).partition(" ")
    parts = bare(rest).split() if rest and bare(first) == "guess" else [first, *rest.split()]
    if len(parts) > 1 and any(len(part) > 1 for part in parts):
        return ""
    return "".join(parts)


def fault_of(word: str) -> str:
    """Why `word` cannot be guessed, for a player to read; empty where it can."""
    if word in guess_set():
        return ""
    if len(word) == LENGTH and word.isalpha():
        return "it is not in the list of words"
    return f"write one word of {LENGTH} letters"


def _spelled(word: str) -> Action:
    return Action(text=" ".join(word))
