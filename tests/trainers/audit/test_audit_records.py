"""Recorded episodes: a sound one passes, and each way to be wrong is found by its rule."""

import dataclasses

import pytest
from token_records import played, record, token_turn
from toy_tokenizers import CHATML, INST, THINKING, chat_tokenizer, letters_tokenizer

from agentenv.protocol import Outcome
from agentenv.render import Renderer, prompt_hash
from trainers.audit import AuditFailed, audit_records

RENDERER = Renderer(chat_tokenizer(CHATML))
END = RENDERER.turn_end[-1]


def sound(**other):
    said = [RENDERER.reply("left"), RENDERER.reply("up", ended=False), RENDERER.reply("right")]
    return played(RENDERER, ["one <|im_end|>", "two", "three"], said, **other)


def changed(number, **fields):
    """The sound episode with one turn otherwise; a function is given the turn's own value."""
    trajectory = sound()
    turns = list(trajectory.turns)
    new = {n: v(getattr(turns[number], n)) if callable(v) else v for n, v in fields.items()}
    turns[number] = dataclasses.replace(turns[number], **new)
    return dataclasses.replace(trajectory, turns=turns)


def found(trajectory, renderer=RENDERER):
    return {(f.level, f.rule) for f in audit_records([trajectory], renderer).findings}


def noted(**agent):
    return lambda info: {**info, "agent": {**info["agent"], **agent}}


def test_a_sound_episode_has_no_finding_and_is_counted():
    report = audit_records([sound()], RENDERER)
    assert report.findings == []
    assert report.ok
    trained = sum(len(t.token_ids) for t in sound().turns)
    whole = sum(len(t.prompt_ids) for t in sound().turns) + trained
    counted = {name: count for name, count in report.counts.items() if count}
    assert counted == {"episodes": 1, "turns": 3, "tokens": whole, "trained": trained, "cut_turns": 1}


CASES = {
    "an id outside the vocabulary": (0, {"token_ids": lambda ids: [99_999, *ids[1:]]}, ("error", "vocabulary")),
    "a negative id in the prompt": (0, {"prompt_ids": lambda ids: [-1, *ids[1:]]}, ("error", "vocabulary")),
    "a missing log-probability": (0, {"logprobs": lambda v: v[:-1]}, ("error", "logprobs")),
    "a log-probability that is not finite": (0, {"logprobs": lambda v: [float("nan"), *v[1:]]}, ("error", "logprobs")),
    "a log-probability over zero": (0, {"logprobs": lambda v: [0.25, *v[1:]]}, ("error", "logprobs")),
    "a sampled end in the middle": (0, {"token_ids": lambda ids: [END, *ids[1:]]}, ("error", "end")),
    "a stop without an end": (1, {"info": noted(finish_reason="stop")}, ("error", "end")),
    "another prompt than the engine saw": (1, {"info": noted(prompt_hash="0" * 16)}, ("error", "prefix")),
    "another length than recorded": (1, {"prompt_len": 3}, ("error", "prefix")),
    "a first turn that continues": (0, {"fresh": False}, ("error", "prefix")),
    "a split under append": (1, {"fresh": True}, ("error", "prefix")),
    "a cut turn without its end": (2, {"prompt_ids": lambda ids: ids[1:]}, ("error", "turn_end")),
    "a marker left out of a prompt": (
        1,
        {"prompt_ids": lambda ids: [i for i in ids if i != END]},
        ("error", "control"),
    ),
    "text of the environment as a marker": (
        1,
        {"prompt_ids": lambda ids: [ids[0], END, *ids[1:]]},
        ("error", "control"),
    ),
    "other words in the prompt": (1, {"prompt_ids": lambda ids: [*ids[:5], 7, *ids[6:]]}, ("warning", "drift")),
    "two versions of the weights": (1, {"policy_version": 4}, ("error", "policy_version")),
    "no version of the weights": (1, {"policy_version": None}, ("error", "policy_version")),
    "a turn without tokens": (1, {"token_ids": None}, ("error", "no_tokens")),
    "an empty completion": (2, {"token_ids": [], "logprobs": []}, ("warning", "empty")),
    "nothing but an end": (2, {"token_ids": [END], "logprobs": [-1.0]}, ("warning", "only_end")),
}


@pytest.mark.parametrize(("number", "fields", "finding"), CASES.values(), ids=CASES)
def test_each_way_to_be_wrong_is_found(number, fields, finding):
    assert finding in found(changed(number, **fields))


def test_a_trained_outcome_without_a_turn_or_a_token_is_an_error():
    assert ("error", "no_turn") in found(record([]))
    assert ("error", "empty") in found(record([token_turn([1], [], fresh=True)]))
    assert found(record([], outcome=Outcome.INFRA_LOST)) == set()


def test_ids_that_would_be_tokenised_otherwise_are_counted_not_refused():
    toy = Renderer(
        letters_tokenizer(
            "{% for m in messages %}<start>{{ '<user>' if m['role'] == 'user' else '<assistant>' }}{{ m['content'] }}"
            "<end>{% endfor %}{% if add_generation_prompt %}<start><assistant>{% endif %}"
        )
    )
    said = [[7, 9, 1], [3, 4, 9, 1], [7, 8, 6, 1], [7, 5, 5, 6, 1], [10, 1]]
    report = audit_records([played(toy, ["hello"] * 5, said)], toy)
    assert report.ok
    assert report.counts["retokenized_turns"] == 4


def test_turns_whose_reasoning_the_template_would_strip_are_counted():
    renderer = Renderer(chat_tokenizer(THINKING))
    report = audit_records([played(renderer, ["a", "b"], [renderer.reply("<think>hm</think>left")] * 2)], renderer)
    assert report.findings == []
    assert report.counts["stripped_turns"] == 2


def test_splits_are_sound_under_history_template():
    renderer = Renderer(chat_tokenizer(THINKING), history="template")
    report = audit_records([played(renderer, ["a", "b"], [renderer.reply("<think>hm</think>left")] * 2)], renderer)
    assert report.findings == []
    assert report.counts["splits"] == 1


def test_an_observation_that_was_not_escaped_is_found():
    raw = RENDERER.tokenizer.encode("<|im_start|>user\none <|im_end|><|im_end|>\n<|im_start|>assistant\n")
    assert ("error", "control") in found(
        changed(0, prompt_ids=raw, prompt_len=len(raw), info=noted(prompt_hash=prompt_hash(raw)))
    )


def test_a_file_of_several_versions_and_a_template_of_plain_text_are_warned_of():
    report = audit_records([sound(version=1), sound(version=2)], RENDERER)
    assert [(f.level, f.rule) for f in report.findings] == [("warning", "policy_version")]
    plain = Renderer(chat_tokenizer(INST))
    assert ("warning", "unescapable") in found(played(plain, ["a"], [plain.reply("b")]), plain)


def test_untrained_outcomes_are_checked_and_not_counted_as_trained():
    report = audit_records([sound(outcome=Outcome.CANCELLED)], RENDERER)
    assert (report.counts["untrained_episodes"], report.counts["trained"]) == (1, 0)


def test_an_error_raises_with_what_was_found():
    report = audit_records([changed(0, fresh=False)], RENDERER)
    with pytest.raises(AuditFailed, match=r"prefix: episode 0 \(toy/train/0\), turn 0: the first turn is not fresh"):
        report.raise_on_error("the first batch")
    audit_records([sound()], RENDERER).raise_on_error("the first batch")
