"""What is known of Math without its engine."""

from agentenv.functions import function
from agentenv.registry import Concurrency, EnvSpec, Option, Shortcut

ENV_ID = "math"
_AGENTS = "envservers.math.shortcuts"


SPEC = EnvSpec(
    id=ENV_ID,
    version="1",
    gym_name="Math-v0",
    title="Word problems, answered with a number at once or with a calculator",
    entry="envservers.math.env:MathEnv",
    tasks="envservers.math.tasks:make_tasks",
    concurrency=Concurrency.ANY_THREAD,  # a long reply takes over 1 ms to read
    max_steps=16,  # with mode=answer the first reply ends the episode
    success_rule=(
        "The final answer is the right number, exactly; how it is written does not matter (commas, currency, percent "
        "sign, fractions, a unit). Reward 1.0 on that step, 0.0 on all others."
    ),
    action_grammar=(
        "#### number: the final answer, with any reasoning before it; \\boxed{number} is read alike\n"
        "calculate[expression]: with mode=calculator, answered by its value; + - * / // % ** and parentheses"
    ),
    options=(
        Option(
            name="mode",
            type=str,
            default="answer",
            help="answer: one reply, which is the answer; calculator: several turns with a calculator.",
            choices=("answer", "calculator"),
        ),
        Option(
            name="gsm8k",
            type=str,
            default="",
            help="Parquet file of GSM8K's form, or a folder of them, to ask instead.",
            scope="server",
        ),
    ),
    snapshots=True,
    shortcuts=(
        Shortcut(
            name="most_common",
            entry=f"{_AGENTS}:MostCommon",
            ceiling=0.02,
            about="gives the most common answer that train has for the template",
        ),
        Shortcut(
            name="last_number",
            entry=f"{_AGENTS}:LastNumber",
            ceiling=0.03,
            about="gives the last number of the text",
        ),
        Shortcut(name="sum", entry=f"{_AGENTS}:Sum", ceiling=0.05, about="adds up all numbers of the text"),
        Shortcut(name="product", entry=f"{_AGENTS}:Product", ceiling=0.05, about="multiplies all numbers of the text"),
        Shortcut(
            name="two_numbers",
            entry=f"{_AGENTS}:TwoNumbers",
            ceiling=0.05,
            about="adds, subtracts, multiplies or divides two numbers of the text, drawn by chance",
        ),
    ),
    world="agentenv-math-v1",
    last_action_decides=True,
    replay="Equal everywhere: nothing but the task and the actions decides.",
    prompt="envservers.math:prompt.yaml",
    functions=(
        function(
            "answer",
            "Give the final answer; this ends the episode.",
            "#### {number}",
            number={"type": ["number", "string"], "description": "A number, or a text such as 3/4."},
        ),
        function(
            "calculate",
            "Work out an expression, where the problem comes with a calculator; elsewhere it counts as a wrong answer.",
            "calculate[{expression}]",
            expression="Numbers, + - * / // % ** and parentheses, such as 12 * (7 + 3).",
        ),
    ),
    malformed_text="Invalid reply: {reason}. End it with a line such as `#### 42`.",
)
