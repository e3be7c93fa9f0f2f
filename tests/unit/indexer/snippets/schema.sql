-- The tables of the shop.
PRAGMA foreign_keys = on;

-- Who buys.
CREATE TABLE IF NOT EXISTS customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE UNIQUE INDEX customers_name ON customers (name);

create or replace function total(customer int) returns int as $$
    select sum(amount) from orders where orders.customer = customer;
$$ language sql;
