"""A batch before its first update: every sampled token trained once with an advantage, nothing else."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_records import played, record, token_turn
from toy_tokenizers import CHATML, chat_tokenizer

from agentenv.protocol import Outcome
from agentenv.render import Renderer
from trainers.audit import audit_batch
from trainers.batch import TokenBatch, spread
from trainers.episodes import episode_of

RENDERER = Renderer(chat_tokenizer(CHATML))
END = RENDERER.turn_end[-1]


def batch_of(*trajectories):
    episodes = [episode_of(t, group=0, member=n, renderer=RENDERER) for n, t in enumerate(trajectories)]
    for number, episode in enumerate(episodes):
        values = np.full(episode.sampled, 0.5 - number, np.float32)
        for segment, advantages in zip(episode.segments, spread(episode, values), strict=True):
            segment.advantages = advantages
            segment.old_logprobs = segment.engine_logprobs.copy()
    return TokenBatch(step=1, policy_version=0, episodes=episodes)


def sound():
    said = [RENDERER.reply("left"), RENDERER.reply("up", ended=False), RENDERER.reply("right")]
    return batch_of(*(played(RENDERER, ["one", "two", "three"], said, outcome=Outcome.STEP_LIMIT) for _ in range(2)))


def rules(batch):
    return {(f.level, f.rule) for f in audit_batch(batch, RENDERER).findings}


def test_a_sound_batch_has_no_finding_and_is_counted():
    batch = sound()
    report = audit_batch(batch, RENDERER)
    assert report.findings == []
    assert report.counts == {
        "episodes": 2,
        "turns": 6,
        "tokens": sum(len(s) for s in batch.segments),
        "trained": batch.sampled,
    }


def at_sampled(name, value):
    """Put a value on the first sampled token of the first segment."""

    def change(batch):
        segment = batch.episodes[0].segments[0]
        getattr(segment, name)[np.flatnonzero(segment.mask)[0]] = value

    return change


def at_prompt(name, value):
    """Put a value on the second token, which belongs to the prompt."""

    def change(batch):
        getattr(batch.episodes[0].segments[0], name)[1] = value

    return change


def at_segment(**fields):
    def change(batch):
        segment = batch.episodes[0].segments[0]
        for name, value in fields.items():
            setattr(segment, name, value(segment) if callable(value) else value)

    return change


def at_episode(**fields):
    def change(batch):
        batch.episodes[0] = dataclasses.replace(batch.episodes[0], **fields)

    return change


def twice(batch):
    batch.episodes[1] = dataclasses.replace(batch.episodes[1], member=0)


def the_same_segment_twice(batch):
    batch.episodes[0].segments *= 2


def drop_the_end(batch):
    """The untrained end behind the cut second turn goes."""
    segment = batch.episodes[0].segments[0]
    at = int(np.flatnonzero(segment.turn == 1)[-1]) + 1
    segment.tokens[at] = 9


CASES = {
    "no advantages": (at_segment(advantages=None), "advantage"),
    "a sampled token without an advantage": (at_sampled("advantages", np.nan), "advantage"),
    "an advantage on the prompt": (at_prompt("advantages", 1.0), "advantage"),
    "a prompt token in the mask": (at_prompt("mask", True), "mask"),
    "a sampled token out of the mask": (at_sampled("mask", False), "mask"),
    "a first token that is trained": (at_segment(mask=lambda s: s.mask | (np.arange(len(s)) == 0)), "mask"),
    "a turn on the prompt": (at_prompt("turn", 0), "mask"),
    "a turn without a reward": (at_episode(turn_rewards=[0.0, 0.0]), "reward"),
    "a reward that is no number": (at_episode(turn_rewards=[0.0, np.nan, 0.0]), "reward"),
    "an engine log-probability over zero": (at_sampled("engine_logprobs", 0.5), "logprobs"),
    "an old log-probability that is not finite": (at_sampled("old_logprobs", -np.inf), "logprobs"),
    "a log-probability on the prompt": (at_prompt("old_logprobs", -1.0), "numbers"),
    "an array of another length": (at_segment(old_logprobs=np.zeros(3, np.float32)), "shape"),
    "an id outside the vocabulary": (at_sampled("tokens", 1_000_000), "vocabulary"),
    "a sampled end in the middle": (at_sampled("tokens", END), "end"),
    "a cut turn without its end": (drop_the_end, "turn_end"),
    "an outcome that is not trained": (at_episode(outcome=Outcome.ENV_ERROR), "outcome"),
    "an episode twice": (twice, "once"),
    "a segment twice": (the_same_segment_twice, "once"),
    "an episode of nothing": (at_episode(segments=[]), "empty"),
    "a final observation out of the vocabulary": (at_episode(final_tokens=np.array([1_000_000])), "vocabulary"),
}


@pytest.mark.parametrize(("change", "rule"), CASES.values(), ids=CASES)
def test_each_way_to_be_wrong_is_an_error(change, rule):
    batch = sound()
    change(batch)
    assert ("error", rule) in rules(batch)


def test_no_episode_at_all_is_an_error():
    assert ("error", "empty") in rules(TokenBatch(step=1, policy_version=0, episodes=[]))


def test_an_empty_turn_among_others_is_a_warning():
    batch = batch_of(record([token_turn([5], [], fresh=True), token_turn([END, 6], [7, END])]))
    assert rules(batch) == {("warning", "empty")}


TURNS = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, 300), min_size=1, max_size=4)), min_size=1, max_size=5
)


@settings(max_examples=80, deadline=None)
@given(turns=TURNS, data=st.data())
def test_every_made_batch_passes_and_every_advantage_that_is_moved_is_found(turns, data):
    made = [
        token_turn([*([] if n == 0 else [END]), 5], ids, fresh=fresh or n == 0) for n, (fresh, ids) in enumerate(turns)
    ]
    batch = batch_of(record(made))
    assert rules(batch) == set()
    segment = data.draw(st.sampled_from(batch.episodes[0].segments))
    segment.advantages = np.roll(segment.advantages, 1)
    assert ("error", "advantage") in rules(batch)
