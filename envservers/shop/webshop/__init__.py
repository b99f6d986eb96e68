"""WebShop: find a product that fits a wish, choose its options, buy it."""
