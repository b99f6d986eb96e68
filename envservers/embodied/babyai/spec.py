"""What is known of BabyAI without its engine."""

from agentenv.functions import function
from agentenv.registry import Concurrency, EnvSpec, Option, Shortcut

_THING = {
    "type": "string",
    "description": "A thing with its number among the things in view of that name, such as `red ball 1`.",
    "examples": ["red ball 1"],
}
_DOOR = {"type": "string", "description": "A door with its state and number, such as `green closed door 1`."}

# Levels of one room take an action or two, which is within the reach of chance. The ceilings stand some points above
# what was measured, so that they hold this share of the split to what it is.
SHORTCUTS = (
    Shortcut(
        name="random",
        entry="agentenv.agents.scripted:Random",
        ceiling=0.38,
        about="draws from the available actions",
    ),
    Shortcut(
        name="spin",
        entry="envservers.embodied.babyai.shortcuts:Spin",
        ceiling=0.01,
        about="turns left for ever",
    ),
    Shortcut(
        name="nearest_thing",
        entry="envservers.embodied.babyai.shortcuts:NearestThing",
        ceiling=0.44,
        about="goes to the nearest thing in view, deaf to the goal",
    ),
    Shortcut(
        name="shared_words",
        entry="envservers.embodied.babyai.shortcuts:SharedWords",
        ceiling=0.6,
        about="does what shares most words with the goal",
    ),
)

SPEC = EnvSpec(
    id="babyai",
    version="1",
    gym_name="BabyAI-v0",
    title="BabyAI: missions in a grid of rooms, seen and done by text",
    entry="envservers.embodied.babyai.env:BabyAI",
    tasks="envservers.embodied.babyai.tasks:make_tasks",
    concurrency=Concurrency.ANY_THREAD,  # a step takes a fraction of a millisecond, a reset the making of a world
    max_steps=236,  # each task has a limit of its own: twice its scripted solution and four more
    success_rule=(
        "The mission was accomplished by the level's own rules, within the level's number of primitive moves. "
        "Reward on that step: 1 - 0.9 x primitive moves made / primitive moves allowed; 0.0 on all others."
    ),
    action_grammar=(
        "turn left, turn right, move forward, pickup, drop, toggle: one primitive move each\n"
        "go to THING N: walk until it is right in front of you\n"
        "pickup THING N (or pick up): walk there and pick it up\n"
        "go through DOOR N: walk into an open door\n"
        "toggle and go through DOOR N: walk to a closed door, or a locked one whose key you carry, open it, step in\n"
        "check available actions\n"
        "THING N and DOOR N as the observation names them: red ball 1, green closed door 2"
    ),
    options=(
        Option(
            name="list_actions",
            type=bool,
            default=True,
            help="List the available actions under each observation.",
        ),
    ),
    shortcuts=SHORTCUTS,
    snapshots=True,
    licence="Apache-2.0; worlds from minigrid (MIT)",
    replay="The versions of minigrid and numpy, which draw the worlds; a world that is not the task's is refused.",
    prompt="envservers.embodied.babyai:prompt.yaml",
    functions=(
        function("turn_left", "Turn left on the spot.", "turn left"),
        function("turn_right", "Turn right on the spot.", "turn right"),
        function("move_forward", "Step into the cell in front of you.", "move forward"),
        function("go_to", "Walk until a thing in view is right in front of you.", "go to {thing}", thing=_THING),
        function("pickup", "Walk to a thing in view and pick it up.", "pickup {thing}", thing=_THING),
        function("drop", "Put what you carry into the free cell in front of you.", "drop"),
        function("toggle", "Open or close the door in front of you, or open the box in front of you.", "toggle"),
        function(
            "go_through",
            "Walk into an open door in view.",
            "go through {door}",
            door={**_DOOR, "examples": ["green open door 1"]},
        ),
        function(
            "toggle_and_go_through",
            "Walk to a closed door in view, or a locked one whose key you carry, open it and step into it.",
            "toggle and go through {door}",
            door={**_DOOR, "examples": ["green closed door 1"]},
        ),
        function("check_available_actions", "List what can be done now.", "check available actions"),
    ),
    malformed_text="Invalid action: {reason}. Answer with one action, such as `turn left` or `go to red ball 1`.",
    extra="embodied",
)
