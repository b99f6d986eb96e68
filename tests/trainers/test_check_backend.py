"""The contract of a backend passes what is right, and finds each fault by the rule that names it."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_models import tiny_model

from agentenv.errors import BadCall
from trainers.backend_rules import RULES
from trainers.check_backend import check_backend
from trainers.fsdp.learner import FsdpLearner
from trainers.learner import NonFiniteLoss, UpdateStats

PACKAGE = Path(__file__).resolve().parent.parent / "backend_package"


@pytest.mark.slow
def test_our_own_backend_keeps_every_rule():
    report = check_backend("fsdp")
    assert report.broken == {}
    assert report.kept == [rule.__name__ for rule in RULES]


class Lukewarm(FsdpLearner):
    """Forgets the temperature."""

    def logprobs(self, batch, *, reference=False):
        before, self._policy._temperature = self._policy._temperature, 1.0
        try:
            return super().logprobs(batch, reference=reference)
        finally:
            self._policy._temperature = before


class Stale(FsdpLearner):
    """Publishes the weights that it began with."""

    def weights(self):
        if not hasattr(self, "_first"):
            self._first = [(name, tensor.clone()) for name, tensor in super().weights()]
        return iter(self._first)


class Decaying(FsdpLearner):
    """Decays whatever the settings say."""

    def __init__(self, config):
        config.optim.weight_decay = 0.1
        super().__init__(config)


class Altered(FsdpLearner):
    """Learns from another batch than it is given."""

    def update(self, batch):
        batch = copy.deepcopy(batch)
        for segment in batch.segments:
            self.alter(segment)
        return super().update(batch)


class Optimist(Altered):
    """Takes every advantage for a good one."""

    def alter(self, segment):
        segment.advantages = np.abs(segment.advantages)


class Unmasked(Altered):
    """Trains wherever there is an advantage."""

    def alter(self, segment):
        segment.mask = segment.mask | (segment.advantages != 0)
        segment.mask[0] = False  # nothing predicts the first token


class Unclipped(Altered):
    """Takes every ratio for 1."""

    def alter(self, segment):
        segment.old_logprobs = None


class Deaf(Altered):
    """Hears a reward only on the last token, and drops that of an episode that ends in an observation."""

    def alter(self, segment):
        if not segment.mask[-1]:
            segment.advantages = np.where(segment.turn == segment.turn.max(), 0, segment.advantages)


class Swallowing(FsdpLearner):
    """Goes on after a loss that is not finite."""

    def update(self, batch):
        try:
            return super().update(batch)
        except NonFiniteLoss:
            return UpdateStats(optimizer_steps=0)


class Forgetful(FsdpLearner):
    """Resumes with an optimizer that starts anew."""

    def load(self, folder):
        self.load_policy(folder)


class Padded(FsdpLearner):
    """Lets the longest row of a batch say how much every token is worth."""

    def update(self, batch):
        longest = max(len(s) for s in batch.segments)
        batch = copy.deepcopy(batch)
        for segment in batch.segments:
            lead = np.where(segment.mask, longest > 20, 0)
            segment.advantages = segment.advantages + lead.astype(np.float32)
        return super().update(batch)


@pytest.mark.parametrize(
    ("backend", "rule", "seen"),
    [
        (Lukewarm, "logprobs_are_those_of_a_plain_forward", "temperature 0.7"),
        (Stale, "publishing_follows_learning", "changed no weight"),
        (Decaying, "zero_advantage_changes_nothing", "moved by"),
        (Optimist, "flipping_the_advantage_flips_the_step", "not -1"),
        (Unmasked, "masked_tokens_have_no_gradient", "moved by"),
        (Padded, "padding_has_no_gradient", "a longer neighbour turns the step"),
        (Unclipped, "clipped_tokens_have_no_gradient", "moved by"),
        (Deaf, "the_terminal_reward_reaches_the_last_action", "rewarded last action moved by"),
        (Forgetful, "resuming_is_going_on", "after the first resumed step"),
        (Swallowing, "not_a_number_is_refused", "accepted an advantage of NaN"),
    ],
)
def test_a_broken_backend_fails_the_rule_that_it_breaks(backend, rule, seen):
    assert seen in check_backend(backend, rules=[rule]).broken[rule]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "broken"),
    [
        (Lukewarm, {"logprobs_are_those_of_a_plain_forward"}),
        (Unclipped, {"clipped_tokens_have_no_gradient"}),
        (Forgetful, {"resuming_is_going_on"}),
    ],
)
def test_one_fault_breaks_no_other_rule(backend, broken):
    assert set(check_backend(backend).broken) == broken


def test_what_a_backend_raises_is_a_broken_rule():
    def unfit(_config):
        raise RuntimeError("no such device")

    broken = check_backend(unfit, rules=["closing_twice_is_fine"]).broken
    assert broken == {"closing_twice_is_fine": "RuntimeError: no such device"}


def test_unknown_names_are_refused_with_those_that_exist():
    with pytest.raises(BadCall, match=r"no training backend 'fsdb'; there are: .*fsdp"):
        check_backend("fsdb")
    with pytest.raises(BadCall, match="no rule 'luck'; there are: logprobs_are"):
        check_backend("fsdp", rules=["luck"])


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the stranger's package, as pip puts it there."""
    folder = tmp_path_factory.mktemp("site-packages")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, *offline, "--target", str(folder), str(PACKAGE)], check=True, timeout=100)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_strangers_package_is_installed_and_keeps_every_rule_that_applies(installed):
    code = (
        "import json; from trainers.check_backend import check_backend; r = check_backend('abacus');"
        "print(json.dumps([r.kept, r.broken, r.skipped]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept, broken, skipped = json.loads(done.stdout.splitlines()[-1])
    assert broken == {}
    assert skipped == {"the_critic_learns": "the abacus has no critic"}
    assert len(kept) == len(RULES) - 1


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_strangers_backend_trains_and_warms_up_by_the_commands(installed, tmp_path):
    """The rest of a run does not need more of a backend than the contract."""
    model = tiny_model(tmp_path / "model")
    options = "{size: 4, observation: relative}"
    env = f"{{env: maze, format: plain, options: {options}, max_steps: 2}}"
    common = ["run.threads=1", "run.trackers=[jsonl]", "run.plots=false", "--backend", "abacus"]
    train = [
        "train", f"model.path={model}", f"environments=[{env}]", f"run.dir={tmp_path / 'rl'}", "run.steps=2",
        "batch.tasks_per_step=2", "batch.group_size=2", "rollout.max_prompt_tokens=250", "evaluation.before=false",
        "rollout.max_episode_tokens=400", "rollout.max_turn_tokens=3", "algorithm.zero_variance=keep", *common,
    ]  # fmt: skip
    sft = [
        "sft", f"model.path={model}", "data.env=maze", f"data.options={options}", "data.format=plain",
        "data.tasks=3", "data.max_tokens=1024", "episodes_per_step=2", "run.steps=1", f"run.dir={tmp_path / 'sft'}",
        *common,
    ]  # fmt: skip
    code = (
        "import json, sys; from agentenv.cli.main import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    try: main(words)\n"
        "    except SystemExit as ended: assert not ended.code"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps([train, sft])],
        env={**os.environ, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "complete at step 2, 2 optimizer steps" in done.stdout
    assert "complete at step 1; the model is in" in done.stdout
