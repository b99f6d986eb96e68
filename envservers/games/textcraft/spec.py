"""TextCraft as data: its spec, without the engine and without the recipe table.

`agentenv envs textcraft` prints the figures of `envservers.games.textcraft.tasks:facts` beside it.
"""

from agentenv.functions import function
from agentenv.registry import RANDOM, Concurrency, EnvSpec, Option

ENV_ID = "textcraft"
GENERATOR = "1"
"""Version of the task generator and of the recipe table."""

SPEC = EnvSpec(
    id=ENV_ID,
    version="1.0.0",
    gym_name="TextCraft-v0",
    title="Craft a goal item from raw materials, by text, in Minecraft's vocabulary",
    entry="envservers.games.textcraft.env:TextCraft",
    tasks="envservers.games.textcraft.tasks:make_tasks",
    concurrency=Concurrency.INLINE,
    max_steps=124,  # each task has a limit of its own: twice its planned solution and four more
    success_rule="The goal item was crafted. Reward 1.0 on that step, 0.0 on all others.",
    action_grammar=(
        "get N ITEM\n"
        "inventory\n"
        "craft N ITEM using N ITEM, N ITEM\n"
        "N is a whole number from 1 to 9999; a craft names exactly the counts of one recipe."
    ),
    options=(
        Option(
            name="recipes",
            type=str,
            default=None,
            help="folder of Minecraft data-pack recipe files to play instead of our table (split test)",
            scope="server",
        ),
        Option(
            name="commands",
            type=str,
            default="",
            help="a world of these recipes alone, one `craft N ITEM using N ITEM` a line (split fixed; needs goal)",
        ),
        Option(name="goal", type=str, default="", help="the goal item of the one task in split fixed"),
    ),
    snapshots=True,
    shortcuts=(RANDOM,),
    world="agentenv-textcraft-v1",
    replay="Equal everywhere: nothing but the task and the actions decides.",
    prompt="envservers.games.textcraft:prompt.yaml",
    functions=(
        function(
            "get",
            "Take raw material that no recipe makes.",
            "get {count} {item}",
            count={"type": "integer", "minimum": 1, "maximum": 9999},
            item={"type": "string", "description": "for example `oak logs`", "examples": ["oak logs"]},
        ),
        function("inventory", "List what is held.", "inventory"),
        function(
            "craft",
            "Craft by exactly one recipe, once.",
            "craft {recipe}",
            recipe={
                "type": "string",
                "description": "for example `4 stick using 2 oak planks`",
                "examples": ["4 stick using 2 oak planks"],
            },
        ),
    ),
    malformed_text="Invalid action: {reason}. Answer with one action: get, inventory or craft.",
    step_s=5.0,
    reset_s=10.0,
)
