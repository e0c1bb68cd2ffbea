-- Why an order was held, released, refused by the chain or lost a fill, for those who ask what became of it. The rows are
-- rebuilt: the markets' positions are reset and the projector folds the feeds again from their first block.

DELETE FROM fills;
DELETE FROM trades;
DELETE FROM order_progress;
DELETE FROM orders;
DELETE FROM candles;
DELETE FROM position_entries;
UPDATE markets SET stream_seq = 0, feed_seq = 0;

-- The newest events of an order; holds that every sweep and every last second begin are left out.
CREATE TABLE order_events (
  order_key INTEGER NOT NULL,
  event_key INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('held', 'released', 'refused', 'reversed')),
  held_reason TEXT,
  settlement_id TEXT,
  revert TEXT,
  trade_id INTEGER,
  PRIMARY KEY (order_key, event_key)
) STRICT, WITHOUT ROWID;

-- Mark, index and funding as the chain showed them, from the observations in the market's command log (docs/DATABASE.md).
CREATE TABLE mark_prices (
  market_id INTEGER NOT NULL REFERENCES markets,
  start_sec INTEGER NOT NULL,
  observed_sec INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  mark TEXT NOT NULL,
  index_price TEXT,
  PRIMARY KEY (market_id, start_sec)
) STRICT, WITHOUT ROWID;

CREATE TABLE funding_rates (
  market_id INTEGER NOT NULL REFERENCES markets,
  start_sec INTEGER NOT NULL,
  observed_sec INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  rate TEXT NOT NULL,
  mark TEXT NOT NULL,
  index_price TEXT,
  PRIMARY KEY (market_id, start_sec)
) STRICT, WITHOUT ROWID;

-- The last message of COMMANDS_<market> whose observation is in the two tables.
CREATE TABLE price_cursors (
  market_id INTEGER PRIMARY KEY REFERENCES markets,
  stream_seq INTEGER NOT NULL
) STRICT;
