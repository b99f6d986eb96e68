"""`agentenv check`: hold environments to the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agentenv.testing import Report


def check(
    target: Annotated[str, typer.Argument(metavar="ENV|URL", help="Id, gym:ID, or the address of a server.")],
    env: Annotated[str | None, typer.Option(help="Which env of the server; else every one.")] = None,
    env_option: Annotated[list[str] | None, typer.Option(help="key=value; repeatable.")] = None,
    rule: Annotated[list[str] | None, typer.Option(help="Check only this rule; repeatable.")] = None,
    sessions: Annotated[int, typer.Option(min=32, help="Sessions of the endurance rule.")] = 1000,
    budget: Annotated[float, typer.Option(min=1, help="Seconds a repeating rule may take with a slow env.")] = 20.0,
    controls: Annotated[
        bool, typer.Option("--controls", help="Play the env's shortcut agents instead: what cheating reaches.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="With --controls: tasks of a split; else all.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Hold an environment to the contract, rule by rule; exit 1 when it breaks one.

    By URL the rules that the wire allows are checked; the rest is shown as not checkable. With --controls the env's
    shortcut agents play whole splits three times, and exit 1 says that one of them is over the ceiling of its card.

    \b
    Examples:
      agentenv check textcraft
      agentenv check maze --env-option size=4 --rule solve_succeeds
      agentenv check http://127.0.0.1:8000 --env wordle --json
      agentenv check maze --controls
    """
    from agentenv.cli.tables import print_json

    if controls:
        return _controls(target, env_option or [], limit, as_json=json)
    reports = _reports(target, env, env_option or [], rule or [], sessions, budget)
    ok = all(report.ok for report in reports)
    if json:
        print_json({"ok": ok, "reports": [report.to_dict() for report in reports]})
    else:
        for report in reports:
            _print(report)
    if not ok:
        raise typer.Exit(1)


def _controls(target: str, pairs: list[str], limit: int | None, *, as_json: bool) -> None:
    import asyncio

    from agentenv.cli import target as words
    from agentenv.cli.progress import progress
    from agentenv.cli.tables import print_json, print_table
    from agentenv.errors import BadCall
    from agentenv.testing.controls import SEEDS, controls, episodes_of

    if target.startswith(("http://", "https://")):
        raise BadCall("--controls plays in this process; give the env's id")
    spec, options = words.target(target, pairs)
    with progress(f"controls of {spec.id}", episodes_of(spec, options, (), limit, SEEDS)) as done:
        found = asyncio.run(controls(spec, options=options, limit=limit, on_episode=done))
    if as_json:
        print_json({"env": spec.id, "version": spec.version, "controls": [c.to_dict() for c in found]})
    else:
        print_table(
            (
                {
                    "control": c.name,
                    "split": c.split,
                    "tasks": c.tasks,
                    "success": f"{c.success:.1%}",
                    "95 %": f"{c.low:.1%} to {c.high:.1%}",
                    "ceiling": f"{c.ceiling:.0%}",
                    "result": "invalid" if c.invalid else "pass" if c.ok else "over",
                }
                for c in found
            ),
            ("control", "split", "tasks", "success", "95 %", "ceiling", "result"),
        )
        for c in found:
            for error in c.errors:
                typer.echo(f"{c.name}: {error}")
    if not all(c.ok for c in found):
        raise typer.Exit(1)


def _reports(
    target: str, env: str | None, pairs: list[str], rules: list[str], sessions: int, budget_s: float
) -> list[Report]:
    from agentenv.cli import target as words
    from agentenv.cli.progress import progress
    from agentenv.errors import BadCall
    from agentenv.testing import check_env, check_url, envs_at
    from agentenv.testing.rules.table import RULES

    by_url = target.startswith(("http://", "https://"))
    if by_url and pairs:
        raise BadCall("--env-option goes to `agentenv serve`: the env behind a URL has its server's options")
    if not by_url and env is not None:
        raise BadCall(f"--env chooses among a server's envs; {target!r} is no URL")
    each = len(rules) or len(RULES)
    if by_url:
        names = [env] if env else envs_at(target)
        with progress(f"check {target}", each * len(names)) as done:
            return [
                check_url(target, name, rules=rules, budget_s=budget_s, progress=lambda _: done()) for name in names
            ]
    spec, options = words.target(target, pairs)
    with progress(f"check {spec.id}", each) as done:
        report = check_env(
            spec, options=options, rules=rules, sessions=sessions, budget_s=budget_s, progress=lambda _: done()
        )
    return [report]


def _print(report: Report) -> None:
    from agentenv.cli.tables import print_table

    typer.echo(f"{report.env} {report.version} in {report.target}")
    print_table(
        ({"rule": f.rule, "result": f.status.value, "what": f.detail} for f in report.findings),
        ("rule", "result", "what"),
    )
    if report.measured is not None:
        measured = report.measured
        print_table(
            ({"verb": verb, "n": v.n, "p50_ms": v.p50_ms, "p99_ms": v.p99_ms} for verb, v in measured.verbs.items()),
            ("verb", "n", "p50_ms", "p99_ms"),
        )
        typer.echo(f"{measured.steps_per_s:,.0f} steps/s" + _memory(measured.bytes_per_session))
    failed = ", ".join(report.failed)
    typer.echo(f"{report.env}: breaks {failed}" if failed else f"{report.env}: holds every rule that was checked")


def _memory(bytes_per_session: int | None) -> str:
    return "" if bytes_per_session is None else f", {bytes_per_session:,} bytes for each idle session"
