-- The mark at which the chain booked a fill, at 1e18; only of contract types whose positions are valued at one.

ALTER TABLE trades ADD COLUMN mark_price TEXT;
ALTER TABLE fills ADD COLUMN mark_price TEXT;
