"""`agentenv eval ...` and `agentenv leaderboard`. Everything heavy is imported inside the commands."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentenv.cli.target import key_values
from agentenv.errors import BadCall
from evals.dry_run import print_dry_run
from evals.export import export
from evals.sitting import listed, sit
from evals.verify import commands as verifying

if TYPE_CHECKING:
    from evals.store.store import Store

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Evaluate agents on suites of tasks; every episode is stored.",
)  # fmt: skip

Servers = Annotated[
    list[str] | None,
    typer.Option("--server", metavar="URL", help="Environment server; repeatable. Without: inside this process."),
]
Concurrency = Annotated[int, typer.Option(min=1, metavar="N", help="Episodes at one time.")]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="X", help="Stop when the runs have cost this, in the price table's currency."),
]
MaxTokens = Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop when the runs have used so many tokens.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def run(
    suite: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE...", help="Suites by name (smoke, mini, demo, games, ...), or by path to a YAML file."
        ),
    ],
    agent: Annotated[
        list[str], typer.Option(metavar="NAME", help="Agent to evaluate, or a YAML file with one; repeatable.")
    ],
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Model name, for agents that ask a model.")] = None,
    model_url: Annotated[
        str | None, typer.Option(metavar="URL", help="OpenAI-compatible endpoint, http://host:port/v1.")
    ] = None,
    model_path: Annotated[
        str | None, typer.Option(metavar="DIR", help="Hugging Face folder of a model, in place of an endpoint.")
    ] = None,
    engine: Annotated[str | None, typer.Option(metavar="NAME", help="With --model-path: hf (default) or vllm.")] = None,
    agent_option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Setting of an agent that asks a model; repeatable.")
    ] = None,
    trained_on: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Model, checkpoint or records: what the agent was trained on; repeatable."),
    ] = None,
    server: Servers = None,
    concurrency: Concurrency = 16,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most so many tasks of each env; never ranked.")
    ] = None,
    attempts: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Attempts at each task; else the suite's.")
    ] = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    images: Annotated[
        bool, typer.Option("--images", help="Keep the pictures that envs draw, for the episode's page.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan; play and write nothing.")] = False,
    json: Json = False,
) -> None:
    """Play suites with agents: each agent on each suite.

    \b
    Examples:
      agentenv eval run smoke --agent random
      agentenv eval run demo --agent oracle --agent noop --server http://127.0.0.1:8000
      agentenv eval run demo --agent react --model NAME --model-url http://127.0.0.1:8080/v1 --attempts 4
      agentenv eval run demo --agent react --model NAME --model-url URL --agent-option temperature=0.7
      agentenv eval run demo --agent function_calling --agent code_as_action --model NAME --model-url URL
      agentenv eval run demo --agent react --model-path DIR --engine hf
      agentenv eval run demo --agent external --agent-option command="python my_agent.py"
      agentenv eval run games embodied --agent gpt.yaml --agent qwen.yaml --max-cost 20
      agentenv eval run webarena-smoke-chromium --agent react --model NAME --model-url URL --images
      agentenv eval run demo --agent random --limit 5 --dry-run
    """
    import asyncio

    from evals.harness import preflight, start_all
    from evals.limits import Limits
    from evals.plan import make_plan
    from evals.players import agent_label, players_of
    from evals.suite import load

    named = {"model": model, "model_url": model_url, "model_path": model_path, "engine": engine}
    players = players_of(agent, _settings(named, agent_option or []))
    names = [agent_label(player.make()) for player in players]
    suites = [(wanted, make_plan(wanted, attempts=attempts, limit=limit)) for wanted in map(load, suite)]
    if dry_run:
        return print_dry_run(suites, names, concurrency=concurrency, json=json)
    with _opened() as store:
        for name, reply in asyncio.run(preflight(players)).items():
            typer.echo(f"{name}: {reply}", err=True)
        runs = start_all(store, suites, players, limit=limit, trained=trained_on or [], images=images)
        limits = Limits(cost=max_cost, tokens=max_tokens)
        sit(store, runs, servers=server or [], concurrency=concurrency, limits=limits, json=json)


@app.command()
def resume(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="Id or its beginning; else the latest.")] = None,
    server: Servers = None,
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    json: Json = False,
) -> None:
    """Play what a stopped run has left open. Without RUN: all open runs of the latest command that left some.

    \b
    Examples:
      agentenv eval resume
      agentenv eval resume demo-random-3f --server http://127.0.0.1:8000
    """
    import asyncio

    from evals.harness import player_of, preflight, require_unchanged
    from evals.limits import Limits

    with _opened() as store:
        rows = store.unfinished() if run is None else [store.run(run)]
        open_ = [row for row in rows if row.finished_at is None]
        if not open_:
            done = f"run {rows[0].id} is complete" if rows else f"no run in {store.name} has anything left to play"
            return _print_nothing(done, json=json)
        for row in open_:
            require_unchanged(row)
        asyncio.run(preflight([player_of(row) for row in open_]))
        servers = server or list(dict.fromkeys(url for row in open_ for url in row.servers))
        limits = Limits(cost=max_cost, tokens=max_tokens)
        sit(store, [row.id for row in open_], servers=servers, concurrency=concurrency, limits=limits, json=json)


@app.command("list")
def list_runs(
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs on this suite.")] = None,
    json: Json = False,
) -> None:
    """List the runs, newest first.

    \b
    Examples:
      agentenv eval list
      agentenv eval list --suite demo --json
    """
    from agentenv.cli.tables import print_json
    from evals.report import print_table

    with _opened() as store:
        rows = [listed(store, row) for row in store.runs(suite=suite)]
        name = store.name
    if json:
        return print_json(rows)
    if not rows:
        return typer.echo(f"No runs in {name} yet. Next: agentenv eval run demo --agent random")
    print_table(
        [
            {
                "run": row["run"],
                "suite": row["suite"],
                "agent": row["agent"],
                "created": row["created_at"][:19].replace("T", " "),
                "planned": str(row["planned"]),
                "valid": str(row["valid"]),
                "invalid": str(row["invalid"]),
                "state": row["state"],
            }
            for row in rows
        ]
    )
    typer.echo(f"Next: agentenv eval show {rows[0]['run']}")


@app.command()
def show(
    wanted: Annotated[
        str, typer.Argument(metavar="RUN|SUITE", help="Id of a run, or its beginning; or a suite, by name or path.")
    ],
    partial: Annotated[
        bool, typer.Option("--partial", help="pass@k over the tasks that have k attempts, if others have fewer.")
    ] = False,
    json: Json = False,
) -> None:
    """Show one run: results by env and category, how episodes ended, tasks that break their env. Or what a suite can
    and cannot tell apart.

    \b
    Examples:
      agentenv eval show demo
      agentenv eval show demo-random-3f
      agentenv eval show demo-random-3f --json
    """
    from agentenv.cli.tables import print_json
    from evals.show import about, print_about, print_suite
    from evals.suite import is_suite, load

    if is_suite(wanted):
        from evals.statistics.power import suite_power

        power = suite_power(load(wanted))
        return print_json(power) if json else print_suite(power)
    with _opened() as store:
        facts = about(store, store.run(wanted), partial=partial)
    return print_json(facts) if json else print_about(facts)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="Id of a run, or its beginning.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    delta: Annotated[
        float, typer.Option(min=0.0, max=1.0, metavar="D", help="Difference to plan for: how many tasks show it?")
    ] = 0.05,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Also where tasks, engines or versions differ: on the tasks that are equal."),
    ] = False,
    pooled: Annotated[
        bool, typer.Option("--pooled", help="Take all runs of each one's row on the board, as further attempts.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare two runs on the same tasks: the difference with its test and interval, flips, and what would tell more.

    \b
    Examples:
      agentenv eval compare demo-react_a-3f demo-react_b-90
      agentenv eval compare demo-react_a-3f demo-react_b-90 --delta 0.1 --json
    """
    from agentenv.cli.tables import print_json
    from evals.compare import comparison, print_comparison

    with _opened() as store:
        facts = comparison(store, store.run(a), store.run(b), delta=delta, anyway=anyway, pooled=pooled)
    return print_json(facts) if json else print_comparison(facts)


