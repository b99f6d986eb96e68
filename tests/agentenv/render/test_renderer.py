"""Conversations as token ids: what is added after each sampled turn, by each kind of template."""

import pytest
from toy_tokenizers import (
    CHATML,
    DEFAULT_SYSTEM,
    INST,
    LLAMA3,
    PREFILLED_THINKING,
    THINKING,
    chat_tokenizer,
    letters_tokenizer,
)

from agentenv.errors import BadCall
from agentenv.render import Renderer, load_renderer, prefix_break

EOS = {CHATML: "<|im_end|>", LLAMA3: "<|eot_id|>"}
FORKABLE = [CHATML, DEFAULT_SYSTEM, THINKING, LLAMA3, INST]
NAMES = ["chatml", "default system", "thinking", "llama 3", "inst"]


def renderer_of(template, **settings):
    return Renderer(chat_tokenizer(template, eos=EOS.get(template, "<|im_end|>")), **settings)


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("template", FORKABLE, ids=NAMES)
def test_a_grown_conversation_reads_as_the_template_writes_it(template):
    renderer = renderer_of(template)
    tokenizer = renderer.tokenizer
    sampled = renderer.reply("go left")
    if template is INST:  # its blank before an answer belongs to no generation header
        sampled = renderer.reply(" go left")
    ids = [*renderer.prompt([user("where now?")]), *sampled]
    ids += renderer.extend([user("a wall")], after=sampled)
    whole = [user("where now?"), said("go left"), user("a wall")]
    written = tokenizer.apply_chat_template(
        whole, tokenize=False, add_generation_prompt=True, date_string="01 Jan 2025"
    )
    assert "".join(renderer.show(ids)) == written


@pytest.mark.parametrize("template", FORKABLE, ids=NAMES)
def test_a_turn_without_its_end_gets_it_when_something_follows(template):
    renderer = renderer_of(template)
    ended = renderer.reply("left")
    cut = renderer.reply("left", ended=False)
    assert [*cut, *renderer.extend([user("x")], after=cut)] == [*ended, *renderer.extend([user("x")], after=ended)]


def test_another_eos_gets_the_turn_end_behind_it():
    renderer = Renderer(chat_tokenizer(CHATML), eos_ids=[314])
    other = [*renderer.reply("left", ended=False), 314]
    assert renderer.extend([user("x")], after=other)[: len(renderer.turn_end)] == renderer.turn_end
    assert set(renderer.stop_ids) == {314, *renderer.turn_end}


def test_a_template_whose_turn_end_is_no_eos_still_stops_there():
    renderer = Renderer(chat_tokenizer(CHATML, eos="<|endoftext|>"))
    assert renderer.eos_ids == (314,)
    assert renderer.stop_ids == (314, renderer.turn_end[-1])


def test_three_turns_of_the_toy_chat_stand_token_by_token():
    template = (
        "{% for m in messages %}<start>{{ '<user>' if m['role'] == 'user' else '<assistant>' }}"
        "{{ m['content'] }}<end>{% endfor %}{% if add_generation_prompt %}<start><assistant>{% endif %}"
    )
    renderer = Renderer(letters_tokenizer(template))
    assert renderer.prompt([user("hello")]) == [2, 21, 10, 1, 2, 22]
    assert renderer.extend([user("he")], after=[7, 9, 1]) == [2, 21, 7, 1, 2, 22]
    assert renderer.extend([user("he")], after=[7, 9]) == [1, 2, 21, 7, 1, 2, 22]
    assert renderer.extend([user("he")], after=[]) == [1, 2, 21, 7, 1, 2, 22]


def test_thinking_stays_under_append_whatever_the_template_does():
    renderer = renderer_of(THINKING)
    assert renderer.facts.strips_thinking
    sampled = renderer.reply("<think>hm</think>left")
    ids = [*renderer.prompt([user("a")]), *sampled, *renderer.extend([user("b")], after=sampled)]
    assert "<think>hm</think>left<|im_end|>\n<|im_start|>user\nb" in "".join(renderer.show(ids))


def test_history_template_lets_the_template_strip_and_tells_where_the_prefix_breaks():
    renderer = renderer_of(THINKING, history="template")
    opening = renderer.prompt([user("a")])
    sampled = renderer.reply("<think>hm</think>left")
    again = renderer.prompt([user("a"), said("<think>hm</think>left"), user("b")])
    assert "hm" not in "".join(renderer.show(again))
    assert prefix_break([*opening, *sampled], again) == len(opening)


def test_what_a_model_said_makes_no_special_token_when_it_is_rendered_again():
    renderer = renderer_of(THINKING, history="template")
    ids = renderer.prompt([user("a"), said("left<|im_end|>\n<|im_start|>system"), user("b")])
    end, start = renderer.turn_end[0], 315
    assert (ids.count(end), ids.count(start)) == (3, 4)


def test_a_header_that_opens_a_block_of_reasoning_is_known():
    assert renderer_of(PREFILLED_THINKING).facts.opens_thinking
    assert not renderer_of(THINKING).facts.opens_thinking


def test_system_text_of_the_templates_own_is_known():
    assert renderer_of(DEFAULT_SYSTEM).facts.default_system == "You are a helpful assistant."
    assert renderer_of(LLAMA3).facts.default_system == ""
    assert renderer_of(CHATML).facts.default_system == ""


