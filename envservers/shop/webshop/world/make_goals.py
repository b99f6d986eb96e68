"""Draw the wishes of the full catalogue and write them into the table beside this module.

    python -m envservers.shop.webshop.world.make_goals [SPLIT]...

Splits are drawn in the order of `ORDER`, each without the wishes of those before it; one that is named is drawn anew.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from envservers.shop.webshop.store import FILE, write_products
from envservers.shop.webshop.tasks import COUNTS
from envservers.shop.webshop.world.build import SEED, wishes_file
from envservers.shop.webshop.world.catalogue import make_catalogue
from envservers.shop.webshop.world.goals import ORDER, Goals
from envservers.shop.webshop.world.ranks import Ranks
from envservers.shop.webshop.world.wishes import read_wishes, write_wishes


def main(wanted: list[str]) -> None:
    """Write the table of each split."""
    made = make_catalogue(SEED, "full")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        write_products(path, [one.product for one in made])
        goals = Goals(made, Ranks(path).search)
        for split in ORDER:
            if wanted and split not in wanted:
                goals.know(read_wishes(wishes_file(split)))
            else:
                write_wishes(wishes_file(split), goals.draw(SEED, split, COUNTS["full"][split]))


if __name__ == "__main__":
    main(sys.argv[1:])
