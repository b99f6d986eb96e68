-- The world's tables. Money is in cents, times are 'YYYY-MM-DD HH:MM:SS', days 'YYYY-MM-DD'. Every table has an
-- integer primary key, so that two databases can be compared row by row; AUTOINCREMENT, so that a new row never takes the
-- id of one that was deleted.

CREATE TABLE world (id INTEGER PRIMARY KEY AUTOINCREMENT, seed INTEGER NOT NULL, size TEXT NOT NULL, version TEXT NOT NULL,
                    starts_at TEXT NOT NULL);  -- session time at step 0

CREATE TABLE region (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
CREATE TABLE town (id INTEGER PRIMARY KEY AUTOINCREMENT, region_id INTEGER NOT NULL REFERENCES region, name TEXT NOT NULL UNIQUE,
                   postcode TEXT NOT NULL);
CREATE TABLE person (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, town_id INTEGER NOT NULL REFERENCES town,
                     known_for TEXT NOT NULL);

-- Catalogue
CREATE TABLE brand (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, slug TEXT NOT NULL UNIQUE, about TEXT NOT NULL,
                    town_id INTEGER NOT NULL REFERENCES town);
CREATE TABLE category (id INTEGER PRIMARY KEY AUTOINCREMENT, parent_id INTEGER REFERENCES category, name TEXT NOT NULL,
                       slug TEXT NOT NULL UNIQUE, position INTEGER NOT NULL, description TEXT NOT NULL,
                       active INTEGER NOT NULL DEFAULT 1);  -- three levels; only leaves hold products
CREATE TABLE product (
    id INTEGER PRIMARY KEY AUTOINCREMENT, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL, slug TEXT NOT NULL UNIQUE,
    brand_id INTEGER NOT NULL REFERENCES brand, category_id INTEGER NOT NULL REFERENCES category,
    price_cents INTEGER NOT NULL, special_cents INTEGER,  -- special: the price asked now, if lower
    stock INTEGER NOT NULL,  -- of a product with variants: their sum
    status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled')),
    description TEXT NOT NULL, weight_g INTEGER NOT NULL, created_at TEXT NOT NULL,
    popularity REAL NOT NULL,  -- Zipf weight
    picture TEXT NOT NULL);  -- JSON: silhouette, palette, angle
CREATE TABLE product_spec (id INTEGER PRIMARY KEY AUTOINCREMENT, product_id INTEGER NOT NULL REFERENCES product ON DELETE CASCADE,
                           position INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE product_feature (id INTEGER PRIMARY KEY AUTOINCREMENT, product_id INTEGER NOT NULL REFERENCES product ON DELETE CASCADE,
                              position INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE variant (id INTEGER PRIMARY KEY AUTOINCREMENT, product_id INTEGER NOT NULL REFERENCES product ON DELETE CASCADE,
                      sku TEXT NOT NULL UNIQUE, color TEXT NOT NULL DEFAULT '', size TEXT NOT NULL DEFAULT '',
                      stock INTEGER NOT NULL);
CREATE TABLE price_rule (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, category_id INTEGER REFERENCES category,
                         percent INTEGER NOT NULL, starts_on TEXT NOT NULL, ends_on TEXT NOT NULL,
                         active INTEGER NOT NULL);

-- Customers
CREATE TABLE customer_group (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, discount_percent INTEGER NOT NULL);
CREATE TABLE customer (
    id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE, password TEXT NOT NULL,  -- plain: a made-up world
    first_name TEXT NOT NULL, last_name TEXT NOT NULL, phone TEXT NOT NULL,
    group_id INTEGER NOT NULL REFERENCES customer_group, newsletter INTEGER NOT NULL, active INTEGER NOT NULL,
    created_at TEXT NOT NULL);
CREATE TABLE address (
    id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customer ON DELETE CASCADE,
    first_name TEXT NOT NULL, last_name TEXT NOT NULL, street TEXT NOT NULL, town TEXT NOT NULL, region TEXT NOT NULL,
    postcode TEXT NOT NULL, phone TEXT NOT NULL, is_default INTEGER NOT NULL);

-- Orders. One customer order is one row with its lines and documents.
CREATE TABLE sales_order (
    id INTEGER PRIMARY KEY AUTOINCREMENT, number TEXT NOT NULL UNIQUE,  -- '000000123'
    customer_id INTEGER REFERENCES customer, email TEXT NOT NULL, placed_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'shipped', 'complete', 'on_hold', 'canceled', 'closed')),
    subtotal_cents INTEGER NOT NULL, discount_cents INTEGER NOT NULL, shipping_cents INTEGER NOT NULL,
    total_cents INTEGER NOT NULL, refunded_cents INTEGER NOT NULL DEFAULT 0,
    coupon_code TEXT NOT NULL DEFAULT '', gift_note TEXT NOT NULL DEFAULT '',
    shipping_method TEXT NOT NULL, payment_method TEXT NOT NULL,
    first_name TEXT NOT NULL, last_name TEXT NOT NULL, street TEXT NOT NULL, town TEXT NOT NULL, region TEXT NOT NULL,
    postcode TEXT NOT NULL, phone TEXT NOT NULL);
CREATE TABLE order_line (
    id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL REFERENCES sales_order ON DELETE CASCADE,
    product_id INTEGER NOT NULL REFERENCES product, variant_id INTEGER REFERENCES variant, sku TEXT NOT NULL,
    name TEXT NOT NULL, options TEXT NOT NULL DEFAULT '',  -- 'Color: Blue, Size: M'
    quantity INTEGER NOT NULL, price_cents INTEGER NOT NULL);
CREATE TABLE invoice (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL REFERENCES sales_order, number TEXT NOT NULL UNIQUE,
                      created_at TEXT NOT NULL, total_cents INTEGER NOT NULL);
CREATE TABLE shipment (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL REFERENCES sales_order, number TEXT NOT NULL UNIQUE,
                       carrier TEXT NOT NULL, tracking TEXT NOT NULL, shipped_at TEXT NOT NULL);
CREATE TABLE refund (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL REFERENCES sales_order, number TEXT NOT NULL UNIQUE,
                     created_at TEXT NOT NULL, amount_cents INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE order_note (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL REFERENCES sales_order, created_at TEXT NOT NULL,
                         author TEXT NOT NULL, text TEXT NOT NULL, notify INTEGER NOT NULL);
CREATE TABLE return_request (
    id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL REFERENCES sales_order,
    order_line_id INTEGER NOT NULL REFERENCES order_line, quantity INTEGER NOT NULL, reason TEXT NOT NULL,
    comment TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('requested', 'approved', 'rejected', 'received')),
    created_at TEXT NOT NULL);

-- What customers leave behind
CREATE TABLE review (
    id INTEGER PRIMARY KEY AUTOINCREMENT, product_id INTEGER NOT NULL REFERENCES product, customer_id INTEGER REFERENCES customer,
    nickname TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL, stars INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')), created_at TEXT NOT NULL);
CREATE TABLE wish (id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customer,
                   product_id INTEGER NOT NULL REFERENCES product, added_at TEXT NOT NULL, UNIQUE (customer_id, product_id));
CREATE TABLE comparison (id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customer,
                         product_id INTEGER NOT NULL REFERENCES product, UNIQUE (customer_id, product_id));
CREATE TABLE cart (id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL UNIQUE REFERENCES customer,
                   coupon_code TEXT NOT NULL DEFAULT '', gift_note TEXT NOT NULL DEFAULT '');  -- guests' carts are in scratch
CREATE TABLE cart_line (id INTEGER PRIMARY KEY AUTOINCREMENT, cart_id INTEGER NOT NULL REFERENCES cart ON DELETE CASCADE,
                        product_id INTEGER NOT NULL REFERENCES product, variant_id INTEGER REFERENCES variant,
                        quantity INTEGER NOT NULL);
CREATE TABLE subscriber (id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL);  -- of the newsletter, without account
CREATE TABLE contact_message (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT NOT NULL, subject TEXT NOT NULL,
                              order_number TEXT NOT NULL DEFAULT '', body TEXT NOT NULL, created_at TEXT NOT NULL);

-- What the store's people run
CREATE TABLE coupon (
    id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT NOT NULL UNIQUE, description TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('percent', 'fixed', 'free_shipping')),
    amount INTEGER NOT NULL,  -- percent, or cents
    min_cents INTEGER NOT NULL, starts_on TEXT NOT NULL, ends_on TEXT NOT NULL, active INTEGER NOT NULL,
    uses INTEGER NOT NULL, use_limit INTEGER);
CREATE TABLE shipping_rate (id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL, price_cents INTEGER NOT NULL,
                            free_over_cents INTEGER, days TEXT NOT NULL, active INTEGER NOT NULL);
CREATE TABLE search_term (id INTEGER PRIMARY KEY AUTOINCREMENT, term TEXT NOT NULL UNIQUE, uses INTEGER NOT NULL, results INTEGER NOT NULL);
CREATE TABLE cms_page (id INTEGER PRIMARY KEY AUTOINCREMENT, slug TEXT NOT NULL UNIQUE, title TEXT NOT NULL, body TEXT NOT NULL,
                       active INTEGER NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE admin_role (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, permissions TEXT NOT NULL);  -- comma-separated areas
CREATE TABLE admin_user (id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL UNIQUE, password TEXT NOT NULL, email TEXT NOT NULL,
                         first_name TEXT NOT NULL, last_name TEXT NOT NULL, role_id INTEGER NOT NULL REFERENCES admin_role,
                         active INTEGER NOT NULL, created_at TEXT NOT NULL);

CREATE INDEX product_by_category ON product (category_id);
CREATE INDEX product_by_brand ON product (brand_id);
CREATE INDEX spec_by_product ON product_spec (product_id);
CREATE INDEX feature_by_product ON product_feature (product_id);
CREATE INDEX variant_by_product ON variant (product_id);
CREATE INDEX order_by_customer ON sales_order (customer_id);
CREATE INDEX order_by_time ON sales_order (placed_at);
CREATE INDEX line_by_order ON order_line (order_id);
CREATE INDEX line_by_product ON order_line (product_id);
CREATE INDEX review_by_product ON review (product_id, status, stars);  -- covers the mean of every list
CREATE INDEX address_by_customer ON address (customer_id);
CREATE INDEX invoice_by_order ON invoice (order_id);
CREATE INDEX shipment_by_order ON shipment (order_id);
CREATE INDEX refund_by_order ON refund (order_id);
CREATE INDEX note_by_order ON order_note (order_id);

-- Search, kept up by the shop's code when a product changes. Virtual tables and their shadows are no part of
-- comparisons. rowid = product.id.
CREATE VIRTUAL TABLE product_search USING fts5 (name, brand, category, description, tokenize='porter unicode61');
