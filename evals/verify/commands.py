"""`agentenv eval verify | rescore | bundle | key`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from agentenv.pictures import Pictures
    from evals.verify.record import RunRecord

SHOWN = 10
"""Divergences and problems that are printed."""


def verify(
    run: Annotated[str, typer.Argument(metavar="RUN|FILE", help="Id of a run or its beginning, or a bundle.")],
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Play so many episodes, the same for everybody.")
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", metavar="URL", help="Environment server; repeatable. Without: inside this process."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes at one time.")] = 16,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Play the recorded actions of a run again, without a model, and count its episodes anew.

    Exit 1 when an episode comes out otherwise, when episodes are missing, or when they cannot be played here.

    \b
    Examples:
      agentenv eval verify demo-react-3f
      agentenv eval verify demo-react-3f --sample 50
      agentenv eval verify their-run.zip --json
    """
    from agentenv.cli.progress import progress
    from agentenv.cli.tables import print_json
    from evals.show import verified_text
    from evals.verify.counts import standing
    from evals.verify.verify import CLAIM
    from evals.verify.verify import verify as verified

    record, by, signer = _record(run)
    episodes = len(standing(record))
    with progress("replaying", episodes if sample is None else min(sample, episodes)) as done:
        found = asyncio.run(
            verified(record, by=by, sample=sample, servers=server or [], concurrency=concurrency, on_episode=done)
        )
    if by == "self":
        _keep(record.id, found.to_dict())
    if json:
        print_json({**found.to_dict(), "signer": signer})
    else:
        typer.echo(f"{record.id}: {verified_text(found.to_dict())}")
        for line in [*map(str, found.divergences[:SHOWN]), *found.problems[:SHOWN], *found.reasons[:SHOWN]]:
            typer.echo(f"  {line}")
        if not found.ok and found.software:
            typer.echo(f"  other software: {'; '.join(found.software)}")
        if signer:
            typer.echo(f"  packed by the owner of the key {signer}")
        typer.echo(f"  chain {found.chain}\n{CLAIM}")
    if not found.ok:
        raise typer.Exit(1)


def rescore(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes at one time.")] = 16,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Judge the stored answers of a run by the scorer that is installed here; a run of its own, no model is asked.

    For environments whose last action alone decides. The old run stays as it is, and the two share no table.

    \b
    Example:
      agentenv eval rescore search-react-3f
    """
    from agentenv.cli.progress import progress
    from agentenv.cli.tables import print_json
    from evals.store.store import Store
    from evals.verify.rescore import rescore as rescored

    with Store.open() as store:
        row = store.run(run)
        with progress("scoring", row.tries) as done:
            found = rescored(store, row.id, concurrency=concurrency, on_episode=done)
    if json:
        return print_json(found.to_dict())
    typer.echo(f"{found.run}: {found.judged} answers judged again, {found.kept} episodes taken over")
    for name, tasks in (("now right", found.now_right), ("now wrong", found.now_wrong)):
        typer.echo(f"  {name}: {len(tasks)}" + (f" ({', '.join(tasks[:SHOWN])})" if tasks else ""))


def bundle(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The zip file to write.")],
    sign: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Private key to sign it with; `agentenv eval key` makes one.")
    ] = None,
    images: Annotated[
        bool, typer.Option("--images/--no-images", help="Whether the pictures of its episodes are in the file.")
    ] = True,
) -> None:
    """Write a run to one file that somebody else can verify on a machine of theirs.

    \b
    Examples:
      agentenv eval bundle demo-react-3f run.zip
      agentenv eval bundle demo-react-3f run.zip --sign key.pem
      agentenv eval verify run.zip
    """
    from evals.verify.bundle import write_bundle

    record, by, _ = _record(run)
    pictures = _pictures() if by == "self" else None
    root = write_bundle(record, file, key=sign, pictures=pictures if images else None)
    told = _pictures_told(record, pictures, images=images)
    typer.echo(f"Wrote {file}: {len(record.tries)} episodes{told}. Publish its root with the score: {root}")


def key(file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the private key goes.")]) -> None:
    """Make a key to sign bundles with, readable by you alone; prints the public one.

    \b
    Example:
      agentenv eval key key.pem
    """
    from evals.verify.signing import new_key

    typer.echo(f"Wrote {file}. Public key: {new_key(file)}")


def _pictures() -> Pictures:
    from evals.store.pictures import pictures_in
    from evals.store.store import Store

    with Store.open() as store:
        return pictures_in(store).pictures


def _pictures_told(record: RunRecord, pictures: Pictures | None, *, images: bool) -> str:
    """How many pictures are in a bundle, and how many that its episodes name are not."""
    from evals.verify.bundle import picture_names

    names = picture_names(record)
    if not names:
        return ""
    there = sum(pictures.path(name).exists() for name in names) if pictures is not None and images else 0
    left = len(names) - there
    return f", {there} pictures" + (f" (without {left} that episodes name)" if left else "")


def _record(wanted: str) -> tuple[RunRecord, str, str]:
    """The run, `self` or `other`, and who signed it."""
    from evals.store.store import Store
    from evals.verify.bundle import read_bundle
    from evals.verify.record import from_store

    if wanted.endswith(".zip"):
        record, signer = read_bundle(Path(wanted))
        return record, "other", signer
    with Store.open() as store:
        return from_store(store, wanted), "self", ""


def _keep(run: str, verdict: dict[str, Any]) -> None:
    """The board shows it until the run changes."""
    from evals.store.store import Store
    from evals.verify.marks import keep_mark

    with Store.open() as store:
        keep_mark(store, store.run(run), verdict)
