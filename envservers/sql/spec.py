"""What is known of SQL without its engine."""

from agentenv.functions import function
from agentenv.registry import Concurrency, EnvSpec, Option, Shortcut

ENV_ID = "sql"
_AGENTS = "envservers.sql.shortcuts"
_QUERY = "One SELECT statement of SQLite."


SPEC = EnvSpec(
    id=ENV_ID,
    version="1",
    gym_name="SQL-v0",
    title="Answer a question about a database by one SQL query",
    entry="envservers.sql.env:SQLEnv",
    tasks="envservers.sql.tasks:make_tasks",
    concurrency=Concurrency.ANY_THREAD,
    max_steps=15,  # one in mode single
    success_rule=(
        "The submitted query gives the same result as the gold query in the database shown and in two hidden ones of "
        "the same schema: same columns in order, every row as often, numbers equal within 1e-9, rows in order where "
        "the question asks for an order. Reward 1.0 on that step, 0.0 on all others."
    ),
    action_grammar=(
        "mode single: one SQL query, fenced (```sql ... ```) or bare; it is the answer\n"
        "mode multi: tables | describe TABLE | query SQL | submit SQL\n"
        "submit ends the episode. SQL is one SELECT of SQLite, at most 10,000 characters, on one line or several."
    ),
    options=(
        Option(
            name="mode",
            type=str,
            default="single",
            help="single: the schema is shown, one query is the answer; multi: look around, try queries, submit.",
            choices=("single", "multi"),
        ),
        Option(name="rows", type=int, default=20, help="Rows of a result that are shown.", low=1, high=100),
        Option(
            name="match",
            type=str,
            default="strict",
            help="strict: typed, with duplicates, ordered where asked; set: equal sets of rows, as BIRD counts.",
            scope="server",
            choices=("strict", "set"),
        ),
        Option(
            name="folder",
            type=str,
            default="",
            help="Folder of BIRD's or Spider's layout whose questions are asked instead.",
            scope="server",
        ),
        Option(
            name="evidence",
            type=bool,
            default=False,
            help="Show the evidence that a question of the folder comes with.",
            scope="server",
        ),
    ),
    snapshots=True,
    shortcuts=(
        Shortcut(name="constant", entry=f"{_AGENTS}:Constant", ceiling=0.01, about="answers with a small number"),
        Shortcut(
            name="count_rows", entry=f"{_AGENTS}:CountRows", ceiling=0.01, about="counts the rows of a table it draws"
        ),
        Shortcut(
            name="named_table",
            entry=f"{_AGENTS}:NamedTable",
            ceiling=0.01,
            about="counts the rows of the table that the question names",
        ),
        Shortcut(name="empty", entry=f"{_AGENTS}:Empty", ceiling=0.01, about="answers with no rows"),
        Shortcut(
            name="first_column",
            entry=f"{_AGENTS}:FirstColumn",
            ceiling=0.01,
            about="shows the name column of the table that the question names",
        ),
    ),
    world="agentenv-sql-v1",
    last_action_decides=True,
    replay=(
        "The version of SQLite, where a query leaves the choice of rows to it; limits count instructions, never "
        "seconds."
    ),
    prompt="envservers.sql:prompt.yaml",
    functions=(
        function("list_tables", "List the tables of the database. Only in mode multi.", "tables"),
        function(
            "describe_table",
            "Show the columns of a table, its keys and what some columns hold. Only in mode multi.",
            "describe {table}",
            table="The name of the table.",
        ),
        function("run_query", "Run a query and see its result. Only in mode multi.", "query {sql}", sql=_QUERY),
        function("submit_query", "Answer with a query; this ends the episode.", "submit {sql}", sql=_QUERY),
    ),
    malformed_text=(
        "Invalid action: {reason}. Answer with one SQL query or, where you may look around, with tables, "
        "describe TABLE, query SQL or submit SQL."
    ),
    reset_s=120.0,  # the first one of a schema makes its databases
    step_s=120.0,  # a query is bounded by instructions; this is for a machine that is very busy
)
