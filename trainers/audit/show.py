"""An episode as coloured text: what is trained, what is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from agentenv.render import Renderer
from agentenv.trajectory import Trajectory, Turn

TRAINED = "bold green"
END = "bold black on green"
"""A sampled end: trained too."""
UNTRAINED = "dim"
MARKER = "magenta"
"""A control token of the template: not trained."""

LEGEND = Text.assemble(
    ("trained", TRAINED), "  ", ("trained end", END), "  ", ("not trained", UNTRAINED), "  ", ("marker", MARKER)
)


def shown_episode(trajectory: Trajectory, renderer: Renderer, *, number: int) -> Iterator[Text]:
    """A line for the episode, then each turn's line and tokens."""
    trains = trajectory.outcome.trains
    note = "" if trains else "  (this outcome is not trained)"
    yield Text(
        f"episode {number}  {trajectory.task.id}  {trajectory.outcome}  reward {trajectory.reward:g}{note}",
        style="bold",
    )
    for at, turn in enumerate(trajectory.turns):
        yield _line(at, turn)
        yield _tokens(turn, renderer, trains=trains)


def _line(number: int, turn: Turn) -> Text:
    sampled = turn.token_ids or []
    logprobs = turn.logprobs or []
    mean = f"  mean logprob {sum(logprobs) / len(logprobs):.3f}" if logprobs else ""
    fresh = " (fresh)" if turn.fresh else ""
    cut = "  cut" if turn.info.get("agent", {}).get("cut") else ""
    return Text(
        f"  turn {number}  prompt +{len(turn.prompt_ids or [])}{fresh}  sampled {len(sampled)}{mean}"
        f"  weights {turn.policy_version}{cut}  reward {turn.reward:g}",
        style="cyan",
    )


def _tokens(turn: Turn, renderer: Renderer, *, trains: bool) -> Text:
    text = Text("", overflow="fold")
    for part, style in _runs(turn.prompt_ids or [], renderer, UNTRAINED, MARKER):
        text.append(part, style)
    trained, end = (TRAINED, END) if trains else (UNTRAINED, MARKER)
    for part, style in _runs(turn.token_ids or [], renderer, trained, end):
        text.append(part, style)
    return text


def _runs(ids: Sequence[int], renderer: Renderer, plain: str, control: str) -> Iterator[tuple[str, str]]:
    """Texts of runs of ids with one style each; letters that are several ids are put together."""
    run: list[int] = []
    for token in [*ids, None]:
        if token is not None and 0 <= token < renderer.vocab_size and token not in renderer.special_ids:
            run.append(token)
            continue
        if run:
            yield renderer.decode(run), plain
            run = []
        if token is not None:
            known = 0 <= token < renderer.vocab_size
            yield (renderer.show([token])[0] if known else f"<id {token}>"), control
