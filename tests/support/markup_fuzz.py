"""Random pages of the frozen vocabulary, always well formed, by seed."""

from __future__ import annotations

import random
from collections.abc import Callable

WORDS = ("Add", "to", "cart", "3", "Total:", "price", "it's", "“new”", "a\xa0b", "Ship", "x.", "—", "1,200", "Größe")
SPACES = ("", "", "", " ", " ", "\n", "  ", "\n  ")
BOXES = ("message", "check", "actions", "facts", "search", "picker", "side", "field", "top")
"""Classes that base.css lays out as flex or grid, and some that it does not."""
TEXTS = ("badge", "button", "quiet", "hint", "was")
KINDS = ("text", "search", "email", "password", "tel", "number", "checkbox", "radio", "hidden", "submit")


class Fuzz:
    """Writes one page."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ids: list[str] = []
        self.wanted: list[str] = []
        self.inside: set[str] = set()
        self.size = 0
        self.blocks: tuple[Callable[[int], str], ...] = (
            self.div, self.div, self.paragraph, self.heading, self.list_of, self.form, self.table, self.facts,
            self.landmark, self.fold, self.fieldset, self.quote, self.rule, self.role_box, self.labelled,
        )  # fmt: skip
        self.inlines: tuple[Callable[[int], str], ...] = (
            self.text, self.text, self.text, self.link, self.span, self.plain, self.plain, self.image, self.drawing,
            self.button, self.input, self.select, self.area, self.label, self.line_break, self.hidden,
        )  # fmt: skip

    def page(self) -> str:
        """The body of a page."""
        body = self.flow(4, most=6)
        for name in self.wanted:
            if name not in self.ids:
                body += f'<p id="{name}">{self.flow_inline(1)}</p>'
                self.ids.append(name)
        return body

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def words(self) -> str:
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randint(1, 3)))

    def space(self) -> str:
        return self.random.choice(SPACES)

    def text(self, depth: int = 0) -> str:
        return self.space() + self.words() + self.space()

    def name_attributes(self, share: float = 0.15) -> str:
        written = ""
        if self.chance(share):
            written += f' aria-label="{self.words()}"'
        elif self.chance(share / 3):
            names = [f"r{self.random.randint(1, 3)}" for _ in range(self.random.randint(1, 2))]
            self.wanted += [name for name in names if name not in self.wanted]
            written += f' aria-labelledby="{" ".join(names)}"'
        return written + self.title(share)

    def title(self, share: float = 0.1) -> str:
        return f' title="{self.words()}"' if self.chance(share) else ""

    def described(self) -> str:
        if self.chance(0.9):
            return ""
        name = f"r{self.random.randint(1, 3)}"
        if name not in self.wanted:
            self.wanted.append(name)
        return f' aria-describedby="{name}"'

    def style(self, names: tuple[str, ...] = BOXES) -> str:
        return f' class="{self.random.choice(names)}"' if self.chance(0.3) else ""

    def flow(self, depth: int, most: int = 4) -> str:
        parts = []
        for _ in range(self.random.randint(1, most)):
            if self.size > 60:
                break
            self.size += 1
            inline = depth <= 0 or self.chance(0.4)
            parts.append(self.random.choice(self.inlines if inline else self.blocks)(depth - 1))
            parts.append(self.space())
        return "".join(parts)

    def flow_inline(self, depth: int, most: int = 4) -> str:
        parts = []
        for _ in range(self.random.randint(0 if self.chance(0.1) else 1, most)):
            self.size += 1
            choice = self.text if depth <= 0 or self.size > 80 else self.random.choice(self.inlines)
            parts.append(choice(depth - 1))
            parts.append(self.space())
        return "".join(parts)

    def within(self, tag: str, write: Callable[[], str]) -> str:
        added = tag not in self.inside
        self.inside.add(tag)
        written = write()
        if added:
            self.inside.discard(tag)
        return written

    # ---- blocks ----

    def div(self, depth: int) -> str:
        extra = self.name_attributes(0.04) if self.chance(0.3) else ""
        return f"<div{self.style()}{extra}>{self.flow(depth)}</div>"

    def paragraph(self, depth: int) -> str:
        return f"<p{self.style(TEXTS)}{self.title(0.03)}>{self.flow_inline(depth)}</p>"

    def heading(self, depth: int) -> str:
        tag = f"h{self.random.randint(1, 4)}"
        return f"<{tag}{self.name_attributes(0.06)}>{self.flow_inline(depth)}</{tag}>"

    def list_of(self, depth: int) -> str:
        tag = self.random.choice(("ul", "ol"))
        items = "".join(
            f"{self.space()}<li{self.style()}>{self.flow(depth, 3)}</li>" for _ in range(self.random.randint(0, 3))
        )
        return f"<{tag}{self.style()}{self.name_attributes(0.1)}>{items}\n</{tag}>"

    def form(self, depth: int) -> str:
        if "form" in self.inside:
            return self.paragraph(depth)
        extra = self.random.choice(("", "", ' role="search"')) + self.name_attributes(0.1)
        return self.within("form", lambda: f'<form action="/f"{extra}{self.style()}>{self.flow(depth)}</form>')

    def table(self, depth: int) -> str:
        columns = self.random.randint(1, 3)

        def row(cell: str) -> str:
            cells = []
            for _ in range(columns):
                tag = cell if self.chance(0.85) else self.random.choice(("td", "th"))
                scope = f' scope="{self.random.choice(("row", "col"))}"' if tag == "th" and self.chance(0.3) else ""
                inner = self.flow(depth, 2) if self.chance(0.85) else ""
                cells.append(f"<{tag}{scope}{self.name_attributes(0.03)}>{inner}</{tag}>{self.space()}")
            return f"<tr>{self.space()}{''.join(cells)}</tr>\n"

        parts = ""
        if self.chance(0.5):
            # Captions wrap at the table's width, which decides about spaces at the ends of lines: no lone spaces here.
            parts += f"<caption>{self.words()} <strong>{self.words()}</strong>{self.link(0)}</caption>"
        if self.chance(0.5) or not parts:
            parts += f"<thead>{row('th')}</thead>\n"
        parts += f"<tbody>{''.join(row('td') for _ in range(self.random.randint(0, 3)))}</tbody>"
        if self.chance(0.2):
            parts += f"<tfoot>{row('td')}</tfoot>"
        return f"<table{self.name_attributes(0.05)}>{parts}</table>"

    def facts(self, depth: int) -> str:
        pairs = [f"<dt>{self.flow_inline(depth)}</dt><dd>{self.flow(depth, 2)}</dd>" for _ in range(2)]
        if self.chance(0.2):
            pairs = [f"<div>{pair}</div>" for pair in pairs]
        return f"<dl{self.style()}>\n{''.join(pairs)}</dl>"

    def landmark(self, depth: int) -> str:
        tag = self.random.choice(("header", "nav", "main", "footer", "section", "article", "aside"))
        return f"<{tag}{self.name_attributes(0.2)}{self.style()}>{self.flow(depth)}</{tag}>"

    def fold(self, depth: int) -> str:
        shown = " open" if self.chance(0.5) else ""
        inner = f"<h3>{self.text()}</h3>" if self.chance(0.2) else self.flow_inline(1)
        if "summary" in self.inside:
            return self.paragraph(depth)
        summary = self.within("summary", lambda: f"<summary>{inner}</summary>")
        return f"<details{shown}{self.name_attributes(0.05)}>{self.space()}{summary}{self.flow(depth, 3)}</details>"

    def fieldset(self, depth: int) -> str:
        off = " disabled" if self.chance(0.15) else ""
        legend = f"<legend>{self.flow_inline(1)}</legend>" if self.chance(0.8) else ""
        return f"<fieldset{off}{self.name_attributes(0.05)}>{self.space()}{legend}{self.flow(depth, 3)}</fieldset>"

    def quote(self, depth: int) -> str:
        if self.chance(0.4):
            return f"<pre>{self.text()}\n  {self.words()}\n</pre>"
        return f"<blockquote>{self.flow(depth, 2)}</blockquote>"

    def rule(self, depth: int) -> str:
        return "<hr>"

    def role_box(self, depth: int) -> str:
        role = self.random.choice(("alert", "status", "search", "group", "dialog", "none"))
        named = "" if role == "none" else self.name_attributes(0.2)
        return f'<div role="{role}"{self.style()}{named}>{self.flow(depth, 2)}</div>'

    def labelled(self, depth: int) -> str:
        name = f"c{len(self.ids)}"
        self.ids.append(name)
        control = self.control(f' id="{name}"')
        label = f'<label for="{name}">{self.flow_inline(0 if self.chance(0.7) else 1)}</label>'
        if "label" in self.inside or "button" in self.inside:
            label = ""
        parts = [label, self.space(), control]
        if self.chance(0.3):
            parts.reverse()
        return f"<div{self.style()}>{self.space()}{''.join(parts)}{self.space()}</div>"

    # ---- inline ----

    def link(self, depth: int) -> str:
        if "a" in self.inside or "button" in self.inside:
            return self.text()
        extra = self.name_attributes(0.08) + self.style(TEXTS) + self.described()
        href = ' href="/x"' if self.chance(0.95) else ""
        if self.chance(0.05):
            extra += ' aria-expanded="true"'
        return self.within("a", lambda: f"<a{href}{extra}>{self.flow_inline(depth)}</a>")

    def span(self, depth: int) -> str:
        extra = self.name_attributes(0.05)
        if self.chance(0.05):
            return f'<span role="img" aria-label="{self.words()}">{self.text()}</span>'
        return f"<span{self.style(TEXTS)}{extra}>{self.flow_inline(depth)}</span>"

    def plain(self, depth: int) -> str:
        tag = self.random.choice(("strong", "em", "small", "time", "code"))
        return f"<{tag}{self.title(0.05)}>{self.flow_inline(depth)}</{tag}>"

    def image(self, depth: int) -> str:
        alt = self.random.choice((f' alt="{self.words()}"', ' alt=""', f' alt="{self.words()}"'))
        return f'<img src="/p.svg"{alt}{self.title(0.05)} width="8" height="8">'

    def drawing(self, depth: int) -> str:
        how = 'aria-hidden="true"' if self.chance(0.5) else f'role="img" aria-label="{self.words()}"'
        return f'<svg {how} width="8" height="8" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'

    def line_break(self, depth: int) -> str:
        return "<br>"

    def hidden(self, depth: int) -> str:
        how = self.random.choice(("hidden", 'aria-hidden="true"'))
        # Without spaces at its ends: where the line wraps there, they decide about the lone spaces beside it.
        return f"<span {how}>{self.words()}</span>"

    def button(self, depth: int) -> str:
        if "button" in self.inside or "a" in self.inside:
            return self.text()
        extra = self.name_attributes(0.08) + self.state() + self.style(TEXTS) + self.described()
        if self.chance(0.1):
            extra += f' aria-expanded="{self.random.choice(("true", "false"))}"'
        return self.within("button", lambda: f"<button{extra}>{self.phrase()}</button>")

    def phrase(self) -> str:
        parts = []
        for _ in range(self.random.randint(0, 3)):
            write = self.random.choice((self.text, self.text, self.drawing, self.image, self.hidden, self.plain))
            parts.append(write(0) + self.space())
        # No lone space after a picture at the end: it counts unless the line wraps behind the button.
        written = "".join(parts)
        return written.rstrip() if written.rstrip().endswith(">") else written

    def state(self) -> str:
        return self.random.choice(("", "", "", "", " disabled"))

    def input(self, depth: int) -> str:
        if "button" in self.inside or "a" in self.inside or "label" in self.inside:
            return self.text()
        return self.control("")

    def control(self, extra: str) -> str:
        if "button" in self.inside or "a" in self.inside:
            return ""
        if self.chance(0.2):
            return self.select(0, extra)
        if self.chance(0.1):
            return self.area(0, extra)
        kind = self.random.choice(KINDS)
        extra += self.state() + self.name_attributes(0.2) + self.described()
        for flag, share in (("required", 0.2), ("readonly", 0.1)):
            if self.chance(share):
                extra += f" {flag}"
        if kind in ("checkbox", "radio"):
            extra += ' name="n"' if self.chance(0.5) else ""
            extra += " checked" if self.chance(0.4) else ""
        elif kind == "number":
            extra += self.random.choice(("", "", ' min="1" max="9"', ' min="0.5" step="0.5"'))
            extra += self.random.choice(("", ' value="3"', ' value="12"', ' value="2.5"'))
        elif self.chance(0.5):
            extra += f' value="{self.words()}"'
        if kind in ("text", "search", "tel") and self.chance(0.3):
            extra += f' placeholder="{self.words()}"'
        return f'<input type="{kind}"{extra}>'

    def area(self, depth: int, extra: str = "") -> str:
        if "button" in self.inside or "a" in self.inside or "label" in self.inside:
            return self.text()
        value = self.random.choice(("", self.words(), f"{self.words()}\n{self.words()}", f"\n{self.words()} \n"))
        return f"<textarea{extra}{self.state()}{self.name_attributes(0.2)}>\n{value}</textarea>"

    def select(self, depth: int, extra: str = "") -> str:
        if "button" in self.inside or "a" in self.inside or "label" in self.inside:
            return self.text()
        options = []
        for _ in range(self.random.randint(0, 3)):
            flags = self.random.choice(("", "", " selected", " disabled", f' value="{self.words()}"'))
            options.append(f"<option{flags}>{self.text()}</option>\n")
        inner = "".join(options)
        if self.chance(0.2):
            inner = f'<optgroup label="{self.words()}">{inner}</optgroup>'
        extra += self.state() + self.name_attributes(0.2)
        extra += " required" if self.chance(0.2) else ""
        return f"<select{extra}>{inner}</select>"

    def label(self, depth: int) -> str:
        if self.inside & {"label", "button", "a"}:
            return self.text()
        control = self.control("")
        parts = [self.flow_in_label(), control, self.flow_in_label() if self.chance(0.4) else ""]
        return f"<label{self.style(TEXTS)}>{''.join(parts)}</label>"

    def flow_in_label(self) -> str:
        return self.within("label", lambda: self.flow_inline(1, 2))


def body(seed: int) -> str:
    """The body of the page of a seed."""
    return Fuzz(seed).page()
