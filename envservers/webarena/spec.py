"""What is known of the web environment without its engines."""

from agentenv.registry import Concurrency, EnvSpec, Listing, Option, Shortcut
from envservers.webarena.functions import FUNCTIONS


def _shortcut(name: str, ceiling: float, about: str) -> Shortcut:
    return Shortcut(name=name, entry=f"envservers.webarena.shortcuts:{name}", ceiling=ceiling, about=about)


SPEC = EnvSpec(
    id="webarena",
    version="1",
    gym_name="WebArena-v0",
    title="WebArena-style tasks on websites of our own: a shop, its administration and a homepage",
    entry="envservers.webarena.env:WebArenaEnv",
    tasks="envservers.webarena.tasks.task_set:make_tasks",
    concurrency=Concurrency.ASYNC,
    max_steps=30,  # every task has a smaller limit of its own: twice its scripted solution and five more, at least 10
    success_rule=(
        "Every check of the task holds at the end: the answer by its type, the page's address, the form's fields, the "
        "requests made, and the changes of the database with no other change."
    ),
    action_grammar=(
        "click [id]\n"
        "hover [id]\n"
        "type [id] [text] [0|1]: replaces what the field holds; 1 (the default) presses Enter\n"
        "select [id] [option]\n"
        "press [keys]\n"
        "scroll [up|down]\n"
        "new_tab\n"
        "tab_focus [number]\n"
        "close_tab\n"
        "goto [url]\n"
        "go_back\n"
        "go_forward\n"
        "stop [answer]: ends the episode; N/A when the task cannot be done"
    ),
    options=(
        Option(
            name="engine",
            type=str,
            default="auto",
            help="chromium: a real browser; lite: our own reading of the pages; auto: chromium where one is found.",
            choices=("auto", "chromium", "lite"),
            unsettled=("auto",),
        ),
        Option(
            name="view",
            type=str,
            default="viewport",
            help="viewport: one screen of the page, scroll for more; full: the whole page.",
            choices=("viewport", "full"),
        ),
        Option(
            name="dialect",
            type=str,
            default="classic",
            help="classic: the accessibility tree; html: the elements with their attributes.",
            choices=("classic", "html"),
        ),
        Option(
            name="parser",
            type=str,
            default="lenient",
            help="lenient: forgives spelling; original: WebArena's own grammar, bit for bit.",
            choices=("lenient", "original"),
        ),
        Option(
            name="type_rule",
            type=str,
            default="replace",
            help="replace: typed text replaces what a field holds. As the original, with chromium and parser=original "
            "alone: append puts it at the end, point where a click into the middle of the field puts the caret.",
            choices=("replace", "append", "point"),
        ),
        Option(
            name="size",
            type=str,
            default="medium",
            help="Of the world. medium: 1,200 products; small: 120, for tests.",
            choices=("medium", "small"),
        ),
    ),
    images=True,
    snapshots=True,
    snapshot_options={"engine": "lite"},
    listings=(
        Listing(
            name="original",
            entry="envservers.webarena.tasks.original:original_rows",
            about="the 812 tasks of WebArena, which need sites of your own",
        ),
        Listing(
            name="verified",
            entry="envservers.webarena.tasks.original:verified_rows",
            about="the tasks of WebArena-Verified, which need sites of your own",
        ),
    ),
    needs=(),
    shortcuts=(
        _shortcut("stop_at_once", 0.0, "stops before it has done anything"),
        _shortcut("not_available", 0.0, "says of every task that it cannot be done"),
        _shortcut("start_page", 0.05, "answers with the first number that the start page shows"),
        _shortcut("random_walk", 0.01, "clicks by chance, then answers with a text that it saw"),
        _shortcut("nearest_words", 0.08, "clicks what shares most words with the objective, then answers from there"),
    ),
    world="agentenv-webarena-v1",
    replay="With engine=lite nothing; with engine=chromium the browser's build, its fonts and the size of the screen.",
    prompt="envservers.webarena:prompt.yaml",
    other_prompts={"webarena": "envservers.webarena:prompt_fenced.yaml"},
    functions=FUNCTIONS,
    extra="web",
    reset_s=60.0,
    step_s=60.0,
)

SPECS: list[EnvSpec] = [SPEC]
