"""Opening prompts and completion formats: YAML files, versioned, read from packages."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from string import Template
from typing import TypeVar

from agentenv.errors import BadAgent
from agentenv.protocol import digest_of
from agentenv.registry import EnvSpec

T = TypeVar("T")

GENERIC = "agentenv.agents:prompts/generic.yaml"
"""For an env without a prompt of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What a completion must look like: three marker words, each followed by a colon at the start of a line."""

    name: str
    version: str
    thought: str
    action: str
    observation: str
    shape: str
    """The form as a model is shown it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """How a conversation opens."""

    version: str
    format: str
    """Name of the completion format that it asks for."""
    opening: str
    """First message, the user's."""
    acknowledgement: str
    """Second message, put into the assistant's mouth."""


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


def opening_of(spec: EnvSpec) -> Opening:
    """The env's own prompt, or the generic one made from its card; BadAgent names a file that cannot be used."""
    source = spec.prompt or GENERIC
    prompt = _prompt(source)
    format = load_format(prompt.format, wanted_by=source)
    if not spec.prompt:
        words = {"title": spec.title, "actions": spec.action_grammar, "shape": format.shape}
        prompt = Prompt(
            version=prompt.version,
            format=prompt.format,
            opening=Template(prompt.opening).substitute(words),
            acknowledgement=prompt.acknowledgement,
        )
    return Opening(prompt=prompt, format=format, source=source)


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
    if not isinstance(record, Mapping) or sorted(record) != sorted(names):
        found = ", ".join(map(str, record)) if isinstance(record, Mapping) else type(record).__name__
        raise BadAgent(f"{source}: must have the keys {', '.join(names)}; it has {found}")
    words = {
        n: str(v).strip() if isinstance(v, str) or (n == "version" and type(v) is int) else ""
        for n, v in record.items()
    }
    wrong = [n for n in names if not words[n]]
    if wrong:
        raise BadAgent(f"{source}: must be text: {', '.join(wrong)}")
    return kind(**words)
