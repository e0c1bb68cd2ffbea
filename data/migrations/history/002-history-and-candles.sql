-- Orders by owner, the book in sort order, candles of every width, and deletion of orders. The rows are rebuilt: the
-- markets' positions are reset and the projector folds the feeds again from their first block.
-- docs/DATABASE.md explains each column.
--
-- The order keys in trades and fills are no foreign keys: deleting an order would search all of them.

DROP TABLE fills;
DROP TABLE trades;
DROP TABLE order_progress;
DROP TABLE orders;
DROP TABLE candles;
UPDATE markets SET stream_seq = 0, feed_seq = 0;

-- Written once; mutable columns are in order_progress, so that a fill does not rewrite the signed body.
CREATE TABLE orders (
  order_key INTEGER PRIMARY KEY,
  market_id INTEGER NOT NULL REFERENCES markets,
  order_id TEXT NOT NULL UNIQUE,
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  created_at_ms INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

-- An index entry ends with its row's key: this one is (owner, created_at_ms, order_key), an owner's orders over all
-- markets.
CREATE INDEX orders_by_owner ON orders (owner, created_at_ms);

CREATE TABLE order_progress (
  order_key INTEGER PRIMARY KEY REFERENCES orders,
  market_id INTEGER NOT NULL REFERENCES markets,
  side TEXT NOT NULL CHECK (side IN ('buy', 'sell')),
  limit_price TEXT NOT NULL,
  rank INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'matching', 'filled', 'cancelled', 'expired')),
  filled TEXT NOT NULL,
  pending TEXT NOT NULL,
  open TEXT NOT NULL,
  filled_quote TEXT,
  updated_seq INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  cancel_reason TEXT,
  cancelled_at_ms INTEGER,
  ended_at_ms INTEGER
) STRICT;

-- The book, best order first; the length comes before the text because longer integers are larger. The size of these
-- indexes follows the book, not the history.
CREATE INDEX order_progress_bids
  ON order_progress (market_id, length(limit_price) DESC, limit_price DESC, rank)
  WHERE side = 'buy' AND open <> '0';
CREATE INDEX order_progress_asks
  ON order_progress (market_id, length(limit_price), limit_price, rank)
  WHERE side = 'sell' AND open <> '0';

-- Orders that ended without a fill, in the order of their deletion: (market_id, ended_at_ms, order_key).
CREATE INDEX order_progress_leaving ON order_progress (market_id, ended_at_ms)
  WHERE ended_at_ms IS NOT NULL AND filled_quote IS NULL AND pending = '0';

CREATE TABLE trades (
  trade_id INTEGER PRIMARY KEY,
  market_id INTEGER NOT NULL REFERENCES markets,
  at_ms INTEGER NOT NULL,
  settlement_id TEXT NOT NULL,
  maker_order_key INTEGER NOT NULL,
  taker_order_key INTEGER NOT NULL,
  taker_side TEXT NOT NULL CHECK (taker_side IN ('buy', 'sell')),
  price TEXT NOT NULL,
  amount TEXT NOT NULL,
  taker_fee TEXT NOT NULL,
  tx_hash BLOB NOT NULL,
  block_number INTEGER NOT NULL
) STRICT;

-- (market_id, trade_id)
CREATE INDEX trades_by_market ON trades (market_id);

-- One row for each order's leg of a trade. The maker's leg comes first, so the trade may follow within a transaction.
CREATE TABLE fills (
  fill_key INTEGER PRIMARY KEY,
  trade_id INTEGER NOT NULL REFERENCES trades DEFERRABLE INITIALLY DEFERRED,
  order_key INTEGER NOT NULL,
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  liquidity TEXT NOT NULL CHECK (liquidity IN ('maker', 'taker')),
  fee TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

-- (owner, at_ms, fill_key)
CREATE INDEX fills_by_owner ON fills (owner, at_ms);

-- Trades summed by each interval that is asked for.
CREATE TABLE candles (
  market_id INTEGER NOT NULL REFERENCES markets,
  width_sec INTEGER NOT NULL CHECK (width_sec IN (60, 300, 900, 3600, 14400, 86400)),
  start_sec INTEGER NOT NULL,
  open TEXT NOT NULL,
  high TEXT NOT NULL,
  low TEXT NOT NULL,
  close TEXT NOT NULL,
  volume TEXT NOT NULL,
  quote_volume TEXT NOT NULL,
  trade_count INTEGER NOT NULL,
  first_trade_id INTEGER NOT NULL,
  last_trade_id INTEGER NOT NULL,
  PRIMARY KEY (market_id, width_sec, start_sec)
) STRICT, WITHOUT ROWID;
