"""Forms: what is sent, by which button, and what typing, choosing and toggling do to the controls."""

from __future__ import annotations

from envservers.webarena.engines.lite.document import (
    Document,
    Element,
    disabled,
    number_of,
    option_disabled,
    options_of,
    set_to_markup,
    settle_radios,
)
from envservers.webarena.engines.lite.validation import option_value, radio_group
from envservers.webarena.engines.lite.vocabulary import TEXT_TYPES
from envservers.webarena.site import Pairs

_IN_NUMBERS = frozenset("0123456789.+-eE")


def takes_text(element: Element) -> bool:
    """Whether it is a field to type in."""
    return element.tag == "textarea" or (element.tag == "input" and element.kind in TEXT_TYPES)


def submits(element: Element) -> bool:
    """Whether a click on it sends its form."""
    if element.tag == "button":
        return element.attrs.get("type", "submit").lower() not in ("button", "reset")
    return element.tag == "input" and element.kind == "submit"


def controls(form: Element) -> list[Element]:
    """Controls of a form in order."""
    return [element for element in form.elements() if element.tag in ("input", "textarea", "select", "button")]


def default_button(form: Element) -> Element | None:
    """The button that Enter in a field presses."""
    return next((control for control in controls(form) if submits(control)), None)


def sends_on_enter(form: Element) -> bool:
    """Whether Enter sends a form that has no button: only where it has no second text field."""
    return sum(control.tag == "input" and control.kind in TEXT_TYPES for control in controls(form)) <= 1


def entries(form: Element, button: Element | None) -> Pairs:
    """What a form sends."""
    found: list[tuple[str, str]] = []
    for control in controls(form):
        name = control.attrs.get("name", "")
        if not name or disabled(control):
            continue
        if control.tag == "select":
            found += [
                (name, option_value(option))
                for option in options_of(control)
                if option.checked and not option_disabled(option)
            ]
        elif control.tag == "textarea":
            found.append((name, control.value.replace("\n", "\r\n")))
        elif control.tag == "button" or control.kind == "submit":
            if control is button:
                found.append((name, control.attrs.get("value", "" if control.tag == "button" else "Submit")))
        elif control.kind in ("checkbox", "radio"):
            if control.checked:
                found.append((name, control.attrs.get("value", "on")))
        else:
            found.append((name, value_sent(control)))
    return tuple(found)


def value_sent(field: Element) -> str:
    """The value of a text field; a number field that shows no number has none."""
    if field.tag == "input" and field.kind == "number" and number_of(field.value) is None:
        return ""
    return field.value


def put_text(element: Element, text: str) -> None:
    """The text in place of what a field held."""
    element.value = ""
    add_text(element, text)


def add_text(element: Element, text: str) -> None:
    """Text at the end of a field, as far as the field takes it."""
    if element.tag == "textarea":
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    else:
        text = text.replace("\r\n", " ").replace("\r", " ").replace("\n", " ")
        if element.kind == "number":
            text = "".join(letter for letter in text if letter in _IN_NUMBERS)
    most = element.attrs.get("maxlength", "")
    if most.isdecimal():
        text = text[: max(int(most) - len(element.value), 0)]
    element.value += text


def toggle(document: Document, element: Element) -> None:
    """A click on a checkbox or a radio button."""
    if element.kind == "checkbox":
        element.checked = not element.checked
    else:
        for other in radio_group(document, element):
            other.checked = False
        element.checked = True


def choose(option: Element) -> None:
    """Make it the choice of its select."""
    select = option.within("select")
    assert select is not None
    for other in options_of(select):
        other.checked = other is option


def choose_next(select: Element, by: int) -> None:
    """The next option that can be chosen, as arrow keys do."""
    options = [option for option in options_of(select) if not option_disabled(option)]
    if not options:
        return
    at = next((place for place, option in enumerate(options) if option.checked), 0 if by < 0 else -1)
    choose(options[min(max(at + by, 0), len(options) - 1)])


def reset(form: Element) -> None:
    """Back to what the page says."""
    for control in controls(form):
        if control.tag != "button":
            set_to_markup(control)
    settle_radios(controls(form))
