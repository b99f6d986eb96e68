"""`agentenv bench`: steps per second of an environment by every way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agentenv.testing.bench import Bench


def bench(
    target: Annotated[str, typer.Argument(metavar="ENV|URL", help="Id, gym:ID, or the address of a server.")],
    env: Annotated[str | None, typer.Option(help="Which env of the server; needed where it has several.")] = None,
    env_option: Annotated[list[str] | None, typer.Option(help="key=value; repeatable.")] = None,
    sessions: Annotated[str, typer.Option(help="Numbers of sessions to measure with.")] = "1,8,64,512",
    seconds: Annotated[float, typer.Option(min=0.05, help="Seconds of each measurement.")] = 2.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure env steps per second: the bare env, sessions in this process, and HTTP, WebSocket and batches.

    Every way plays the same episode again and again. A local env gets a server of its own for the time.

    \b
    Examples:
      agentenv bench textcraft
      agentenv bench maze --env-option size=4 --sessions 1,64 --seconds 1
      agentenv bench http://127.0.0.1:8000 --env wordle --json
    """
    from agentenv.cli.tables import print_json
    from agentenv.testing.bench import read_counts

    result = _measured(target, env, env_option or [], read_counts(sessions), seconds)
    if json:
        print_json(result.to_dict())
    else:
        _print(result)


def _measured(target: str, env: str | None, pairs: list[str], counts: tuple[int, ...], seconds: float) -> Bench:
    from agentenv.cli import target as words
    from agentenv.cli.progress import progress
    from agentenv.cli.server_process import serving
    from agentenv.errors import BadCall
    from agentenv.testing.bench import REMOTE_WAYS, WAYS, bench_env, bench_url

    if target.startswith(("http://", "https://")):
        if pairs:
            raise BadCall("--env-option goes to `agentenv serve`: the env behind a URL has its server's options")
        name = env or _only_env(target)
        with progress(f"bench {target}", len(REMOTE_WAYS) * len(counts)) as done:
            return bench_url(name, target, sessions=counts, seconds=seconds, progress=done)
    if env is not None:
        raise BadCall(f"--env chooses among a server's envs; {target!r} is no URL")
    spec, options = words.target(target, pairs)
    flags = [f"--max-sessions={max(counts) + 8}", *(f"--env-option={target}.{pair}" for pair in pairs)]
    with serving([target], *flags) as url, progress(f"bench {spec.id}", len(WAYS) * len(counts)) as done:
        return bench_env(spec, url, options=options, sessions=counts, seconds=seconds, progress=done)


def _only_env(url: str) -> str:
    from agentenv.errors import BadCall
    from agentenv.testing import envs_at

    names = envs_at(url)
    if len(names) != 1:
        raise BadCall(f"{url} serves {', '.join(names)}; choose one with --env")
    return names[0]


def _print(result: Bench) -> None:
    from agentenv.cli.tables import print_table

    counts = list(dict.fromkeys(row.sessions for row in result.rows))
    rates = {(row.way, row.sessions): row.steps_per_s for row in result.rows}
    ways = list(dict.fromkeys(row.way for row in result.rows))
    typer.echo(f"{result.env} in {result.target}: env steps per second by number of sessions")
    print_table(
        ({"way": way, **{str(n): f"{rates[way, n]:,.0f}" for n in counts}} for way in ways),
        ("way", *map(str, counts)),
    )
    about = result.machine
    typer.echo(f"{about['cores']} cores of {about['cpu']}, load {about['load_1m']}, Python {about['python']}")
