"""One product: its details, its specifications, its variants."""

from __future__ import annotations

from typing import Any

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import search_index
from envservers.webarena.sites.admin.layout import SHOP
from envservers.webarena.sites.admin.pages.product_form import COLUMNS, choices, read, start_of
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.shop.catalogue import variants
from envservers.webarena.state.database import Row

SPARE = 2
"""Empty lines for new specifications."""


def details(page: Page) -> SiteResponse:
    """What it is, and what it costs."""
    row = _product(page)
    if row is None:
        return page.not_found()
    return page.render(
        "product.html",
        draft=page.draft(),
        start=start_of(row),
        varied=bool(variants(page.db, row["id"])),
        **_shown(row),
        **choices(page.db),
    )


def save(page: Page) -> SiteResponse:
    """Change it."""
    row = _product(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    varied = bool(variants(page.db, row["id"]))
    typed = read(form, page.db, product_id=row["id"], varied=varied)
    if form.errors:
        return page.refuse(form, page.path)
    if varied:
        typed["stock"] = row["stock"]
    page.db.write(
        f"UPDATE product SET {', '.join(f'{name} = ?' for name in COLUMNS)} WHERE id = ?",
        *(*(typed[name] for name in COLUMNS), row["id"]),
    )
    search_index.renew_product(page.db, row["id"])
    page.flash("You saved the product.")
    return page.go(page.path)


def specs(page: Page) -> SiteResponse:
    """Its specifications, each a name and a value."""
    row = _product(page)
    if row is None:
        return page.not_found()
    found = _specs(page, row)
    lines = [(place + 1, spec["name"], spec["value"]) for place, spec in enumerate(found)]
    spare = [(len(found) + place + 1, "", "") for place in range(SPARE)]
    return page.render("product_specs.html", draft=page.draft(), lines=lines + spare, **_shown(row))


def save_specs(page: Page) -> SiteResponse:
    """Change them; a line without name and value goes away."""
    row = _product(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    found = _specs(page, row)
    typed = []
    for place in range(1, len(found) + SPARE + 1):
        name = form.text(f"name_{place}", f"Name {place}", limit=60, needed=False)
        value = form.text(f"value_{place}", f"Value {place}", limit=200, needed=False)
        if name and not value:
            form.errors[f"value_{place}"] = f"Value {place}: this is a required field."
        if value and not name:
            form.errors[f"name_{place}"] = f"Name {place}: this is a required field."
        typed.append((name, value))
    if form.errors:
        return page.refuse(form, page.path)
    for spec, (name, value) in zip(found, typed, strict=False):
        if not name:
            page.db.write("DELETE FROM product_spec WHERE id = ?", spec["id"])
        elif (name, value) != (spec["name"], spec["value"]):
            page.db.write("UPDATE product_spec SET name = ?, value = ? WHERE id = ?", name, value, spec["id"])
    position = max((spec["position"] for spec in found), default=0)
    for name, value in typed[len(found) :]:
        if name:
            position += 1
            page.db.write(
                "INSERT INTO product_spec (product_id, position, name, value) VALUES (?, ?, ?, ?)",
                *(row["id"], position, name, value),
            )
    page.flash("You saved the specifications.")
    return page.go(page.path)


def variant_list(page: Page) -> SiteResponse:
    """Colors and sizes with their stock."""
    row = _product(page)
    if row is None:
        return page.not_found()
    return page.render(
        "product_variants.html",
        draft=page.draft(),
        fresh=page.draft("new"),
        variants=variants(page.db, row["id"]),
        **_shown(row),
    )


def save_stock(page: Page) -> SiteResponse:
    """Count them anew; the product has what its variants have."""
    row = _product(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    found = variants(page.db, row["id"])
    counts = {one["id"]: form.number(f"stock_{one['id']}", f"Stock of {named(one)}", high=99_999) for one in found}
    path = f"/products/{row['id']}/variants"
    if form.errors:
        return page.refuse(form, path)
    for one in found:
        if counts[one["id"]] != one["stock"]:
            page.db.write("UPDATE variant SET stock = ? WHERE id = ?", counts[one["id"]], one["id"])
    if found:
        _sum_up(page, row)
    page.flash("You saved the stock.")
    return page.go(path)


def add_variant(page: Page) -> SiteResponse:
    """One more color or size."""
    row = _product(page)
    if row is None:
        return page.not_found()
    form = Form(page.request.form)
    color = form.text("color", "Color", limit=40, needed=False)
    size = form.text("size", "Size", limit=20, needed=False)
    sku = form.text("sku", "SKU", limit=60)
    stock = form.number("stock", "Stock quantity", high=99_999)
    if not color and not size:
        form.errors["color"] = "Color: please enter a color, a size or both."
    elif any((one["color"], one["size"]) == (color, size) for one in variants(page.db, row["id"])):
        form.errors["color"] = "Color: there is already a variant with this color and size."
    if "sku" not in form.errors and page.db.one(
        "SELECT 1 FROM variant WHERE sku = ? UNION SELECT 1 FROM product WHERE sku = ?", sku, sku
    ):
        form.errors["sku"] = "SKU: another product has this SKU."
    path = f"/products/{row['id']}/variants"
    if form.errors:
        return page.refuse(form, path, "new")
    page.db.write(
        "INSERT INTO variant (product_id, sku, color, size, stock) VALUES (?, ?, ?, ?, ?)",
        *(row["id"], sku, color, size, stock),
    )
    _sum_up(page, row)
    page.flash("You added the variant.")
    return page.go(path)


def named(variant: Row) -> str:
    """`Blue / M`"""
    return " / ".join(filter(None, (variant["color"], variant["size"])))


def _product(page: Page) -> Row | None:
    return page.db.one("SELECT * FROM product WHERE id = ?", int(page.params["id"]))


def _specs(page: Page, row: Row) -> list[Row]:
    return page.db.all("SELECT * FROM product_spec WHERE product_id = ? ORDER BY position, id", row["id"])


def _sum_up(page: Page, row: Row) -> None:
    page.db.write(
        "UPDATE product SET stock = (SELECT sum(stock) FROM variant WHERE product_id = ?) WHERE id = ?",
        *(row["id"], row["id"]),
    )


def _shown(row: Row) -> dict[str, Any]:
    """What every tab shows."""
    return {
        "product": row,
        "path": f"/products/{row['id']}",
        "in_shop": f"{SHOP}/p/{row['slug']}" if row["status"] == "enabled" else "",
        "named": named,
    }
