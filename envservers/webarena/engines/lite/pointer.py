"""What clicking, typing and choosing do on a page, and what they ask the browser for."""

from __future__ import annotations

from dataclasses import dataclass

from envservers.webarena.engines import refusals
from envservers.webarena.engines.lite.document import Element, control_of, disabled, option_disabled, options_of
from envservers.webarena.engines.lite.forms import (
    choose,
    controls,
    default_button,
    put_text,
    reset,
    sends_on_enter,
    submits,
    takes_text,
    toggle,
    value_sent,
)
from envservers.webarena.engines.lite.messages import message
from envservers.webarena.engines.lite.names import option_label
from envservers.webarena.engines.lite.page import Page
from envservers.webarena.engines.lite.validation import invalid


@dataclass(frozen=True, slots=True)
class Follow:
    """Open a link."""

    href: str
    blank: bool


@dataclass(frozen=True, slots=True)
class Submit:
    """Send a form."""

    form: Element
    button: Element | None


Result = None | str | Follow | Submit
"""None: done. A text: the line for the agent. Else what the browser shall do."""


def focusable(element: Element) -> bool:
    """Whether a click or Tab gives it the focus."""
    if not element.display:
        return False
    if element.tag == "a":
        return "href" in element.attrs
    if element.tag == "summary":
        return True
    return element.tag in ("input", "textarea", "select", "button") and not disabled(element)


def click(page: Page, element: Element) -> Result:
    """One click."""
    if element.tag in ("input", "textarea", "select", "button", "fieldset") and disabled(element):
        return refusals.DISABLED
    if element.tag == "option":
        return _choose(page, element)
    if element.tag == "select":
        page.give_focus(element)
        return None
    at: Element | None = element
    while at is not None and not focusable(at):
        at = at.parent
    page.give_focus(at)
    page.start = element.index
    return activate(page, element)


def activate(page: Page, element: Element) -> Result:
    """What a click on an element does by itself or by what is around it."""
    at: Element | None = element
    while at is not None:
        tag = at.tag
        if tag == "a" and "href" in at.attrs:
            return Follow(at.attrs["href"], at.attrs.get("target") == "_blank")
        if tag in ("button", "input", "textarea", "select"):
            return _use(page, at)
        if tag == "summary":
            assert at.parent is not None
            at.parent.opened = not at.parent.opened
            page.changed()
            return None
        if tag == "label":
            control = control_of(page.document, at)
            if control is not None and not disabled(control) and control.display:
                page.give_focus(control)
                return _use(page, control)
            return None
        at = at.parent
    return None


def _use(page: Page, control: Element) -> Result:
    if disabled(control):
        return None
    if control.tag == "input" and control.kind in ("checkbox", "radio"):
        toggle(page.document, control)
    elif submits(control):
        form = control.within("form")
        return None if form is None else submit(page, form, control)
    elif control.tag == "button" and control.attrs.get("type", "").lower() == "reset":
        form = control.within("form")
        if form is not None:
            reset(form)
    return None


def submit(page: Page, form: Element, button: Element | None) -> Result:
    """Send a form unless a field of it is not valid, which then gets the focus and a message."""
    if "novalidate" not in form.attrs:
        for control in controls(form):
            if invalid(page.document, control):
                page.give_focus(control)
                page.alert = message(page.document, control)
                page.show(control)
                return None
    return Submit(form, button)


def submit_by_enter(page: Page, field: Element) -> Result:
    """Enter in a field."""
    form = field.within("form")
    if form is None:
        return None
    button = default_button(form)
    if button is not None:
        return None if disabled(button) else submit(page, form, button)
    return submit(page, form, None) if sends_on_enter(form) else None


def replace_text(page: Page, element: Element, text: str) -> str | None:
    """The text in place of what a field holds; the field has the focus then."""
    field = _control(page, element)
    if field.tag in ("input", "textarea", "select", "button", "fieldset") and disabled(field):
        return refusals.DISABLED
    if not takes_text(field):
        return refusals.NO_TEXT
    if "readonly" in field.attrs:
        return refusals.READ_ONLY
    page.give_focus(field)
    put_text(field, text)
    return None


def select(page: Page, element: Element, wanted: str) -> Result:
    """Choose the option of that name."""
    element = _control(page, element)
    listed = element if element.tag == "select" else element.within("select")
    if listed is None:
        return refusals.NO_OPTIONS
    options = options_of(listed)
    name = " ".join(wanted.split())
    found = next((option for option in options if option_label(option) == name), None)
    if found is None:
        close = [option for option in options if option_label(option).lower() == name.lower()]
        if len(close) != 1:
            return refusals.no_option(wanted, [option_label(option) for option in options])
        found = close[0]
    return _choose(page, found)


def _choose(page: Page, option: Element) -> Result:
    listed = option.within("select")
    assert listed is not None
    if disabled(listed) or option_disabled(option):
        return refusals.DISABLED
    page.give_focus(listed)
    choose(option)
    return None


def value_of(element: Element) -> str:
    """The value of a control for an evaluator: text, the chosen option's text, `true` or `false`."""
    if element.tag == "select":
        return next((option_label(option) for option in options_of(element) if option.checked), "")
    if element.tag == "input" and element.kind in ("checkbox", "radio"):
        return "true" if element.checked else "false"
    return value_sent(element)


def _control(page: Page, element: Element) -> Element:
    if element.tag == "label":
        return control_of(page.document, element) or element
    return element
