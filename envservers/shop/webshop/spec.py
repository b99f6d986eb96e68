"""What is known of WebShop without its engine."""

from dataclasses import replace

from agentenv.functions import function
from agentenv.registry import RANDOM, Concurrency, EnvSpec, Option, Shortcut

ENV_ID = "webshop"
_AGENTS = "envservers.shop.webshop.shortcuts"

SPEC = EnvSpec(
    id=ENV_ID,
    version="1",
    gym_name="WebShop-v0",
    title="Find a product that fits a wish in a shop on the web, choose its options and buy it",
    entry="envservers.shop.webshop.env:WebShop",
    tasks="envservers.shop.webshop.tasks:make_tasks",
    concurrency=Concurrency.ANY_THREAD,
    max_steps=30,
    success_rule=(
        "The bought product is of the right kind and has every attribute, every option and a price within the limit: "
        "reward exactly 1. Otherwise the reward of the purchase is the share of these that it has, times a factor for "
        "its kind; all other steps have reward 0. The first purchase ends the episode."
    ),
    action_grammar=(
        "search[keywords]\n"
        "click[value], where value is what the page shows: a product id, a value of an option, Buy Now, Description, "
        "Features, Reviews, Next >, < Prev, Back to Search; capitals make no difference"
    ),
    options=(
        Option(
            name="observation",
            type=str,
            default="text",
            help="text: parts joined by [SEP]; text_rich: a line each, with buttons marked.",
            choices=("text", "text_rich"),
        ),
        Option(
            name="size",
            type=str,
            default="full",
            help="Of the seeded catalogue. full: 12,000 products; small: 2,000, for tests.",
            scope="server",
            choices=("full", "small"),
        ),
        Option(
            name="items",
            type=str,
            default="",
            help="WebShop's items_shuffle.json, or a part of it: the products to sell instead.",
            scope="server",
        ),
        Option(
            name="attributes",
            type=str,
            default="",
            help="WebShop's items_ins_v2.json: attributes of the products, and goals where no file of goals is given.",
            scope="server",
        ),
        Option(
            name="goals", type=str, default="", help="WebShop's items_human_ins.json: goals by people.", scope="server"
        ),
    ),
    snapshots=True,
    shortcuts=(
        replace(RANDOM, ceiling=0.02),
        Shortcut(
            name="first_hit",
            entry=f"{_AGENTS}:FirstHit",
            ceiling=0.15,
            about="searches the instruction as it stands and buys the first hit",
        ),
        Shortcut(
            name="named_options",
            entry=f"{_AGENTS}:NamedOptions",
            ceiling=0.30,
            about="the same, and clicks every option that the instruction names",
        ),
    ),
    world="agentenv-webshop-v1",
    replay="The version of SQLite, whose ranks are rounded before ties go by the product's id.",
    prompt="envservers.shop.webshop:prompt.yaml",
    functions=(
        function("search", "Search the shop.", "search[{keywords}]", keywords="for example `blue cotton shirt`"),
        function(
            "click",
            "Click on something that the page shows.",
            "click[{item}]",
            item="a product id, a value of an option, or a button such as `Buy Now`",
        ),
    ),
    malformed_text="Invalid action: {reason}. Answer with search[keywords] or click[value].",
    reset_s=900.0,  # the first one may build the catalogue
    step_s=60.0,
)
