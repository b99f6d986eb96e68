"""The shop's pages."""

from __future__ import annotations

from envservers.webarena.sites.common.routing import Route
from envservers.webarena.sites.shop.pages import (
    account,
    browse,
    cart,
    checkout,
    entrance,
    lists,
    order_pages,
    product,
    service,
)

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
    Route(method="GET", pattern="/checkout", name="checkout", page=checkout.start),
    Route(method="GET", pattern="/checkout/address", name="checkout_address", page=checkout.address),
    Route(method="POST", pattern="/checkout/address", name="checkout_address", page=checkout.set_address),
    Route(method="GET", pattern="/checkout/shipping", name="checkout_shipping", page=checkout.shipping),
    Route(method="POST", pattern="/checkout/shipping", name="checkout_shipping", page=checkout.set_shipping),
    Route(method="GET", pattern="/checkout/payment", name="checkout_payment", page=checkout.payment),
    Route(method="POST", pattern="/checkout/payment", name="checkout_payment", page=checkout.set_payment),
    Route(method="GET", pattern="/checkout/review", name="checkout_review", page=checkout.review),
    Route(method="POST", pattern="/checkout/place", name="checkout_place", page=checkout.place),
    Route(method="GET", pattern="/checkout/success", name="checkout_success", page=checkout.success),
    Route(method="GET", pattern="/compare", name="compare", page=lists.comparison),
    Route(method="POST", pattern="/compare/add/{id:int}", name="compare_add", page=lists.compare),
    Route(method="POST", pattern="/compare/remove/{id:int}", name="compare_remove", page=lists.drop),
    Route(method="POST", pattern="/compare/clear", name="compare_clear", page=lists.clear),
    Route(method="GET", pattern="/wishlist", name="wishlist", page=lists.wish_list, needs="customer"),
    Route(method="POST", pattern="/wishlist/add/{id:int}", name="wishlist_add", page=lists.add_wish, needs="customer"),
    Route(
        method="POST",
        pattern="/wishlist/remove/{id:int}",
        name="wishlist_remove",
        page=lists.remove_wish,
        needs="customer",
    ),
    Route(
        method="POST", pattern="/wishlist/to-cart/{id:int}", name="wishlist_buy", page=lists.buy_wish, needs="customer"
    ),
    Route(method="GET", pattern="/login", name="login", page=entrance.form),
    Route(method="POST", pattern="/login", name="login", page=entrance.sign_in),
    Route(method="GET", pattern="/logout", name="logout", page=entrance.sign_out),
    Route(method="POST", pattern="/logout", name="logout", page=entrance.leave),
    Route(method="GET", pattern="/register", name="register", page=entrance.register_form),
    Route(method="POST", pattern="/register", name="register", page=entrance.register),
    Route(method="GET", pattern="/forgot-password", name="forgot_password", page=entrance.forgot_form),
    Route(method="POST", pattern="/forgot-password", name="forgot_password", page=entrance.forgot),
    Route(method="GET", pattern="/account", name="account", page=account.overview, needs="customer"),
    Route(method="GET", pattern="/account/orders", name="orders", page=order_pages.history, needs="customer"),
    Route(
        method="GET", pattern="/account/orders/{number:digits}", name="order", page=order_pages.show, needs="customer"
    ),
    Route(
        method="GET",
        pattern="/account/orders/{number:digits}/invoice",
        name="invoice",
        page=order_pages.invoice,
        needs="customer",
    ),
    Route(
        method="POST",
        pattern="/account/orders/{number:digits}/reorder",
        name="reorder",
        page=order_pages.reorder,
        needs="customer",
    ),
    Route(
        method="GET",
        pattern="/account/orders/{number:digits}/return",
        name="return",
        page=order_pages.return_form,
        needs="customer",
    ),
    Route(
        method="POST",
        pattern="/account/orders/{number:digits}/return",
        name="return",
        page=order_pages.send_return,
        needs="customer",
    ),
    Route(method="GET", pattern="/account/returns", name="returns", page=order_pages.returns, needs="customer"),
    Route(method="GET", pattern="/account/addresses", name="addresses", page=account.addresses, needs="customer"),
    Route(
        method="GET", pattern="/account/addresses/new", name="address_new", page=account.new_address, needs="customer"
    ),
    Route(
        method="POST", pattern="/account/addresses/new", name="address_new", page=account.add_address, needs="customer"
    ),
    Route(
        method="GET", pattern="/account/addresses/{id:int}", name="address", page=account.edit_address, needs="customer"
    ),
    Route(
        method="POST",
        pattern="/account/addresses/{id:int}",
        name="address",
        page=account.save_address,
        needs="customer",
    ),
    Route(
        method="GET",
        pattern="/account/addresses/{id:int}/delete",
        name="address_delete",
        page=account.ask_delete_address,
        needs="customer",
    ),
    Route(
        method="POST",
        pattern="/account/addresses/{id:int}/delete",
        name="address_delete",
        page=account.delete_address,
        needs="customer",
    ),
    Route(method="GET", pattern="/account/profile", name="profile", page=account.profile, needs="customer"),
    Route(method="POST", pattern="/account/profile", name="profile", page=account.save_profile, needs="customer"),
    Route(method="GET", pattern="/account/password", name="password", page=account.password_form, needs="customer"),
    Route(method="POST", pattern="/account/password", name="password", page=account.save_password, needs="customer"),
    Route(
        method="GET",
        pattern="/account/newsletter",
        name="account_newsletter",
        page=account.newsletter,
        needs="customer",
    ),
    Route(
        method="POST",
        pattern="/account/newsletter",
        name="account_newsletter",
        page=account.save_newsletter,
        needs="customer",
    ),
    Route(method="GET", pattern="/account/reviews", name="my_reviews", page=account.reviews, needs="customer"),
    Route(
        method="GET", pattern="/account/reviews/{id:int}", name="my_review", page=account.edit_review, needs="customer"
    ),
    Route(
        method="POST", pattern="/account/reviews/{id:int}", name="my_review", page=account.save_review, needs="customer"
    ),
    Route(
        method="GET",
        pattern="/account/reviews/{id:int}/delete",
        name="my_review_delete",
        page=account.ask_delete_review,
        needs="customer",
    ),
    Route(
        method="POST",
        pattern="/account/reviews/{id:int}/delete",
        name="my_review_delete",
        page=account.delete_review,
        needs="customer",
    ),
    Route(method="GET", pattern="/contact", name="contact", page=service.contact),
    Route(method="POST", pattern="/contact", name="contact", page=service.send_contact),
    Route(method="GET", pattern="/help", name="help", page=service.help_pages),
    Route(method="GET", pattern="/help/{slug:slug}", name="help_page", page=service.help_page),
    Route(method="GET", pattern="/newsletter", name="newsletter", page=service.newsletter),
    Route(method="POST", pattern="/newsletter", name="newsletter", page=service.subscribe),
    Route(method="GET", pattern="/track", name="track", page=order_pages.track),
)
