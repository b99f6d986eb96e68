"""Fixed texts that both the world's rows and the sites' forms use."""

from __future__ import annotations

PAYMENTS = ("Credit card", "Pay on invoice", "Bank transfer")
RETURN_REASONS = (
    "Damaged on arrival",
    "Faulty",
    "Wrong item sent",
    "Does not fit",
    "Not as described",
    "Changed my mind",
)
REFUND_REASONS = ("Returned goods", "Damaged on arrival", "Lost in transit", "Goodwill", "Order canceled after payment")
CARRIERS = ("Swiftpost", "Orrin Parcel", "Coastline Couriers")
ADMIN_AREAS = ("dashboard", "orders", "products", "customers", "reviews", "marketing", "reports", "content", "settings")
"""What the permissions of an admin role name."""
