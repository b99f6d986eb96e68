"""The administration's pages."""

from __future__ import annotations

from envservers.webarena.sites.admin.pages import (
    categories,
    dashboard,
    documents,
    entrance,
    order,
    orders,
    own_account,
    product,
    products,
    reviews,
)
from envservers.webarena.sites.common.routing import PageFunction, Route


def _get(pattern: str, name: str, page: PageFunction, area: str = "") -> Route:
    return Route(method="GET", pattern=pattern, name=name, page=page, needs="admin", area=area)


def _post(pattern: str, name: str, page: PageFunction, area: str = "") -> Route:
    return Route(method="POST", pattern=pattern, name=name, page=page, needs="admin", area=area)


ROUTES = (
    _get("/", "dashboard", dashboard.show, "dashboard"),
    Route(method="GET", pattern="/login", name="login", page=entrance.form),
    Route(method="POST", pattern="/login", name="login", page=entrance.sign_in),
    _get("/logout", "logout", entrance.sign_out),
    _post("/logout", "logout", entrance.leave),
    _get("/no-permission", "no_permission", entrance.no_permission),
    _get("/account", "account", own_account.show),
    _post("/account", "account", own_account.save),
    _post("/account/password", "account_password", own_account.save_password),
    # Sales
    _get("/orders", "orders", orders.show, "orders"),
    _get("/orders/export", "orders_export", orders.export, "orders"),
    _post("/orders/status", "orders_status", orders.change_many, "orders"),
    _get("/orders/{number:digits}", "order", order.show, "orders"),
    _get("/orders/{number:digits}/invoice", "order_invoice", order.invoice_form, "orders"),
    _post("/orders/{number:digits}/invoice", "order_invoice", order.invoice, "orders"),
    _get("/orders/{number:digits}/ship", "order_ship", order.ship_form, "orders"),
    _post("/orders/{number:digits}/ship", "order_ship", order.ship, "orders"),
    _get("/orders/{number:digits}/refund", "order_refund", order.refund_form, "orders"),
    _post("/orders/{number:digits}/refund", "order_refund", order.refund, "orders"),
    _get("/orders/{number:digits}/cancel", "order_cancel", order.ask_cancel, "orders"),
    _post("/orders/{number:digits}/cancel", "order_cancel", order.cancel, "orders"),
    _post("/orders/{number:digits}/hold", "order_hold", order.hold, "orders"),
    _post("/orders/{number:digits}/unhold", "order_unhold", order.unhold, "orders"),
    _post("/orders/{number:digits}/complete", "order_complete", order.complete, "orders"),
    _get("/orders/{number:digits}/address", "order_address", order.address_form, "orders"),
    _post("/orders/{number:digits}/address", "order_address", order.save_address, "orders"),
    _post("/orders/{number:digits}/notes", "order_note", order.add_note, "orders"),
    _get("/invoices", "invoices", documents.invoices, "orders"),
    _get("/invoices/{number:digits}", "invoice", documents.invoice, "orders"),
    _get("/shipments", "shipments", documents.shipments, "orders"),
    _get("/refunds", "refunds", documents.refunds, "orders"),
    _get("/returns", "returns", documents.returns, "orders"),
    _get("/returns/{id:int}", "return", documents.return_page, "orders"),
    _post("/returns/{id:int}", "return", documents.change_return, "orders"),
    # Catalogue
    _get("/products", "products", products.show, "products"),
    _post("/products/status", "products_status", products.change_many, "products"),
    _get("/products/new", "product_new", products.new, "products"),
    _post("/products/new", "product_new", products.create, "products"),
    _get("/products/{id:int}", "product", product.details, "products"),
    _post("/products/{id:int}", "product", product.save, "products"),
    _get("/products/{id:int}/specs", "product_specs", product.specs, "products"),
    _post("/products/{id:int}/specs", "product_specs", product.save_specs, "products"),
    _get("/products/{id:int}/variants", "product_variants", product.variant_list, "products"),
    _post("/products/{id:int}/variants", "product_variants", product.save_stock, "products"),
    _post("/products/{id:int}/variants/new", "variant_new", product.add_variant, "products"),
    _get("/categories", "categories", categories.show, "products"),
    _get("/categories/{id:int}", "category", categories.edit, "products"),
    _post("/categories/{id:int}", "category", categories.save, "products"),
    _get("/categories/{id:int}/new", "category_new", categories.new, "products"),
    _post("/categories/{id:int}/new", "category_new", categories.create, "products"),
    _get("/reviews", "reviews", reviews.show, "reviews"),
    _post("/reviews/status", "reviews_status", reviews.change_many, "reviews"),
    _get("/reviews/{id:int}", "review", reviews.edit, "reviews"),
    _post("/reviews/{id:int}", "review", reviews.save, "reviews"),
    _post("/reviews/{id:int}/status", "review_status", reviews.decide, "reviews"),
    _get("/reviews/{id:int}/delete", "review_delete", reviews.ask_delete, "reviews"),
    _post("/reviews/{id:int}/delete", "review_delete", reviews.delete, "reviews"),
)
