-- The active and matching orders, so that an owner's are read whatever came after them. The rows are rebuilt: the markets'
-- positions are reset and the projector folds the feeds again from their first block. The key is no foreign key: deleting an
-- order would search all of them.

DELETE FROM fills;
DELETE FROM trades;
DELETE FROM order_events;
DELETE FROM order_progress;
DELETE FROM orders;
DELETE FROM candles;
DELETE FROM position_entries;
UPDATE markets SET stream_seq = 0, feed_seq = 0;

CREATE TABLE live_orders (
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  created_at_ms INTEGER NOT NULL,
  order_key INTEGER NOT NULL,
  market_id INTEGER NOT NULL REFERENCES markets,
  subaccount_id TEXT NOT NULL,
  PRIMARY KEY (owner, created_at_ms, order_key)
) STRICT, WITHOUT ROWID;
