"""The frozen HTML vocabulary of the sites' pages. Anything else is refused, never guessed."""

from __future__ import annotations

VOID = frozenset({"meta", "link", "img", "input", "hr", "br"})
HEAD = frozenset({"title", "meta", "link"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
CONTROLS = frozenset({"input", "textarea", "select", "button"})

INLINE = frozenset(
    {
        *("a", "span", "strong", "em", "small", "time", "code", "br", "img", "svg"),
        *("label", "input", "textarea", "select", "button"),
    }
)
BLOCKS = frozenset(
    {
        *("header", "nav", "main", "footer", "section", "article", "aside", "div", "p", *HEADINGS),
        *("ul", "ol", "dl", "table", "form", "fieldset", "details", "hr", "blockquote", "pre"),
    }
)
FLOW = INLINE | BLOCKS

CONTENT: dict[str, frozenset[str]] = {
    "html": frozenset({"head", "body"}),
    "head": HEAD,
    "ul": frozenset({"li"}),
    "ol": frozenset({"li"}),
    "dl": frozenset({"dt", "dd", "div"}),
    "table": frozenset({"caption", "thead", "tbody", "tfoot", "tr"}),
    "thead": frozenset({"tr"}),
    "tbody": frozenset({"tr"}),
    "tfoot": frozenset({"tr"}),
    "tr": frozenset({"td", "th"}),
    "select": frozenset({"option", "optgroup"}),
    "optgroup": frozenset({"option"}),
    "details": FLOW | {"summary"},
    "fieldset": FLOW | {"legend"},
    "div": FLOW | {"dt", "dd"},
    "summary": INLINE | HEADINGS,
    "legend": INLINE | HEADINGS,
    "p": INLINE,
    "pre": INLINE,
    "label": INLINE,
    "button": INLINE - {"a", "label", "input", "textarea", "select", "button"},
    **dict.fromkeys((*HEADINGS, "span", "strong", "em", "small", "time", "code"), INLINE),
    **{tag: frozenset() for tag in ("title", "option", "textarea")},
    **dict.fromkeys(("body", "header", "nav", "main", "footer", "section", "article", "aside"), FLOW),
    **dict.fromkeys(("li", "dt", "dd", "a", "caption", "td", "th", "form", "blockquote"), FLOW),
}
"""Which elements each element may hold; a page that a browser's parser would rearrange is refused by it."""

WORDLESS = frozenset({"html", "head", "ul", "ol", "dl", "table", "thead", "tbody", "tfoot", "tr", "select", "optgroup"})
"""Elements that hold no text but white space."""

NOT_INSIDE_ITSELF = frozenset({"a", "form", "button", "label", "summary"})

INPUT_TYPES = frozenset(
    {"text", "search", "email", "password", "tel", "number", "checkbox", "radio", "hidden", "submit"}
)
TEXT_TYPES = frozenset({"text", "search", "email", "password", "tel", "number"})
"""Inputs that take typed text."""

ROLES: dict[str, frozenset[str]] = {
    "alert": frozenset({"div", "p", "section"}),
    "status": frozenset({"div", "p", "section"}),
    "img": frozenset({"svg", "span", "div"}),
    "search": frozenset({"div", "form", "section"}),
    "group": frozenset({"div", "section", "ul", "span"}),
    "dialog": frozenset({"div", "section"}),
    "none": frozenset({"div", "span", "img"}),
}
"""Roles, and the elements that may have them."""

ATTRIBUTES = frozenset(
    {
        *("id", "class", "href", "src", "alt", "for", "name", "value", "type", "checked", "selected", "disabled"),
        *("readonly", "required", "placeholder", "title", "role", "hidden", "method", "action", "colspan", "rowspan"),
        *("scope", "datetime", "lang", "min", "max", "step", "maxlength", "pattern", "autocomplete", "rows", "target"),
        *("open", "label", "rel", "charset", "content", "width", "height", "as", "crossorigin", "novalidate"),
        *("aria-label", "aria-labelledby", "aria-hidden", "aria-current", "aria-expanded", "aria-describedby"),
    }
)

EXPANDABLE = frozenset({"button", "a"})
"""Elements that may have aria-expanded."""

NOT_NAMED = frozenset({"p", "strong", "em", "code", "dt", "dd", "caption"})
"""Elements whose roles may not be named by ARIA."""
