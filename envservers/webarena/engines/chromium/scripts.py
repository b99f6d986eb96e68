"""What is asked of a page, in its own language. Each function gets its node as `this`; none changes what an agent sees
beyond the act itself."""

from __future__ import annotations

_ELEMENT = """
  let el = this.nodeType === Node.ELEMENT_NODE ? this
    : this.nodeType === Node.DOCUMENT_NODE ? this.documentElement
    : this.parentElement || (this.parentNode && this.parentNode.host);
  for (let root = el && el.getRootNode(); root instanceof ShadowRoot; root = el.getRootNode()) el = root.host;
  if (!el || !el.isConnected) return {error: "gone"};
"""

_CONTROL = "if (el instanceof HTMLLabelElement && el.control) el = el.control;"

POINT = (
    "function (clicking) {"
    + _ELEMENT
    + """
  if (clicking) {
    if (el.matches(":disabled")) return {error: "disabled"};
    if (el instanceof HTMLOptionElement) return {option: true};
    // A list that drops down lies outside the page, where no observation reaches: the keyboard gets it instead.
    if (el instanceof HTMLSelectElement && el.size < 2 && !el.multiple) { el.focus(); return {}; }
  }
  el.scrollIntoViewIfNeeded();
  let boxes = el.getClientRects();
  if (this.nodeType === Node.TEXT_NODE && el === this.parentElement) {
    const range = document.createRange();
    range.selectNode(this);
    boxes = range.getClientRects();
  }
  let above = null;
  for (const box of boxes) {
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
    const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
    if (right <= left || bottom <= top) continue;
    const x = (left + right) / 2, y = (top + bottom) / 2;
    const hit = document.elementFromPoint(x, y);
    if (hit && (el.contains(hit) || (el.labels && [...el.labels].includes(hit)))) return {x, y};
    above = above || hit;
  }
  if (!above) return {error: "no_box"};
  const text = (above.getAttribute("aria-label") || above.innerText || "").trim().replace(/\\s+/g, " ").slice(0, 40);
  return {error: "covered", by: above.tagName.toLowerCase() + (text ? " " + JSON.stringify(text) : "")};
}"""
)
"""Where to point the mouse: {x, y}; {} when the click is done; {option} for select; {error, by}."""

TYPE = (
    "function (rule) {"
    + _ELEMENT
    + _CONTROL
    + """
  if (el.matches(":disabled")) return {error: "disabled"};
  const kinds = ["text", "search", "email", "password", "tel", "number", "url"];
  const takes = el instanceof HTMLTextAreaElement || (el instanceof HTMLInputElement && kinds.includes(el.type));
  if (!takes) return {error: "no_text"};
  if (el.readOnly) return {error: "read_only"};
  el.scrollIntoViewIfNeeded();
  el.focus();
  if (document.activeElement !== el) return {error: "no_box"};
  if (rule === "replace") el.select();
  else if (el.type !== "email" && el.type !== "number") el.setSelectionRange(el.value.length, el.value.length);
  return {filled: el.value !== ""};
}"""
)
"""Make a text field ready to be typed into: {filled}; {error}. Focus puts the caret last where scripts cannot."""

SELECT = (
    "function (wanted) {"
    + _ELEMENT
    + _CONTROL
    + """
  const list = el.closest("select");
  if (!list) return {error: "no_options"};
  const squeeze = text => text.trim().replace(/\\s+/g, " ");
  let option = el instanceof HTMLOptionElement && wanted === null ? el : null;
  if (!option) {
    const name = squeeze(wanted), same = list.options.length ? [...list.options] : [];
    option = same.find(o => squeeze(o.label) === name);
    const loose = same.filter(o => squeeze(o.label).toLowerCase() === name.toLowerCase());
    if (!option && loose.length === 1) option = loose[0];
    if (!option) return {error: "no_option", options: same.map(o => squeeze(o.label))};
  }
  if (list.disabled || list.matches(":disabled") || option.matches(":disabled")) return {error: "disabled"};
  list.scrollIntoViewIfNeeded();
  list.focus();
  if (!option.selected) {
    option.selected = true;
    list.dispatchEvent(new Event("input", {bubbles: true}));
    list.dispatchEvent(new Event("change", {bubbles: true}));
  }
  return {};
}"""
)
"""Choose the option of that name, or the one that `this` is when it is null: {}; {error, options}."""

FIELD = """function () {
  if (this instanceof HTMLSelectElement) return this.selectedOptions.length
    ? this.selectedOptions[0].label.trim().replace(/\\s+/g, " ") : "";
  if (this.type === "checkbox" || this.type === "radio") return String(this.checked);
  return "value" in this ? this.value : null;
}"""
"""The value of a form control; null for anything else."""

FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(document.readyState))))"
"""Resolves after two frames."""

SCROLL = "window.scrollBy({{top: {sign}innerHeight, behavior: 'instant'}})"

FRESH = """
for (const form of document.forms) form.reset();
for (const loose of document.querySelectorAll('input, textarea, select')) {
  if (loose.form) continue;
  if (loose instanceof HTMLSelectElement) for (const option of loose.options) option.selected = option.defaultSelected;
  else { loose.value = loose.defaultValue; loose.checked = loose.defaultChecked; }
}
window.scrollTo({top: 0, left: 0, behavior: 'instant'});
"""
"""Undoes what the browser restores of a page that it comes back to: history shows pages as they are served."""

HTML = "new XMLSerializer && (document.doctype ? '<!DOCTYPE html>\\n' : '') + document.documentElement.outerHTML"
