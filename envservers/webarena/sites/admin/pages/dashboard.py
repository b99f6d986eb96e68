"""The dashboard: what came in, what waits, what sells, what is searched for."""

from __future__ import annotations

import datetime as dt

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import sales as sales_of
from envservers.webarena.sites.common.page import Page

LATEST = 5
BEST_DAYS = 30
TERMS = 8
LOW_STOCK = 5
"""Products with at most so many left are low in stock."""


def show(page: Page) -> SiteResponse:
    """The figures of today."""
    since = (dt.date.fromisoformat(page.today) - dt.timedelta(days=BEST_DAYS)).isoformat()
    sales = page.db.one(
        "SELECT coalesce(sum(total_cents), 0) AS lifetime, count(*) AS number,"
        " coalesce(sum(CASE WHEN placed_at >= ? THEN total_cents END), 0) AS month,"
        " coalesce(sum(CASE WHEN placed_at >= ? THEN 1 END), 0) AS today"
        " FROM sales_order WHERE status <> 'canceled'",
        *(page.today[:8] + "01", page.today),
    )
    waiting = page.db.one(
        "SELECT (SELECT count(*) FROM sales_order WHERE status = 'pending') AS pending,"
        " (SELECT count(*) FROM sales_order WHERE status = 'processing') AS processing,"
        " (SELECT count(*) FROM return_request WHERE status = 'requested') AS returns,"
        " (SELECT count(*) FROM review WHERE status = 'pending') AS reviews,"
        " (SELECT count(*) FROM product WHERE status = 'enabled' AND stock <= ?) AS low",
        LOW_STOCK,
    )
    assert sales is not None
    return page.render(
        "dashboard.html",
        sales=sales,
        average=sales["lifetime"] // sales["number"] if sales["number"] else 0,
        waiting=waiting,
        low_stock=LOW_STOCK,
        days=BEST_DAYS,
        latest=page.db.all(_LATEST, LATEST),
        best=sales_of.best_sellers(page.db, since, page.today, limit=LATEST),
        terms=[
            (row["term"], row["uses"], f"{row['uses']:,}")
            for row in page.db.all("SELECT term, uses FROM search_term ORDER BY uses DESC, id LIMIT ?", TERMS)
        ],
    )


_LATEST = """
SELECT sales_order.*, (SELECT sum(quantity) FROM order_line WHERE order_id = sales_order.id) AS things
FROM sales_order ORDER BY placed_at DESC, id DESC LIMIT ?
"""
