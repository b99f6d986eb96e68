import typer

keeper = typer.Typer()


@keeper.callback()
def _keeper() -> None:
    """Of the keeper."""


@keeper.command()
def name() -> None:
    """Say the keeper's name."""
    typer.echo("Ida")


def lamp(colour: str = "white") -> None:
    """Light the lamp."""
    typer.echo(f"The lamp shines {colour}.")
