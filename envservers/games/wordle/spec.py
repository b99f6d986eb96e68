"""What is known of Wordle without its engine and its word lists."""

from agentenv.functions import function
from agentenv.registry import RANDOM, Concurrency, EnvSpec, Option

SPEC = EnvSpec(
    id="wordle",
    version="1",
    gym_name="Wordle-v0",
    title="Wordle: find a hidden word of five letters in six guesses",
    entry="envservers.games.wordle.env:Wordle",
    tasks="envservers.games.wordle.tasks:make_tasks",
    concurrency=Concurrency.INLINE,
    max_steps=8,  # the game ends by itself at six tries; two completions that do not parse are forgiven
    success_rule="The hidden word was guessed within six tries; an invalid word uses up a try.",
    action_grammar=(
        "<word>: five letters, together or separated by blanks, in any case: `s h i r e`, `shire`, `SHIRE`\n"
        "guess <word>: the same"
    ),
    options=(
        Option(
            name="show_vocabulary",
            type=bool,
            default=False,
            help="List every word that may be guessed in the first observation.",
        ),
        Option(
            name="word",
            type=str,
            default=None,
            help="Fix the hidden word of every task, for debugging; each split then has one task.",
            scope="server",
        ),
    ),
    snapshots=True,
    shortcuts=(RANDOM,),
    licence="Apache-2.0; word lists from SCOWL (permissive, see data/COPYRIGHT.scowl)",
    world="agentenv-wordle-v1",
    replay="Equal everywhere: nothing but the task and the actions decides.",
    prompt="envservers.games.wordle:prompt.yaml",
    functions=(
        function(
            "guess",
            "Guess the hidden word.",
            "{word}",
            word={
                "type": "string",
                "description": "Five letters.",
                "examples": ["shire"],
            },
        ),
    ),
)
