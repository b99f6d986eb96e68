"""Opening prompts and completion formats: YAML files, versioned, read from packages."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from importlib.resources import files
from string import Template
from typing import TypeVar

from agentenv.errors import BadAgent
from agentenv.functions import FunctionTable
from agentenv.protocol import digest_of
from agentenv.registry import EnvSpec

T = TypeVar("T")

GENERIC = "agentenv.agents:prompts/generic.yaml"
"""For an env without a prompt of its own."""
BY_FORMAT: Mapping[str, str] = {
    "react": GENERIC,
    "plain": "agentenv.agents:prompts/plain.yaml",
    "function_calling": "agentenv.agents:prompts/function_calling.yaml",
    "code_as_action": "agentenv.agents:prompts/code_as_action.yaml",
}
"""For an env whose own prompt asks for another format than the one wanted."""
NATIVE_TOOLS = "agentenv.agents:prompts/tools.yaml"
"""For the format function_calling where the endpoint itself shows the functions to the model."""
CALLS = ("", "json", "python")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What a completion must look like: three marker words, each followed by a colon at the start of a line.

    Without any marker word a completion is nothing but its action, or one call of a function where `call` says so.
    """

    name: str
    version: str
    thought: str
    action: str
    observation: str
    shape: str
    """The form as a model is shown it."""
    call: str = ""
    """Empty, or how a call of a function is written: `json` or `python`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """How a conversation opens."""

    version: str
    format: str
    """Name of the completion format that it asks for."""
    opening: str
    """First message, the user's; may be empty: then the conversation is observations and completions alone."""
    acknowledgement: str
    """Second message, put into the assistant's mouth; may be empty, and is where the opening is."""
    rules: str = ""
    """What an agent must know beside the title, whatever its format; shown by the prompts of other formats."""

    @property
    def messages(self) -> list[dict[str, str]]:
        """What stands before the first observation."""
        said = {"user": self.opening, "assistant": self.acknowledgement}
        return [{"role": role, "content": text} for role, text in said.items() if text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A prompt made ready for one env."""

    prompt: Prompt
    format: Format
    source: str
    """`package:file`"""

    def describe(self) -> dict[str, str]:
        """What identifies the words that a model was given."""
        words = [self.prompt.opening, self.prompt.acknowledgement]
        return {
            "source": self.source,
            "version": self.prompt.version,
            "format": f"{self.format.name}@{self.format.version}",
            "digest": digest_of(words),
        }


def opening_of(spec: EnvSpec, wanted: str | None = None, *, native_tools: bool = False) -> Opening:
    """The env's own prompt, or one made from its card where it has none, or none for the `wanted` format.

    `native_tools`: the endpoint shows the functions itself. BadAgent names a file that cannot be used.
    """
    source = spec.prompt or GENERIC
    prompt = _prompt(source)
    rules = prompt.rules
    if native_tools or (wanted is not None and wanted != prompt.format):
        source = NATIVE_TOOLS if native_tools else _source_for(wanted or "", spec, prompt)
        prompt = _prompt(source)
    format = load_format(prompt.format, wanted_by=source)
    if format.call and not spec.functions:
        raise BadAgent(f"{spec.id} has no functions to call; play it with --agent react")
    if source in (*BY_FORMAT.values(), NATIVE_TOOLS):
        words = {
            "title": spec.title,
            "actions": spec.action_grammar,
            "shape": format.shape,
            "rules": f"\n{rules}\n" if rules else "",
            "functions": FunctionTable.of(spec.functions).words() if format.call else "",
        }
        prompt = replace(prompt, opening=Template(prompt.opening).substitute(words))
    return Opening(prompt=prompt, format=format, source=source)


def _source_for(wanted: str, spec: EnvSpec, own: Prompt) -> str:
    load_format(wanted)
    if wanted in spec.other_prompts:
        return spec.other_prompts[wanted]
    if wanted not in BY_FORMAT:
        raise BadAgent(f"{spec.id} has no prompt for the format {wanted!r}; its own is for {own.format!r}")
    return BY_FORMAT[wanted]


def load_format(name: str, *, wanted_by: str = "") -> Format:
    """The format of a name; BadAgent lists those there are."""
    folder = files("agentenv.agents") / "formats"
    names = sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))
    if name not in names:
        raise BadAgent(f"{wanted_by or 'agent'}: no format {name!r}; there are: {', '.join(names)}")
    return _format(name)


@functools.cache
def _format(name: str) -> Format:
    return _read(f"agentenv.agents:formats/{name}.yaml", Format)


@functools.cache
def _prompt(source: str) -> Prompt:
    return _read(source, Prompt)


def _read(source: str, kind: type[T]) -> T:
    """A file of a package as a record of text fields, all of them and no others."""
    import yaml

    package, _, path = source.partition(":")
    try:
        text = files(package).joinpath(path).read_text(encoding="utf-8")
        record = yaml.safe_load(text)
    except (ImportError, OSError, ValueError, yaml.YAMLError) as exc:
        raise BadAgent(f"{source}: cannot be read as YAML: {type(exc).__name__}: {exc}") from exc
    names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    needed = [f.name for f in fields(kind) if f.default is MISSING]  # type: ignore[arg-type]
    if not isinstance(record, Mapping) or not set(needed) <= set(record) <= set(names):
        found = ", ".join(map(str, record)) if isinstance(record, Mapping) else type(record).__name__
        raise BadAgent(f"{source}: must have the keys {', '.join(needed)}; it has {found}")
    words = {n: str(v).strip() for n, v in record.items() if isinstance(v, str) or (n == "version" and type(v) is int)}
    wrong = [n for n in record if n not in words or not (words[n] or n in _may_be_empty(words))]
    if wrong or words.get("call", "") not in CALLS:
        raise BadAgent(f"{source}: must be text: {', '.join(wrong) or 'call, one of json and python'}")
    return kind(**words)


def _may_be_empty(words: Mapping[str, str]) -> frozenset[str]:
    """Fields that may be empty: the marker words only together, and an acknowledgement only without an opening."""
    if "shape" in words:
        markers = {"thought", "action", "observation"}
        return frozenset() if any(words.get(n) for n in markers) else frozenset(markers)
    return (
        frozenset()
        if words.get("opening") or words.get("acknowledgement")
        else frozenset({"opening", "acknowledgement"})
    )