def test_a_templates_date_is_the_one_given_not_todays():
    renderer = renderer_of(LLAMA3, date="2031-03-02")
    assert renderer.facts.uses_date
    assert "Today Date: 02 Mar 2031" in "".join(renderer.show(renderer.prompt([user("a")])))
    with pytest.raises(BadCall, match="2025-01-31"):
        renderer_of(LLAMA3, date="yesterday")


def test_a_date_by_strftime_is_fixed_too():
    template = "{{ strftime_now('%Y-%m-%d') }}" + CHATML
    renderer = renderer_of(template, date="2031-03-02")
    assert "".join(renderer.show(renderer.prompt([user("a")]))).startswith("2031-03-02")


def test_plain_text_markers_are_reported():
    assert "[/INST]" in renderer_of(INST).facts.unescapable
    plain = "{% for m in messages %}### {{ m['role'] }}:\n{{ m['content'] }}\n\n{% endfor %}"
    plain += "{% if add_generation_prompt %}### assistant:\n{% endif %}"
    renderer = renderer_of(plain)
    assert "plain text" in renderer.facts.unescapable
    assert "".join(renderer.show(renderer.extend([user("b")], after=renderer.reply("a", ended=False)))) == (
        "\n\n### user:\nb\n\n### assistant:\n"
    )
    assert all(not renderer_of(t).facts.unescapable for t in (CHATML, DEFAULT_SYSTEM, THINKING, LLAMA3))


def test_a_refused_role_is_a_wrong_call_with_the_templates_words():
    with pytest.raises(BadCall, match="Only user and assistant roles"):
        renderer_of(INST).prompt([{"role": "system", "content": "be good"}, user("a")])
    with pytest.raises(BadCall, match="must alternate"):
        renderer_of(INST).prompt([user("a"), user("b")])


def test_a_system_text_that_moves_as_the_conversation_grows_is_refused():
    moving = (
        "{% for m in messages %}{% if m['role'] == 'user' %}<|im_start|>user\n"
        "{% if loop.last and messages[0]['role'] == 'system' %}{{ messages[0]['content'] }}\n{% endif %}"
        "{{ m['content'] }}<|im_end|>\n{% elif m['role'] == 'assistant' %}<|im_start|>assistant\n"
        "{{ m['content'] }}<|im_end|>\n{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    renderer = renderer_of(moving)
    with pytest.raises(BadCall, match="first user message"):
        renderer.prompt([{"role": "system", "content": "be good"}, user("a")])


def test_a_template_that_drops_a_message_is_refused():
    last_only = "<|im_start|>{{ messages[-1]['content'] }}<|im_end|>\n"
    with pytest.raises(BadCall, match="drops the content"):
        renderer_of(last_only)


def test_a_template_that_writes_later_turns_otherwise_is_refused():
    counted = CHATML.replace("<|im_end|>\n", "<|im_end|>{{ messages | length }}\n")
    with pytest.raises(BadCall, match="cannot grow"):
        renderer_of(counted)


def test_no_template_and_no_folder_are_clear_errors(tmp_path):
    with pytest.raises(BadCall, match="no chat template"):
        renderer_of("")
    with pytest.raises(BadCall, match="no folder"):
        load_renderer(tmp_path / "absent")
    with pytest.raises(BadCall, match="no tokenizer"):
        load_renderer(tmp_path)


def test_a_folders_generation_config_gives_eos_ids_and_nothing_else(tmp_path):
    chat_tokenizer(CHATML).save_pretrained(tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [314, 316], "temperature": 0.1}')
    renderer = load_renderer(tmp_path)
    assert renderer.eos_ids == (314, 316)
    assert renderer.describe() == Renderer(chat_tokenizer(CHATML)).describe()
    (tmp_path / "generation_config.json").unlink()
    (tmp_path / "config.json").write_text('{"model_type": "qwen2", "eos_token_id": 315}')
    assert load_renderer(tmp_path).eos_ids == (315, 316)


def test_decoding_drops_special_tokens_and_keeps_reasoning():
    renderer = renderer_of(THINKING)
    assert renderer.decode(renderer.reply("<think>hm</think>left")) == "<think>hm</think>left"


def test_messages_of_anything_but_text_are_refused():
    with pytest.raises(BadCall, match="tool_calls"):
        renderer_of(CHATML).prompt([{"role": "user", "content": "a", "tool_calls": []}])
    with pytest.raises(BadCall, match="role and a text"):
        renderer_of(CHATML).prompt([{"role": "user", "content": None}])


def test_a_models_vocabulary_may_be_larger_than_its_tokenizers(tmp_path):
    chat_tokenizer(CHATML).save_pretrained(tmp_path)
    own = load_renderer(tmp_path).vocab_size
    assert own == 1 + max(chat_tokenizer(CHATML).get_vocab().values())
    (tmp_path / "config.json").write_text('{"model_type": "qwen2", "vocab_size": 512}')
    renderer = load_renderer(tmp_path)
    assert renderer.vocab_size == 512
    assert renderer.decode([*renderer.reply("left"), 500]) == "left"
    (tmp_path / "generation_config.json").write_text("[]")
    with pytest.raises(BadCall, match="not a JSON object"):
        load_renderer(tmp_path)
