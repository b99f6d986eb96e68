"""The card of every environment tells what has to be known before one plays, and its page says the same."""

import json
from pathlib import Path

import pytest

from agentenv.cli.card import card, print_card
from agentenv.errors import EnvUnavailable
from agentenv.registry import EnvSpec, specs

DOCS = Path(__file__).resolve().parents[2] / "docs" / "envs"
SPECS = [spec for spec in specs() if spec.entry.startswith("envservers.")]
OPTIONS = {"search": {"size": "small"}, "webshop": {"size": "small"}, "webarena": {"engine": "lite", "size": "small"}}
SLOW = ("math", "search", "sql", "webshop", "webarena")
"""Their tasks take long to list."""


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
def test_the_page_tells_what_a_replay_depends_on(spec: EnvSpec) -> None:
    page = " ".join((DOCS / f"{spec.id}.md").read_text(encoding="utf-8").split())
    assert spec.replay
    assert f"**Replay.** {spec.replay}" in page


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, id=spec.id, marks=[pytest.mark.slow] if spec.id in SLOW else []) for spec in SPECS],
)
def test_the_card_shows_functions_success_ranges_licence_options_and_what_cheating_may_reach(
    spec: EnvSpec, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")  # so that no cell of a table is folded
    try:
        about = card(spec, OPTIONS.get(spec.id, {}))
    except EnvUnavailable as missing:
        pytest.skip(str(missing))
    assert json.loads(json.dumps(about))["splits"].keys() == about["splits"].keys()
    print_card(about)
    shown = " ".join(capsys.readouterr().out.split())
    for text in (spec.success_rule, spec.licence, spec.world, spec.replay, *spec.needs):
        assert " ".join(text.split()) in shown
    for low, high in (spec.reward_range, spec.return_range):
        assert f"{low:g} to {high:g}" in shown
    for name in [
        *(function["name"] for function in spec.functions),
        *(option.name for option in spec.options),
        *(shortcut.name for shortcut in spec.shortcuts),
    ]:
        assert name in shown
    for shortcut in spec.shortcuts:
        assert f"{shortcut.ceiling:.1%}" in shown
    for split in about["splits"].values():
        assert sum(split["by_category"].values()) in (0, split["tasks"])


def test_a_remote_retriever_is_said_to_be_no_replay(capsys) -> None:
    [spec] = [spec for spec in SPECS if spec.id == "search"]
    options = spec.resolve_options({"retriever": "http://localhost:1"})
    assert "http://localhost:1" in spec.unreplayable_because(options)
    assert spec.unreplayable_because(spec.resolve_options({})) == ""
