"""Reports: sales by period, best sellers, best customers, search terms, low stock, refunds, coupons."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import sales
from envservers.webarena.sites.admin.grid import Column, Filters, grid
from envservers.webarena.sites.admin.pages.dashboard import LOW_STOCK
from envservers.webarena.sites.common.formats import MONTHS, day, money
from envservers.webarena.sites.common.forms import Draft, Form
from envservers.webarena.sites.common.page import Page
from envservers.webarena.sites.common.paging import pages

PERIODS = (("day", "Day"), ("month", "Month"), ("year", "Year"))
MONTHS_SHOWN = 6
"""Of a report, this month included, unless other days are asked for."""
ROWS = 31
TOP = 20
_LOW = (
    Column("name", "Product", "product.name"),
    Column("sku", "SKU", "sku"),
    Column("brand", "Brand", "brand.name"),
    Column("stock", "Stock", "stock", number=True),
    Column("status", "Status", "product.status"),
)
_TERMS = (
    Column("term", "Search term", "term"),
    Column("uses", "Uses", "uses", number=True),
    Column("results", "Results", "results", number=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The days of a report."""

    first: str
    last: str
    draft: Draft
    """What the fields show."""


def sales_by_period(page: Page) -> SiteResponse:
    """What was sold in each day, month or year."""
    span = _span(page)
    period = page.asked("period") if page.asked("period") in dict(PERIODS) else "month"
    rows = sales.by_period(page.db, span.first, span.last, period)
    cut = pages(len(rows), page.asked("page"), ROWS)
    shown = [(row, _period_text(row["period"])) for row in cut.cut(rows)]
    names = ("orders", "items", "subtotal", "discount", "shipping", "total", "refunded")
    return page.render(
        "report_sales.html",
        span=span,
        period=period,
        periods=list(PERIODS),
        rows=shown,
        sums={name: sum(row[name] for row in rows) for name in names},
        pages=cut,
        points=[(text, row["total"], money(row["total"])) for row, text in shown],
    )


def best_sellers(page: Page) -> SiteResponse:
    """What was sold most."""
    span = _span(page)
    rows = sales.best_sellers(page.db, span.first, span.last, limit=TOP)
    return page.render("report_best_sellers.html", span=span, rows=rows)


def best_customers(page: Page) -> SiteResponse:
    """Who bought for most."""
    span = _span(page)
    rows = sales.best_customers(page.db, span.first, span.last, limit=TOP)
    return page.render("report_customers.html", span=span, rows=rows)


def refunds(page: Page) -> SiteResponse:
    """What was paid back, and why."""
    span = _span(page)
    rows = sales.refunds_by_reason(page.db, span.first, span.last)
    return page.render(
        "report_refunds.html",
        span=span,
        rows=rows,
        number=sum(row["number"] for row in rows),
        amount=sum(row["amount"] for row in rows),
    )


def coupons(page: Page) -> SiteResponse:
    """Which coupons were used in orders."""
    span = _span(page)
    return page.render("report_coupons.html", span=span, rows=sales.coupon_usage(page.db, span.first, span.last))


def search_terms(page: Page) -> SiteResponse:
    """What visitors looked for."""
    filters = Filters(page)
    filters.contains("term", "Search term", "term")
    filters.numbers("Uses", "uses", "uses_from", "uses_to")
    filters.numbers("Results", "results", "results_from", "results_to")
    found = grid(page, _TERMS, filters, select="*", source="search_term", first="-uses", key="search_term.id")
    return page.render("report_search_terms.html", grid=found, filters=filters)


def low_stock(page: Page) -> SiteResponse:
    """What should be ordered anew."""
    form = Form(page.request.query)
    most = form.number("most", "At most in stock", high=99_999, otherwise=LOW_STOCK)
    filters = Filters(page)
    filters.add("stock <= ?", LOW_STOCK if "most" in form.errors else most)
    filters.add("product.status = 'enabled'")
    found = grid(
        page,
        _LOW,
        filters,
        select="product.*, brand.name AS brand",
        source="product LEFT JOIN brand ON brand.id = brand_id",
        first="stock",
        key="product.id",
    )
    return page.render(
        "report_low_stock.html", grid=found, draft=Draft(values=form.values, errors=form.errors), start=LOW_STOCK
    )


def _span(page: Page) -> Span:
    """The days asked for; what is not asked or cannot be read is the last months."""
    form = Form(page.request.query)
    first = form.day("from", "Date from", needed=False) or _months_ago(page.today, MONTHS_SHOWN - 1)
    last = form.day("to", "Date to", needed=False) or page.today
    shown = {name: text for name, text in form.values.items() if text}
    return Span(first=first, last=last, draft=Draft(values={"from": first, "to": last} | shown, errors=form.errors))


def _months_ago(today: str, number: int) -> str:
    """The first day of the month so many months before."""
    date = dt.date.fromisoformat(today)
    months = date.year * 12 + date.month - 1 - number
    return dt.date(months // 12, months % 12 + 1, 1).isoformat()


def _period_text(period: str) -> str:
    """`Mar 2026`, `2026`, `Mar 2, 2026`"""
    match len(period):
        case 10:
            return day(period)
        case 7:
            return f"{MONTHS[int(period[5:]) - 1]} {period[:4]}"
        case _:
            return period
