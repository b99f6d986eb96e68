"""What is known of ScienceWorld without its simulator."""

from dataclasses import replace

from agentenv.registry import RANDOM, Concurrency, EnvSpec, Option
from envservers.science.sciworld.functions import FUNCTIONS

SPEC = EnvSpec(
    id="sciworld",
    version="1",
    gym_name="SciWorld-v0",
    title="ScienceWorld: thirty kinds of tasks of elementary science in a simulated house",
    entry="envservers.science.sciworld.env:SciWorld",
    tasks="envservers.science.sciworld.tasks:make_tasks",
    concurrency=Concurrency.ANY_THREAD,
    max_steps=300,  # 100 for most tasks, as published; 200 or 300 where the scripted solution comes near it
    success_rule="The simulator's score reached 100. It falls to -100, which ends the episode, for a wrong focus.",
    action_grammar=(
        "open OBJ | close OBJ | activate OBJ | deactivate OBJ\n"
        "connect OBJ to OBJ | disconnect OBJ\n"
        "use OBJ on OBJ\n"
        "look around | look at OBJ | examine OBJ | look in OBJ | read OBJ\n"
        "move OBJ to OBJ | pick up OBJ | put down OBJ\n"
        "pour OBJ in OBJ | dunk OBJ in OBJ | mix OBJ\n"
        "go to LOC: through an open door\n"
        "teleport to LOC: with simplifications=easy\n"
        "eat OBJ | flush OBJ\n"
        "focus on OBJ: the thing that the task asks for; a wrong one fails the task\n"
        "wait | wait1: ten steps of time, or one\n"
        "inventory | task | reset task\n"
        "0, 1, 2, ...: which of the listed actions is meant, when the simulator asks; blank cancels"
    ),
    options=(
        Option(
            name="numbering",
            type=str,
            default="own",
            help="own: the simulator's train, dev and test; agentgym: one split with AgentGym's ids 0 to 4638.",
            choices=("own", "agentgym"),
        ),
        Option(
            name="simplifications",
            type=str,
            default="none",
            help="easy: doors open, teleporting, self-watering flower pots, no wires where none are needed.",
            choices=("none", "easy"),
        ),
        Option(
            name="jvms",
            type=int,
            default=None,
            help="Java machines of a server process at most; by default one a core, at most 4.",
            scope="server",
            low=1,
            high=64,
        ),
        Option(
            name="heap_mb",
            type=int,
            default=192,
            help="Heap of each Java machine in megabytes, claimed when it starts; it needs about 120 more beside it.",
            scope="server",
            low=128,
            high=8192,
        ),
    ),
    reward_range=(-2.0, 1.0),  # a step's change of the score, in hundredths
    return_range=(-1.0, 1.0),
    shortcuts=(replace(RANDOM, ceiling=0.02),),
    needs=("java",),
    licence="Apache-2.0; the simulator is ScienceWorld by the Allen Institute for AI, Apache-2.0",
    replay=(
        "The simulator's archive, known by its sha256, the version of Java, its flags, and the option simplifications."
    ),
    prompt="envservers.science.sciworld:prompt.yaml",
    functions=FUNCTIONS,
    extra="science",
    reset_s=120.0,
    step_s=300.0,  # the first action of a solution may take long on a busy machine
)
