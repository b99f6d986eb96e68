"""`agentenv rollout`: an agent plays tasks, each episode one line of JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from agentenv.errors import BadCall

if TYPE_CHECKING:
    from agentenv.agents import AgentSpec
    from agentenv.pictures import Pictures
    from agentenv.pool import EnvPool
    from agentenv.trajectory import Trajectory


def rollout(
    env: Annotated[str, typer.Argument(help="Id of the env, or gym:ID.")],
    agent: Annotated[
        str,
        typer.Option(
            help="oracle, random, noop, react, function_calling, code_as_action, external, or another package's."
        ),
    ],
    split: Annotated[str, typer.Option(help="Split of the tasks.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Play the first so many tasks; else all.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="End episodes after so many steps.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes at one time.")] = 16,
    server: Annotated[
        list[str] | None, typer.Option(help="URL of a server; repeatable. Else the env runs in this process.")
    ] = None,
    env_option: Annotated[list[str] | None, typer.Option(help="key=value; repeatable.")] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model, for agents that have one.")] = None,
    model_url: Annotated[str | None, typer.Option(help="Base URL of its OpenAI-compatible endpoint.")] = None,
    model_path: Annotated[str | None, typer.Option(help="Hugging Face folder of a model, in place of one.")] = None,
    engine: Annotated[str | None, typer.Option(help="With --model-path: hf (default) or vllm.")] = None,
    agent_option: Annotated[
        list[str] | None, typer.Option(help="key=value setting of the agent, such as temperature=0.7; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the episodes here, one JSON line each, as they end.")] = None,
    images: Annotated[
        bool, typer.Option("--images", help="Keep the pictures that the env draws, in a folder beside --out.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --out, and its pictures.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Let an agent play the tasks of a split. Exit code 1 when no episode was valid.

    \b
    Examples:
      agentenv rollout textcraft --agent oracle --split test --limit 20 --out o.jsonl
      agentenv rollout maze --agent random --env-option size=7 --json
      agentenv rollout wordle --agent react --model NAME --model-url URL --agent-option temperature=0
      agentenv rollout textcraft --agent function_calling --model NAME --model-url URL
      agentenv rollout maze --agent react --model-path DIR --engine hf
      agentenv rollout webarena --agent oracle --env-option engine=chromium --limit 3 --images --out w.jsonl
    """
    import asyncio

    from agentenv.agents import make_agent
    from agentenv.cli.serve import read_token
    from agentenv.cli.target import key_values, place
    from agentenv.pictures import Pictures, beside
    from agentenv.pool import EnvPool

    if out is not None and out.exists() and not force:
        raise BadCall(f"--out {out} exists; --force overwrites it")
    if images and out is None:
        raise BadCall("--images needs --out FILE: the pictures go to a folder beside it")
    pictures = Pictures(beside(out)) if out is not None else None
    if pictures is not None and images and not force and next(pictures.all(), None) is not None:
        raise BadCall(f"{pictures.folder} holds pictures already; --force deletes them")
    settings = key_values(agent_option or [], "--agent-option")
    named = {"model": model, "model_url": model_url, "model_path": model_path, "engine": engine}
    for key, value in named.items():
        if value is not None and settings.setdefault(key, value) != value:
            raise BadCall(f"--agent-option {key} is given twice")
    player = make_agent(agent, **settings)
    name, options = place(env, env_option or [], remote=bool(server))
    pool = EnvPool(
        name,
        servers=server or (),
        size=concurrency,
        options=options,
        max_steps=max_steps,
        token=read_token(None),
        images=images,
    )
    episodes = asyncio.run(_play(pool, player, split, limit, out, pictures))
    summary = {"env": name, "split": split, "agent": player.name, **summarise(episodes)}
    if pictures is not None and images:
        summary["pictures"] = sum(1 for _ in pictures.all())
    _print(summary, out, as_json=json)
    if not summary["valid"]:
        raise typer.Exit(1)


async def _play(
    pool: EnvPool, agent: AgentSpec, split: str, limit: int | None, out: Path | None, pictures: Pictures | None
) -> list[Trajectory]:
    """Every task once, with a progress bar; a record is on disk as soon as its episode has ended."""
    from agentenv.cli.progress import progress
    from agentenv.pictures import Undrawn
    from agentenv.rollout import rollout as run

    undrawn = Undrawn(lambda text: typer.echo(text, err=True))
    async with pool:
        if pool.images:
            undrawn.opened(pool.env, draws=pool.spec.images)
        tasks = await pool.task_refs(split, limit)
        with (
            progress(f"{agent.name} on {pool.env}", len(tasks)) as advance,
            nullcontext() if out is None else _writable(out) as file,
        ):

            def ended(episode: Trajectory) -> None:
                if file is not None:
                    file.write(episode.to_json() + "\n")
                    file.flush()
                if pool.images:
                    undrawn.ended(episode)
                advance()

            if pictures is not None:
                pictures.keep_only()  # those of the file that was overwritten
            try:
                if agent.preflight is not None:
                    typer.echo(f"{agent.name}: {await agent.preflight()}", err=True)
                keep = pictures.keep if pictures is not None and pool.images else None
                return await run(pool, tasks, agent, on_episode=ended, keep=keep)
            finally:
                if agent.close is not None:
                    await agent.close()


def _writable(out: Path) -> TextIO:
    try:
        return out.open("w", encoding="utf-8")
    except OSError as exc:
        raise BadCall(f"--out {out}: {exc.strerror}") from exc


def summarise(episodes: Sequence[Trajectory]) -> dict[str, Any]:
    """Counts and means; rates are over valid episodes, with Wilson's 95 % interval."""
    from agentenv.intervals import wilson

    valid = [e for e in episodes if e.outcome.valid]
    successes = sum(e.success for e in valid)
    interval = wilson(successes, len(valid))
    return {
        "episodes": len(episodes),
        "valid": len(valid),
        "invalid": len(episodes) - len(valid),
        "successes": successes,
        "success": successes / len(valid) if valid else None,
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "mean_return": sum(e.reward for e in valid) / len(valid) if valid else None,
        "mean_steps": sum(e.steps for e in valid) / len(valid) if valid else None,
        "outcomes": dict(sorted(Counter(e.outcome.value for e in episodes).items())),
        "errors": dict(Counter(e.error for e in episodes if e.error and not e.outcome.valid).most_common(3)),
    }


def _print(summary: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    from agentenv.cli.tables import print_json, print_table
    from agentenv.pictures import beside

    if as_json:
        return print_json(summary)
    print_table([{"outcome": o, "episodes": n} for o, n in summary["outcomes"].items()], ("outcome", "episodes"))
    if summary["valid"]:
        interval = f"95 % interval {summary['ci_low']:.1%} to {summary['ci_high']:.1%}"
        typer.echo(
            f"{summary['successes']} of {summary['valid']} succeeded ({summary['success']:.1%}, {interval}); "
            f"mean return {_short(summary['mean_return'])}, mean steps {_short(summary['mean_steps'])}"
        )
    if summary["invalid"]:
        typer.echo(f"{summary['invalid']} invalid, not counted: {'; '.join(summary['errors'])}")
    if out is not None:
        drawn = f", {summary['pictures']} pictures in {beside(out)}" if summary.get("pictures") else ""
        typer.echo(f"{summary['episodes']} episodes in {out}{drawn}")


def _short(number: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{number:.0f}" if 1000 <= abs(number) < 1e9 else f"{number:.3g}"
