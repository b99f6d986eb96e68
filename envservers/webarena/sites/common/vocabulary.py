"""The HTML that pages use, no more. The engine `lite` knows exactly this; a lint holds templates and pages to it.

What the stylesheets promise besides: lists and summaries have no markers; nothing inside a link, button, heading,
label or cell changes its `display`; no `content`, no `text-transform`; only `[hidden]` hides.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TAGS = _words(
    """html head title meta link body header nav main footer section article aside div span p h1 h2 h3 h4 ul ol li
    dl dt dd a img svg table caption thead tbody tr th td form fieldset legend label input textarea select option
    optgroup button details summary strong em small hr time blockquote pre code br"""
)
ATTRIBUTES = _words(
    """id class href src alt for name value type checked selected disabled readonly required placeholder title role
    aria-label aria-labelledby aria-hidden aria-current aria-expanded aria-describedby hidden method action colspan
    rowspan scope datetime lang min max step maxlength pattern autocomplete rows target open
    novalidate"""
)
HEAD_ATTRIBUTES = ATTRIBUTES | _words("charset content rel as crossorigin")
"""On meta and link."""
INPUTS = _words("text search email password tel number checkbox radio hidden submit")
ROLES = _words("alert status img search group dialog none")
DRAWING_TAGS = _words("svg g path rect circle ellipse line polyline polygon text title")
"""Inside an inline picture, which is hidden or one image with a name."""
