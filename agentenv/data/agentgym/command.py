"""`agentenv data import agentgym`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from agentenv.data.agentgym.items import Item
    from agentenv.data.agentgym.replay import Replayed


def agentgym(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of AgentGym's or AgentGym-RL's JSON files.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder to make.")],
    replay: Annotated[
        bool, typer.Option("--replay", help="Play recorded actions in our worlds; how many come to their reward?")
    ] = False,
    stand_ins: Annotated[
        bool, typer.Option("--stand-ins", help="Take tasks of the same sort for items whose own task is not here.")
    ] = False,
    env_option: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND.key=value", help="Where original data lies, such as sqlgym.folder=DIR; repeatable."),
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="Of the suite.")] = "agentgym",
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Read lists of ids and recorded conversations: what of them is here, as a suite, task lists and records.

    FOLDER gets items.jsonl (what each item comes to), suite.yaml for `agentenv eval`, tasks/ and train.yaml for
    `agentenv train`, and trajectories.jsonl for `agentenv sft`; those that would be empty are left out.

    \b
    Examples:
      agentenv data import agentgym AgentTraj-L --out imported --replay
      agentenv data import agentgym AgentGym-RL-Data-ID --out ids --json
      agentenv data import agentgym AgentEval --out tests --env-option sqlgym.folder=bird
    """
    import asyncio

    from agentenv.cli.progress import progress
    from agentenv.data.agentgym.files import read_folder
    from agentenv.data.agentgym.items import Item
    from agentenv.data.agentgym.places import Places
    from agentenv.data.agentgym.records import trajectory_of
    from agentenv.data.agentgym.replay import replay as play_again
    from agentenv.data.agentgym.writing import write
    from agentenv.data.targets import new_folder

    places = Places(_by_kind(env_option or []))
    items = [Item(row=row, place=places.of(row.item_id)) for row in read_folder(folder)]
    with new_folder(out) as work:
        records = [trajectory_of(item.row, item.place) for item in items if item.row.conversation]
        played: list[Replayed] = []
        if replay:
            playable = [number for number, record in enumerate(records) if record.tasks_digest]
            with progress("replay", len(playable)) as advance:
                played = asyncio.run(play_again([records[number] for number in playable], advance))
            for number, one in zip(playable, played, strict=True):
                records[number] = one.filled()
        write(work, items, records, final=out, name=name, stand_ins=stand_ins)
    _print(items, played, out, replay=replay, json=json)


def _by_kind(pairs: list[str]) -> dict[str, dict[str, Any]]:
    from agentenv.cli.target import key_values
    from agentenv.errors import BadCall

    found: dict[str, dict[str, Any]] = {}
    for key, value in key_values(pairs).items():
        kind, dot, option = key.partition(".")
        if not dot:
            raise BadCall(f"--env-option {key}={value}: write KIND.key=value, such as sqlgym.folder=DIR")
        path = Path(value).expanduser()  # a suite is used from other folders, too
        found.setdefault(kind, {})[option] = str(path.resolve()) if path.exists() else value
    return found


def _print(items: list[Item], played: list[Replayed], out: Path, *, replay: bool, json: bool) -> None:
    from agentenv.cli.tables import print_json, print_table
    from agentenv.data.agentgym.items import in_both, reasons, table
    from agentenv.data.agentgym.replay import replay_table

    again = replay_table(played) if replay else None
    if json:
        return print_json(
            {
                "out": str(out),
                "kinds": table(items),
                "reasons": reasons(items),
                "in_both": in_both(items),
                "replay": again,
            }
        )
    print_table(table(items), ["kind", "role", "items", "ok", "needs", "not_portable", "stand_ins", "recorded"])
    for reason in reasons(items):
        typer.echo(f"{reason['kind']}: {reason['items']} {reason['status']} ({reason['why']})")
    if both := in_both(items):
        typer.echo(f"Items both to train on and to test with: {both}")
    if again:
        columns = ["env", "replayed", "broken", "with_reward", "reproduced", "share", "succeeded"]
        print_table(again, columns)
    typer.echo(f"Written to {out}")
