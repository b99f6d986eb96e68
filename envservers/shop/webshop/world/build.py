"""The catalogue on disk, made once for a size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agentenv.config import home
from agentenv.keep import kept, stages
from envservers.shop.webshop.made_by import made_by
from envservers.shop.webshop.store import FILE, write_goals, write_products
from envservers.shop.webshop.tasks import COUNTS, VERSION
from envservers.shop.webshop.world.catalogue import Made, make_catalogue
from envservers.shop.webshop.world.goals import ORDER, Goals
from envservers.shop.webshop.world.ranks import Ranks
from envservers.shop.webshop.world.wishes import Wish, read_wishes

SEED = 0


def world_file(size: str) -> Path:
    """The catalogue, made if it is not there yet."""
    folder = home() / "shop" / f"webshop-{VERSION}-{SEED}-{size}"
    return kept(folder, made_by(__package__), lambda work: _write(work / FILE, size)) / FILE


def wishes_file(split: str) -> Path:
    """The wishes of the full catalogue; drawing them takes minutes, so they are kept with the code."""
    return Path(__file__).with_name(f"wishes-{split}.tsv")


def _write(path: Path, size: str) -> None:
    with stages("webshop", ("products", "index", "wishes")) as stage:
        next(stage)
        made = make_catalogue(SEED, size)
        next(stage)
        write_products(path, [one.product for one in made])
        next(stage)
        by_asin = {one.product.asin: one for one in made}
        wishes = _wishes(made, path, size)
        write_goals(path, {split: [w.goal(by_asin[w.asin]) for w in some] for split, some in wishes.items()})


def _wishes(made: Sequence[Made], path: Path, size: str) -> Mapping[str, Iterable[Wish]]:
    if size == "full":
        return {split: read_wishes(wishes_file(split)) for split in COUNTS[size]}
    goals = Goals(made, Ranks(path).search)
    return {split: goals.draw(SEED, split, COUNTS[size][split]) for split in ORDER}
