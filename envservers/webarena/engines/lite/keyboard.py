"""Keys, to whatever has the focus. A key that does nothing on our pages does nothing."""

from __future__ import annotations

from fractions import Fraction

from envservers.webarena.engines import refusals
from envservers.webarena.engines.chromium.keys import read_keys
from envservers.webarena.engines.lite import pointer
from envservers.webarena.engines.lite.document import Element, number_of, options_of
from envservers.webarena.engines.lite.forms import add_text, choose, choose_next, takes_text, toggle
from envservers.webarena.engines.lite.messages import plain
from envservers.webarena.engines.lite.names import option_label
from envservers.webarena.engines.lite.page import Page
from envservers.webarena.engines.lite.validation import radio_group

_ARROWS = {"ArrowDown": 1, "ArrowRight": 1, "ArrowUp": -1, "ArrowLeft": -1}
ARROW_LINES = 2
"""Lines that an arrow key scrolls."""


def press(page: Page, text: str) -> pointer.Result:
    """One key or a combination such as `Control+a`."""
    keys = read_keys(text)
    if keys is None:
        return refusals.unknown_keys(text)
    page.ready()
    focus = page.focus
    if keys in ("Tab", "Shift+Tab"):
        _tab(page, 1 if keys == "Tab" else -1)
    elif focus is not None and takes_text(focus):
        return _in_text(page, focus, keys)
    elif focus is not None:
        return _on_control(page, focus, keys)
    else:
        _on_page(page, keys)
    return None


def _in_text(page: Page, field: Element, keys: str) -> pointer.Result:
    fixed = "readonly" in field.attrs
    if keys == "Enter" and field.tag != "textarea":
        return pointer.submit_by_enter(page, field)
    if keys == "Control+a":
        page.marked = True
    elif keys == "Escape" and field.tag == "input" and field.kind == "search":
        field.value = ""
    elif keys in ("Backspace", "Delete") and not fixed:
        if page.marked:
            field.value = ""
        elif keys == "Backspace":
            field.value = field.value[:-1]
        page.marked = False
    elif keys in ("ArrowUp", "ArrowDown") and field.tag == "input" and field.kind == "number" and not fixed:
        _spin(field, 1 if keys == "ArrowUp" else -1)
        page.marked = False
    elif (letter := _letter(keys)) and not fixed:
        if page.marked:
            field.value = ""
        add_text(field, letter)
        page.marked = False
    elif keys in _ARROWS or keys in ("Home", "End"):
        page.marked = False
    return None


def _letter(keys: str) -> str:
    if keys == "Enter":
        return "\n"
    if keys == "Space":
        return " "
    shifted = keys.removeprefix("Shift+")
    if len(shifted) == 1:
        return shifted.upper() if keys != shifted else shifted
    return ""


def _on_control(page: Page, focus: Element, keys: str) -> pointer.Result:
    tag = focus.tag
    if tag == "select":
        _in_select(focus, keys)
    elif tag == "input" and focus.kind in ("checkbox", "radio"):
        if keys == "Enter":
            return pointer.submit_by_enter(page, focus)
        if keys == "Space":
            toggle(page.document, focus)
        elif keys in _ARROWS and focus.kind == "radio":
            _next_radio(page, focus, _ARROWS[keys])
    elif keys == "Enter" or (keys == "Space" and tag != "a"):
        return pointer.activate(page, focus)
    else:
        _on_page(page, keys)
    return None


def _in_select(select: Element, keys: str) -> None:
    if keys in _ARROWS:
        choose_next(select, _ARROWS[keys])
    elif keys in ("Home", "PageUp"):
        choose_next(select, -len(options_of(select)))
    elif keys in ("End", "PageDown"):
        choose_next(select, len(options_of(select)))
    elif len(keys) == 1:
        options = options_of(select)
        at = next((place for place, option in enumerate(options) if option.checked), -1)
        for option in (*options[at + 1 :], *options[: at + 1]):
            if option_label(option).lower().startswith(keys.lower()) and "disabled" not in option.attrs:
                choose(option)
                return


def _next_radio(page: Page, radio: Element, by: int) -> None:
    group = [other for other in radio_group(page.document, radio) if pointer.focusable(other)]
    following = group[(group.index(radio) + by) % len(group)]
    toggle(page.document, following)
    page.give_focus(following)


def _spin(field: Element, by: int) -> None:
    value = number_of(field.value) or Fraction(0)
    low, high, step = (field.attrs.get(name) or "" for name in ("min", "max", "step"))
    value += by * Fraction(1 if step in ("", "any") else step)
    if low:
        value = max(value, Fraction(low))
    if high:
        value = min(value, Fraction(high))
    field.value = plain(value)


def _on_page(page: Page, keys: str) -> None:
    if keys in ("Space", "PageDown"):
        page.scroll(down=True)
    elif keys in ("Shift+Space", "PageUp"):
        page.scroll(down=False)
    elif keys in ("Home", "Control+Home"):
        page.top = 0
    elif keys in ("End", "Control+End"):
        page.top = 10**9  # held to the end of the page when it is looked at
    elif keys in ("ArrowDown", "ArrowUp"):
        page.top = max(page.top + ARROW_LINES * _ARROWS[keys], 0)


def _tab(page: Page, by: int) -> None:
    stops = [element for element in page.document.elements if pointer.focusable(element) and _stops(page, element)]
    if page.outside or not (page.start or page.focus):
        place = 0 if by > 0 else len(stops) - 1
    elif page.focus is not None and page.focus in stops:
        place = stops.index(page.focus) + by
    elif by > 0:
        place = next((place for place, stop in enumerate(stops) if stop.index > page.start), len(stops))
    else:
        place = max((place for place, stop in enumerate(stops) if stop.index < page.start), default=-1)
    if not 0 <= place < len(stops):
        page.leave()
        return
    page.give_focus(stops[place])
    page.marked = takes_text(stops[place])
    page.show(stops[place])


def _stops(page: Page, element: Element) -> bool:
    """Tab stops once at a group of radio buttons."""
    if element.tag != "input" or element.kind != "radio" or element is page.focus:
        return True
    group = [other for other in radio_group(page.document, element) if pointer.focusable(other)]
    if page.focus is not None and page.focus in group:
        return False
    chosen = next((other for other in group if other.checked), None)
    return element is (chosen or group[0])