@app.command("sql")
def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A SELECT over v_episodes, v_tasks, v_leaderboard.")],
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="At most so many rows.")] = 1000,
    json: Json = False,
) -> None:
    """Ask the database in SQL, on a connection that cannot write.

    \b
    Examples:
      agentenv eval sql "SELECT agent, env, success, n FROM v_leaderboard ORDER BY success DESC"
      agentenv eval sql "SELECT error, COUNT(*) FROM v_episodes WHERE NOT valid GROUP BY error" --json
    """
    from agentenv.cli.tables import print_json
    from evals.report import print_table

    with _opened() as store:
        found = store.ask(query, rows=rows)
    if json:
        return print_json({"columns": found.columns, "rows": found.rows, "cut": found.cut})
    print_table(
        [{f"{name}": _cell(value) for name, value in zip(found.columns, row, strict=True)} for row in found.rows]
    )
    if found.cut:
        typer.echo(f"There are more rows than {rows}: --rows N")


@app.command()
def reopen(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the run.")],
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; repeatable.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Valid attempts too. What they were stays, and no longer counts.")
    ] = False,
    json: Json = False,
) -> None:
    """Open attempts of a run again, so that a resume plays them: those that were lost, or with --overwrite any.

    \b
    Examples:
      agentenv eval reopen demo-react-3f --reason "the server is back"
      agentenv eval reopen demo-react-3f --task maze/test/3 --overwrite --reason "played with a wrong server"
    """
    from agentenv.cli.tables import print_json

    with _opened() as store:
        row = store.run(run)
        count = store.reopen(row.id, reason=reason, tasks=task or [], overwrite=overwrite)
    if json:
        return print_json({"run": row.id, "reopened": count})
    then = f". Next: agentenv eval resume {row.id}" if count else "; nothing to do"
    typer.echo(f"{row.id}: {count} attempts are open again{then}")


