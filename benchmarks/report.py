"""The section of docs/benchmarks.md about env steps, from the results of one run."""

NAMES = {
    ("openenv", "websocket"): "OpenEnv, its WebSocket client",
    ("agentenv", "websocket"): "agentenv, WebSocket",
    ("agentenv", "websocket batch"): "agentenv, WebSocket, batch",
    ("agentenv", "http"): "agentenv, HTTP",
    ("agentenv", "http batch"): "agentenv, HTTP, batch",
    ("ceiling", "single"): "bare WebSocket, one step a message",
    ("ceiling", "batch"): "bare WebSocket, lists of steps",
}
AT = 64
"""Sessions at which the ratios are given, where they were measured."""


def page(results: dict) -> str:
    """Ratios first, then the rates, the machine, and how it was done."""
    rates, cpu = {}, {}
    for row in results["rows"]:
        place = row["side"], row["way"], row["sessions"]
        rates[place], cpu[place] = row["steps_per_s"], row["client_us"] + row["server_us"]
    counts = sorted({row["sessions"] for row in results["rows"]})
    at = AT if AT in counts else counts[-1]
    tables = [
        *_table("Env steps per second, by number of sessions:", rates, counts, ",.0f"),
        *_table("CPU time of client and server together, in microseconds per step:", cpu, counts, ",.1f"),
    ]
    return "\n".join([*_head(), *_ratios(rates, cpu, at), *tables, *_machine(results), *_method(), ""])


def _head() -> list[str]:
    return [
        "## Env steps per second",
        "",
        "Written by `make bench`.",
        "",
    ]


def _ratios(rates: dict, cpu: dict, at: int) -> list[str]:
    openenv, single, batch = ("openenv", "websocket", at), ("ceiling", "single", at), ("ceiling", "batch", at)
    socket, lists = ("agentenv", "websocket", at), ("agentenv", "websocket batch", at)
    return [
        f"At {at} sessions, with a 256-character action and one fixed reply of 1 KB on every side:",
        "",
        f"- by WebSocket **{rates[socket] / rates[openenv]:.1f} times** the steps per second of OpenEnv, by batch "
        f"**{rates[lists] / rates[openenv]:.1f} times**; per step {cpu[openenv] / cpu[socket]:.1f} and "
        f"{cpu[openenv] / cpu[lists]:.1f} times less CPU time;",
        f"- **{rates[socket] / rates[single]:.0%}** of what a bare WebSocket carries one step a message, "
        f"**{rates[lists] / rates[batch]:.0%}** of what it carries in lists of steps.",
        "",
    ]


def _table(title: str, values: dict, counts: list[int], form: str) -> list[str]:
    rows = [
        "| " + " | ".join([name, *(format(values[side, way, n], form) for n in counts)]) + " |"
        for (side, way), name in NAMES.items()
    ]
    return [title, "", "| | " + " | ".join(map(str, counts)) + " |", "|---|" + "---:|" * len(counts), *rows, ""]


def _machine(results: dict) -> list[str]:
    about = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(about["versions"].items()))
    return [
        f"Machine: {about['cpu']}, {about['cores']} cores for server and client together, {about['system']}, "
        f"Python {about['python']}; load average {about['load_1m']} before and {about['load_1m_after']} after. "
        f"Versions: {versions}. Medians of {results['rounds']} rounds of {results['seconds']:g} s each.",
        "",
    ]


def _method() -> list[str]:
    return [
        "### How it is measured",
        "",
        "- Every side has one server process and one client process, both on uvloop, no compression, no access log. "
        "OpenEnv runs in a virtual environment of its own with its own server class, its own client, and uvloop and "
        "httptools, which its package does not bring.",
        "- The environment answers every action with the same text, so that nothing but the way there and back is "
        "measured. OpenEnv holds one socket a session; agentenv holds one for all. Its client numbers every step, "
        "and its server keeps the last reply of each session, so that a step that is sent again is not done again.",
        "- One step after the other: each session sends its next step when the last one is answered. Batch: the next "
        "steps of all sessions travel in one message, as the vector client sends them.",
        "- The bare WebSocket has no sessions, positions, limits or checks: it decodes an envelope and encodes the "
        "fixed reply (`benchmarks/ceiling.py`). agentenv's client puts steps that are due at the same moment into one "
        "message, which the bare one does not; that is how it can come out above it.",
        "- The ways alternate within each round, so that a busy moment of the machine meets all of them. Rates suffer "
        "from other work on the machine, CPU time per step hardly does.",
        "",
        "The rates of one environment by every way to it are printed by `agentenv bench ENV`.",
    ]
