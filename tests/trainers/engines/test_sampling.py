"""Sampling by inverse distribution function: frequencies, truncation, and rows that keep to themselves."""

import pytest
import torch

from trainers.engines.sampling import generator_of, logprobs_of, sample, uniform

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, -30.0])


def draw(count: int, *, temperature: float = 1.0, top_p: float = 1.0, top_k: int = -1):
    """Tokens and log-probabilities of `count` rows with evenly spread random numbers."""
    uniforms = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    return sample(
        LOGITS.expand(count, -1),
        torch.full((count,), temperature),
        torch.full((count,), top_p, dtype=torch.float64),
        torch.full((count,), top_k),
        uniforms,
    )


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_come_as_often_as_their_probability(temperature):
    tokens, logprobs = draw(10_000, temperature=temperature)
    wanted = (LOGITS / temperature).softmax(-1)
    found = torch.bincount(tokens, minlength=5) / 10_000
    assert found.tolist() == pytest.approx(wanted.tolist(), abs=2e-4)
    assert torch.allclose(logprobs.exp(), wanted[tokens], atol=1e-6)


def test_top_k_leaves_the_likeliest_in_proportion():
    tokens, logprobs = draw(10_000, top_k=2)
    share = (torch.bincount(tokens, minlength=5) / 10_000).tolist()
    assert share == pytest.approx([*LOGITS[:2].softmax(-1).tolist(), 0, 0, 0], abs=2e-4)
    assert logprobs.max().item() == pytest.approx(LOGITS.log_softmax(-1)[0].item())  # over all tokens, not over two


@pytest.mark.parametrize(("top_p", "kept"), [(0.5, 1), (0.65, 2), (0.9, 3), (0.99, 4), (1.0, 4)])
def test_top_p_keeps_the_fewest_tokens_that_reach_it(top_p, kept):
    tokens, _ = draw(10_000, top_p=top_p)
    assert sorted(set(tokens.tolist())) == list(range(kept))


def test_temperature_zero_takes_the_likeliest_and_gives_its_plain_log_probability():
    tokens, logprobs = draw(7, temperature=0.0)
    assert tokens.tolist() == [0] * 7
    assert logprobs.tolist() == pytest.approx([LOGITS.log_softmax(-1)[0].item()] * 7)


def test_rows_with_other_settings_do_not_touch_each_other():
    logits = torch.randn(4, 50, generator=torch.Generator().manual_seed(0))
    settings = [(1.0, 1.0, -1, 0.3), (0.0, 1.0, -1, 0.9), (0.7, 0.8, -1, 0.5), (1.3, 1.0, 3, 0.7)]

    def run(rows):
        t, p, k, u = zip(*[settings[r] for r in rows], strict=True)
        columns = torch.tensor(t), torch.tensor(p, dtype=torch.float64), torch.tensor(k), torch.tensor(u).double()
        return [x.tolist() for x in sample(logits[rows], *columns)]

    together = run([0, 1, 2, 3])
    alone = [run([r]) for r in range(4)]
    assert together[0] == [a[0][0] for a in alone]
    assert together[1] == pytest.approx([a[1][0] for a in alone], abs=1e-6)


def test_the_softmax_is_taken_in_float32():
    logits = torch.tensor([[10.0, 10.03, 9.0]], dtype=torch.bfloat16)
    found = logprobs_of(logits, torch.tensor([0.7]))
    assert found.dtype == torch.float32
    assert torch.equal(found, (logits.float() / 0.7).log_softmax(-1))


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1, -5])
def test_any_whole_number_is_a_seed(seed):
    one, two = generator_of(seed), generator_of(seed)
    assert [uniform(one) for _ in range(3)] == [uniform(two) for _ in range(3)]
    assert 0 <= uniform(one) < 1
