"""Small households for tests, told by hand."""

from collections.abc import Mapping

from agentenv.protocol import Action
from envservers.embodied.alfworld.catalogue import Template
from envservers.embodied.alfworld.env import AlfWorld, Episode
from envservers.embodied.alfworld.house import House, State

LAYOUT: Mapping[str, tuple[str, ...]] = {
    "cabinet 1": ("cup 1",),
    "countertop 1": ("mug 1", "apple 1", "pan 1"),
    "desk 1": ("desklamp 1", "book 1"),
    "fridge 1": (),
    "microwave 1": (),
    "shelf 1": ("mug 2",),
    "shelf 2": (),
    "sinkbasin 1": (),
}
"""What lies where; cabinet, fridge and microwave are closed."""


def house(template: str = "pick_and_place_simple-Apple-None-Fridge", layout: Mapping[str, tuple[str, ...]] = LAYOUT):
    """A household with a goal by its template."""
    places = tuple(layout)
    things = tuple(name for names in layout.values() for name in names)
    where = tuple(places.index(place) for place, names in layout.items() for _ in names)
    return House(
        room=7,
        seed=0,
        template=Template.read(template),
        goal="do it.",
        places=places,
        things=things,
        start=State(where=where),
    )


def within(template: str = "pick_and_place_simple-Apple-None-Fridge", **options) -> AlfWorld:
    """An env that stands in such a household, without lists of actions."""
    env = AlfWorld(**{"list_actions": False, **options})
    home = house(template)
    env.restore(Episode(house=home, state=home.start))
    return env


def do(env: AlfWorld, *texts: str):
    """The result of the last of these actions."""
    for text in texts:
        env.last = env.step(Action(text=text))
    return env.last


def told(env: AlfWorld, *texts: str) -> str:
    """The observation after these actions."""
    return do(env, *texts).observation