@app.command()
def delete(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the run.")],
    json: Json = False,
) -> None:
    """Delete the episodes of a run. Its results stay in the counters, and count: nobody gets better by deleting.

    \b
    Examples:
      agentenv eval delete demo-react-3f --reason "the texts take too much room"
    """
    from agentenv.cli.tables import print_json

    with _opened() as store:
        row = store.run(run)
        count = store.delete(row.id, reason=reason)
    if json:
        return print_json({"run": row.id, "deleted": count})
    typer.echo(f"{row.id}: {count} episodes are deleted; what they came to still counts")


# after the commands above, which people type first
for _command in (verifying.verify, verifying.rescore, export, verifying.bundle, verifying.key):
    app.command()(_command)


def leaderboard(
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Only this suite.")] = None,
    published: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="YAML of published scores to show beside; repeatable.")
    ] = None,
    web: Annotated[
        bool, typer.Option("--web", help="Show it in the browser, with runs, comparisons and episodes, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of --web; 0 takes a free one.")] = 8010,
    json: Json = False,
) -> None:
    """Show how the agents compare: success rates with intervals and the ranks that the data allow, invalid episodes,
    mean return and steps.

    \b
    Examples:
      agentenv leaderboard
      agentenv leaderboard --suite demo --json
      agentenv leaderboard --published scores.yaml
      agentenv leaderboard --web --port 8010
    """
    if web:
        from evals.web.serve import serve

        if suite is not None or published:
            raise BadCall("--web takes neither --suite nor --published; the page has filters of its own")
        return serve(port, json=json)
    from agentenv.cli.tables import print_json
    from evals.boards import board, published_beside
    from evals.report import print_board
    from evals.show import unread_of
    from evals.suite import load

    with _opened() as store:
        rows = board(store, suite=suite)
        beside = published_beside(store, published or [], suite=suite)
        unread = {} if json else unread_of(store, rows)
        name = store.name
    if not rows and suite is not None:
        load(suite)  # a name that no suite has is a wrong call
    if json:
        return print_json(
            [*(row.to_json() for row in rows), *(s.to_json() for found in beside.values() for s in found)]
        )
    if not rows:
        return typer.echo(f"No runs in {name} yet. Next: agentenv eval run {suite or 'demo'} --agent random")
    print_board(rows, beside, unread)
    typer.echo(f"Next: agentenv eval show {rows[0].run}")


@contextlib.contextmanager
def _opened() -> Iterator[Store]:
    from evals.store.store import Store

    with Store.open() as store:
        yield store


def _settings(named: Mapping[str, str | None], pairs: Sequence[str]) -> dict[str, str]:
    """The settings that have options of their own, and those of `--agent-option`."""
    settings = {name: value for name, value in named.items() if value is not None}
    for name, value in key_values(pairs, "--agent-option").items():
        if name in settings:
            raise BadCall(f"--agent-option {name} is given twice")
        settings[name] = value
    return settings


def _print_nothing(text: str, *, json: bool) -> None:
    from agentenv.cli.tables import print_json

    return print_json({"runs": [], "rows": []}) if json else typer.echo(f"Nothing to do: {text}.")


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
