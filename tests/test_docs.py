"""The documents tell the truth: their blocks run, their options exist, and no command is missing.

A fenced block says after its language what the tests do with it:

- `run`: executed in an empty folder; it must end with exit code 0.
- `slow`: the same, where it takes long or needs torch: only with `--runslow`.
- `serve` (console): the first line starts a server, the others probe it; the server is then stopped.
- `ci` (console): what continuous integration itself runs, `make demo` and `make test` alone; an HTML comment before
  the block gives the reason.
- `text`: data, output or a fragment; not run. Options of `agentenv` commands in it are checked all the same.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from agentenv.cli.main import app
from agentenv.errors import EnvUnavailable
from agentenv.registry import specs

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
TAGS = {"run", "slow", "serve", "ci", "text"}
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
INLINE = re.compile(r"(?<!`)`(agentenv [^`\n]+)`(?!`)")
CI_COMMANDS = {"make demo", "make test", "make install", ".ci/run"}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block and where it stands."""

    page: str
    line: int
    info: str
    text: str
    before: str
    """The last line above it that is not blank."""

    @property
    def language(self) -> str:
        return self.info.split()[0] if self.info.split() else ""

    @property
    def tag(self) -> str:
        return self.info.split()[-1] if self.info.split() else ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(text: str, page: str) -> list[Block]:
    """Every fenced block of a page; a fence that is never closed fails."""
    found: list[Block] = []
    opened: tuple[int, str] | None = None
    body: list[str] = []
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and opened is None:
            opened, body = (number, fence["info"].strip()), []
        elif fence and opened is not None:
            found.append(Block(page, opened[0], opened[1], "\n".join(body) + "\n", before))
            opened, before = None, line
        elif opened is not None:
            body.append(line)
        elif line.strip():
            before = line.strip()
    assert opened is None, f"{page}:{opened[0]}: the block is never closed"
    return found


def page_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


BLOCKS = [block for page in PAGES for block in blocks_of(page.read_text(encoding="utf-8"), page_name(page))]


def tagged(tag: str) -> list[Block]:
    return [block for block in BLOCKS if block.tag == tag]


def shell_commands(block: Block) -> list[list[str]]:
    """The commands of a console block as words, comments and continuation lines taken care of."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line.removeprefix("$ "), comments=True))]


def agentenv_calls() -> list[tuple[str, list[str]]]:
    """Where, and the words after `agentenv`, of each call in a console or text block or in a line of text."""
    calls = []
    for block in BLOCKS:
        if block.language not in ("console", "bash", "sh"):
            continue
        for words in shell_commands(block):
            for at, word in enumerate(words):
                if word == "agentenv" or word.endswith("/agentenv"):
                    calls.append((str(block), words[at + 1 :]))
                    break
    for page in PAGES:
        prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        calls += [
            (page_name(page), span.replace("[", " ").replace("]", " ").split()[1:]) for span in INLINE.findall(prose)
        ]
    return calls


def command_tree() -> dict[tuple[str, ...], set[str]]:
    """Each command by its words, with its options."""
    tree = {}

    def walk(command, words):
        context = typer.Context(command, info_name=" ".join(("agentenv", *words)))
        tree[words] = {name for p in command.get_params(context) for name in (*p.opts, *p.secondary_opts)}
        if hasattr(command, "list_commands"):
            for name in command.list_commands(context):
                walk(command.get_command(context, name), (*words, name))

    walk(typer.main.get_command(app), ())
    return tree


@pytest.fixture(scope="module")
def tree():
    return command_tree()


@pytest.fixture
def environment(tmp_path):
    """For the programs of the documents: this interpreter first, a home of their own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("AGENTENV_")}
    return {**clean, "PATH": path, "AGENTENV_HOME": str(tmp_path / "home"), "COLUMNS": "120"}


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_says_what_the_tests_do_with_it(block):
    assert block.tag in TAGS, f"{block}: tag the block after its language, one of {sorted(TAGS)}: ```{block.info}"
    if block.tag in ("run", "slow"):
        assert block.language in ("python", "console"), f"{block}: only python and console blocks run"
    if block.tag in ("serve", "ci"):
        assert block.language == "console"


