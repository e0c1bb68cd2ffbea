-- The read model: what the projector folds from the feeds. Every row follows from the feeds alone, so that deleting
-- the file and starting the projector gives the same rows again. docs/DATABASE.md explains each column.
--
-- Keys that end in _key, and trade_id, are log positions: the change's seq in its market × 256 + the market's ordinal.
-- Amounts, prices and fees are integers at 1e18 in decimal text, because they exceed 64 bits.

CREATE TABLE markets (
  market_id INTEGER PRIMARY KEY CHECK (market_id BETWEEN 0 AND 255),
  market TEXT NOT NULL UNIQUE,
  stream_seq INTEGER NOT NULL,
  feed_seq INTEGER NOT NULL
) STRICT;

-- Written once; mutable columns are in order_progress, so that a fill does not rewrite the signed body.
CREATE TABLE orders (
  order_key INTEGER PRIMARY KEY,
  market_id INTEGER NOT NULL REFERENCES markets,
  order_id TEXT NOT NULL UNIQUE,
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  nonce TEXT NOT NULL,
  rank INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (owner, nonce)
) STRICT;

CREATE TABLE order_progress (
  order_key INTEGER PRIMARY KEY REFERENCES orders,
  market_id INTEGER NOT NULL REFERENCES markets,
  status TEXT NOT NULL CHECK (status IN ('active', 'matching', 'filled', 'cancelled', 'expired')),
  filled TEXT NOT NULL,
  pending TEXT NOT NULL,
  open TEXT NOT NULL,
  updated_seq INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  cancel_reason TEXT,
  cancelled_at_ms INTEGER
) STRICT;

-- The book: the size of this index follows the book, not the history.
CREATE INDEX order_progress_open ON order_progress (market_id) WHERE open <> '0';

CREATE TABLE trades (
  trade_id INTEGER PRIMARY KEY,
  market_id INTEGER NOT NULL REFERENCES markets,
  at_ms INTEGER NOT NULL,
  settlement_id TEXT NOT NULL,
  maker_order_key INTEGER NOT NULL REFERENCES orders,
  taker_order_key INTEGER NOT NULL REFERENCES orders,
  taker_side TEXT NOT NULL CHECK (taker_side IN ('buy', 'sell')),
  price TEXT NOT NULL,
  amount TEXT NOT NULL,
  taker_fee TEXT NOT NULL,
  tx_hash BLOB NOT NULL,
  block_number INTEGER NOT NULL
) STRICT;

-- An index entry ends with its row's key: this one is (market_id, trade_id).
CREATE INDEX trades_by_market ON trades (market_id);

-- One row for each order's leg of a trade. The maker's leg comes first, so the trade may follow within a transaction.
CREATE TABLE fills (
  fill_key INTEGER PRIMARY KEY,
  trade_id INTEGER NOT NULL REFERENCES trades DEFERRABLE INITIALLY DEFERRED,
  order_key INTEGER NOT NULL REFERENCES orders,
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  liquidity TEXT NOT NULL CHECK (liquidity IN ('maker', 'taker')),
  fee TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX fills_by_order ON fills (order_key);
-- (owner, at_ms, fill_key): the order of an owner's history over all markets.
CREATE INDEX fills_by_owner ON fills (owner, at_ms);

-- Trades summed by the minute and by the hour.
CREATE TABLE candles (
  market_id INTEGER NOT NULL REFERENCES markets,
  width_sec INTEGER NOT NULL CHECK (width_sec IN (60, 3600)),
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
