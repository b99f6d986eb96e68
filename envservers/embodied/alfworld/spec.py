"""What is known of AlfWorld without its engine."""

from dataclasses import replace

from agentenv.functions import function
from agentenv.registry import RANDOM, Concurrency, EnvSpec, Option, Shortcut

MAX_STEPS = 50
"""As in the reference."""
_PLACE = "A receptacle as the observation names it, such as `countertop 1`."
_THING = "An object as the observation names it, such as `mug 2`."


SPEC = EnvSpec(
    id="alfworld",
    version="1",
    gym_name="AlfWorld-v0",
    title="AlfWorld: chores in a household, done by text commands",
    entry="envservers.embodied.alfworld.env:AlfWorld",
    tasks="envservers.embodied.alfworld.tasks:make_tasks",
    concurrency=Concurrency.INLINE,
    max_steps=MAX_STEPS,
    success_rule=(
        "The chore is done: an object of the kind lies in a receptacle of the kind (two in the same one; clean, hot or "
        "cool where the goal says so), or one carries it where a lamp of the kind is on. Reward 1.0 on that step, 0.0 "
        "on all others."
    ),
    action_grammar=(
        "go to RECEPTACLE\n"
        "open RECEPTACLE, close RECEPTACLE\n"
        "take OBJECT from RECEPTACLE\n"
        "put OBJECT in/on RECEPTACLE, or: move OBJECT to RECEPTACLE\n"
        "clean OBJECT with RECEPTACLE, heat OBJECT with RECEPTACLE, cool OBJECT with RECEPTACLE\n"
        "use OBJECT (or: toggle OBJECT)\n"
        "examine RECEPTACLE or OBJECT\n"
        "look, inventory, help\n"
        "RECEPTACLE and OBJECT as the observation names them: countertop 1, mug 2"
    ),
    options=(
        Option(name="list_actions", type=bool, default=True, help="List the available actions under each observation."),
        Option(
            name="grammar",
            type=str,
            default="put",
            choices=("put", "move"),
            help="How the list of actions words putting down: put X in/on Y, or move X to Y. Both always work.",
        ),
    ),
    shortcuts=(
        replace(RANDOM, ceiling=0.02),
        Shortcut(
            name="likeliest",
            entry="envservers.embodied.alfworld.shortcuts:Likeliest",
            ceiling=0.35,
            about="does the chore, but looks only where such things mostly lie in train",
        ),
    ),
    snapshots=True,
    licence="Apache-2.0",
    world="agentenv-alfworld-v1",
    replay="Equal everywhere: nothing but the task and the actions decides.",
    prompt="envservers.embodied.alfworld:prompt.yaml",
    functions=(
        function("goto", "Go to a receptacle.", "go to {recep}", recep=_PLACE),
        function("open", "Open the receptacle where you stand.", "open {recep}", recep=_PLACE),
        function("close", "Close the receptacle where you stand.", "close {recep}", recep=_PLACE),
        function("take", "Take an object.", "take {obj} from {recep}", obj=_THING, recep=_PLACE),
        function("put", "Put down what you carry.", "put {obj} in/on {recep}", obj=_THING, recep=_PLACE),
        function(
            "clean", "Clean what you carry in a sink basin.", "clean {obj} with {recep}", obj=_THING, recep=_PLACE
        ),
        function("heat", "Heat what you carry in a microwave.", "heat {obj} with {recep}", obj=_THING, recep=_PLACE),
        function("cool", "Cool what you carry in a fridge.", "cool {obj} with {recep}", obj=_THING, recep=_PLACE),
        function("use", "Switch a lamp on or off.", "use {obj}", obj=_THING),
        function("toggle", "The same as use.", "toggle {obj}", obj=_THING),
        function("examine", "Look closely at a receptacle or an object.", "examine {name}", name=f"{_PLACE} {_THING}"),
        function("look", "See where you are.", "look"),
        function("inventory", "See what you carry.", "inventory"),
    ),
    malformed_text="Invalid action: {reason}. Answer with one action, such as `go to countertop 1`.",
)