@pytest.mark.parametrize("block", tagged("ci"), ids=str)
def test_only_what_ci_itself_runs_is_left_to_ci(block):
    assert {" ".join(words) for words in shell_commands(block)} <= CI_COMMANDS
    assert re.fullmatch(r"<!-- .{10,} -->", block.before), (
        f"{block}: give the reason in an HTML comment above the block"
    )


SLOW = [
    pytest.param(block, id=str(block), marks=[pytest.mark.slow, pytest.mark.timeout(400)]) for block in tagged("slow")
]


@pytest.mark.parametrize("block", [*tagged("run"), *SLOW], ids=str)
def test_blocks_tagged_run_do_run(block, environment, tmp_path):
    program = [sys.executable, "-"] if block.language == "python" else ["bash", "-e"]
    folder = tmp_path / "work"
    folder.mkdir()
    done = subprocess.run(
        program,
        input=block.text,
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=360 if block.tag == "slow" else 100,
    )
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("block", tagged("serve"), ids=str)
def test_blocks_tagged_serve_start_a_server_and_probe_it(block, environment, tmp_path):
    first, *probes = block.text.strip().splitlines()
    if "curl" in block.text and not shutil.which("curl"):
        pytest.skip("curl is not installed")
    words = [word for word in shlex.split(first, comments=True) if word != "&"]
    with subprocess.Popen(
        ["env", *words, "--port", "0", "--json"], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            ready = server.stdout.readline()
            assert ready, f"{block}: the server did not start"
            script = re.sub(r"(http://)?(127\.0\.0\.1|localhost):8000", json.loads(ready)["url"], "\n".join(probes))
            done = subprocess.run(
                ["bash", "-eo", "pipefail"],
                input=script,
                env=environment,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
            assert '"code":' not in done.stdout, f"{block}: a probe was answered with a problem\n{done.stdout}"
        finally:
            server.terminate()
            server.wait(15)


def test_every_command_and_option_that_is_shown_exists(tree):
    wrong = []
    for where, words in agentenv_calls():
        command: tuple[str, ...] = ()
        while words and (*command, words[0]) in tree:
            command, words = (*command, words[0]), words[1:]
        if not command and words and words[0].islower() and words[0].isalpha():
            wrong.append(f"{where}: no command `agentenv {words[0]}`")
        shown = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
        wrong += [
            f"{where}: `agentenv {' '.join(command)}` has no {o}" for o in sorted(shown - tree[command] - {"--help"})
        ]
    assert not wrong, "\n".join(wrong)


def test_every_command_appears_in_the_documents(tree):
    prose = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    leaves = [words for words in tree if words and not any(other[: len(words)] == words != other for other in tree)]
    assert not [w for words in leaves if (w := f"agentenv {' '.join(words)}") not in prose]


def test_the_table_of_environments_has_each_one_with_its_numbers_of_tasks():
    lines = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith("| [") and "](envs/" in line
    ]
    ours = {spec.id: spec for spec in specs() if spec.entry.startswith("envservers.")}
    assert sorted(re.findall(r"\[(\w+)\]", "".join(row[0] for row in rows))) == sorted(ours)
    for first, _, train, dev, test, others, _ in rows:
        env = first[1 : first.index("]")]
        shown = dict(train=train, dev=dev, test=test) | dict(other.split() for other in others.split(", ") if other)
        try:
            tasks = ours[env].task_set()
        except EnvUnavailable:
            continue
        assert {split: int(count.replace(",", "")) for split, count in shown.items()} == {
            split: tasks.count(split) for split in tasks.splits()
        }, env


def test_links_between_pages_lead_somewhere():
    lost = []
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                lost.append(f"{page_name(page)}: {link}")
    assert not lost


def test_untagged_and_unclosed_blocks_are_found():
    found = blocks_of("Text.\n\n```python\nx = 1\n```\n\n<!-- why -->\n```console ci\nmake test\n```\n", "page.md")
    assert [(b.line, b.language, b.tag, b.before) for b in found] == [
        (3, "python", "python", "Text."),
        (8, "console", "ci", "<!-- why -->"),
    ]
    with pytest.raises(AssertionError, match="never closed"):
        blocks_of("```text\n", "page.md")
