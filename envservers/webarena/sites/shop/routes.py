"""The shop's pages."""

from __future__ import annotations

from envservers.webarena.sites.common.routing import Route
from envservers.webarena.sites.shop.pages import browse, cart, product

ROUTES = (
    Route(method="GET", pattern="/", name="home", page=browse.home),
    Route(method="GET", pattern="/categories", name="categories", page=browse.categories),
    Route(method="GET", pattern="/c/{slug:slug}", name="category", page=browse.category),
    Route(method="GET", pattern="/brands", name="brands", page=browse.brands),
    Route(method="GET", pattern="/brands/{slug:slug}", name="brand", page=browse.brand),
    Route(method="GET", pattern="/search", name="search", page=browse.search),
    Route(method="GET", pattern="/sale", name="sale", page=browse.sale),
    Route(method="GET", pattern="/new", name="new", page=browse.new),
    Route(method="GET", pattern="/best-sellers", name="best_sellers", page=browse.best_sellers),
    Route(method="GET", pattern="/p/{slug:slug}", name="product", page=product.description),
    Route(method="GET", pattern="/p/{slug:slug}/specs", name="product_specs", page=product.specs),
    Route(method="GET", pattern="/p/{slug:slug}/reviews", name="product_reviews", page=product.reviews),
    Route(method="GET", pattern="/p/{slug:slug}/write-review", name="review", page=product.review_form),
    Route(method="POST", pattern="/p/{slug:slug}/write-review", name="review", page=product.send_review),
    Route(method="GET", pattern="/cart", name="cart", page=cart.show),
    Route(method="POST", pattern="/cart/add/{id:int}", name="cart_add", page=cart.add),
    Route(method="POST", pattern="/cart/lines/{id:int}", name="cart_line", page=cart.change),
    Route(method="POST", pattern="/cart/coupon", name="cart_coupon", page=cart.set_coupon),
    Route(method="POST", pattern="/cart/coupon/remove", name="cart_coupon_remove", page=cart.drop_coupon),
    Route(method="POST", pattern="/cart/note", name="cart_note", page=cart.set_note),
)
