"""What is known of Search without its engine."""

from agentenv.functions import function
from agentenv.registry import Concurrency, EnvSpec, Option, Shortcut

ENV_ID = "search"
_AGENTS = "envservers.search.shortcuts"

SPEC = EnvSpec(
    id=ENV_ID,
    version="1",
    gym_name="Search-v0",
    title="Search an encyclopedia in several turns and answer a question from what it says",
    entry="envservers.search.env:SearchEnv",
    tasks="envservers.search.tasks:make_tasks",
    concurrency=Concurrency.ANY_THREAD,
    max_steps=10,
    success_rule=(
        "The answer is one of the accepted ones after normalising (lower case, no punctuation, no articles). "
        "Reward 1.0 on that step, 0.0 on all others; score is the F1 of the answer's words."
    ),
    action_grammar=(
        "<search>query</search>: answered by <information>...</information>\n"
        "<answer>answer</answer>: ends the episode; `unanswerable` when the passages do not say\n"
        "One of the two a turn; <think>...</think> may stand around it."
    ),
    options=(
        Option(name="topk", type=int, default=3, help="Passages that a search shows.", low=1, high=10),
        Option(
            name="size",
            type=str,
            default="full",
            help="Of the encyclopedia. full: 24,000 passages; small: 4,000, for tests.",
            scope="server",
            choices=("full", "small"),
        ),
        Option(name="corpus", type=str, default="", help="JSONL file of passages to search instead.", scope="server"),
        Option(
            name="questions",
            type=str,
            default="",
            help="JSONL or JSON file of questions with answers, or a folder of them, one file a split.",
            scope="server",
        ),
        Option(
            name="retriever",
            type=str,
            default="bm25",
            help="bm25, dense (vectors of a sentence-transformers model), or the http address of a server to ask.",
            scope="server",
        ),
        Option(
            name="dense_model",
            type=str,
            default="",
            help="Folder of a sentence-transformers model; else all-MiniLM-L6-v2 of the extra dense.",
            scope="server",
        ),
        Option(
            name="match",
            type=str,
            default="classic",
            help="classic: exact match as SQuAD counts it; robust: also typographic forms, and decimal points count.",
            scope="server",
            choices=("classic", "robust"),
        ),
    ),
    snapshots=True,
    shortcuts=(
        Shortcut(
            name="top_title",
            entry=f"{_AGENTS}:TopTitle",
            ceiling=0.05,
            about="searches the question and answers with the first title",
        ),
        Shortcut(
            name="frequent",
            entry=f"{_AGENTS}:Frequent",
            ceiling=0.05,
            about="answers with the relation's most frequent answer in train",
        ),
        Shortcut(
            name="first_named",
            entry=f"{_AGENTS}:FirstNamed",
            ceiling=0.072,  # 60 % of the comparisons, which are 12 % of a split
            about="answers with the first thing named, or yes",
        ),
        Shortcut(
            name="unanswerable", entry=f"{_AGENTS}:Unanswerable", ceiling=0.10, about="says that there is no answer"
        ),
    ),
    world="agentenv-search-v1",
    last_action_decides=True,
    unreplayable="envservers.search.tasks:unreplayable",
    replay=(
        "Equal everywhere with BM25, whose scores are rounded and whose ties go by passage; dense and remote "
        "retrievers promise nothing."
    ),
    prompt="envservers.search:prompt.yaml",
    functions=(
        function("search", "Search the encyclopedia.", "<search>{query}</search>", query={"type": "string"}),
        function(
            "answer",
            "Answer the question; this ends the episode.",
            "<answer>{answer}</answer>",
            answer={"type": "string"},
        ),
    ),
    malformed_text="Invalid turn: {reason}. Write <search>query</search> or <answer>answer</answer>.",
    extra="search",
    reset_s=300.0,  # the first one may build the encyclopedia
    step_s=60.0,
)
