-- An owner's fills are adjacent and hold all their public fields, so that a page is read in one place, however long the
-- history is. The rows are rebuilt: the markets' positions are reset and the projector folds the feeds again from their
-- first block.

DROP TABLE fills;
DELETE FROM trades;
DELETE FROM order_progress;
DELETE FROM orders;
DELETE FROM candles;
UPDATE markets SET stream_seq = 0, feed_seq = 0;

-- One row for each order's leg of a trade. The maker's leg comes first, so the trade may follow within a transaction.
CREATE TABLE fills (
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  at_ms INTEGER NOT NULL,
  fill_key INTEGER NOT NULL,
  trade_id INTEGER NOT NULL REFERENCES trades DEFERRABLE INITIALLY DEFERRED,
  market_id INTEGER NOT NULL REFERENCES markets,
  order_id TEXT NOT NULL,
  liquidity TEXT NOT NULL CHECK (liquidity IN ('maker', 'taker')),
  side TEXT NOT NULL CHECK (side IN ('buy', 'sell')),
  price TEXT NOT NULL,
  amount TEXT NOT NULL,
  fee TEXT NOT NULL,
  tx_hash BLOB NOT NULL,
  PRIMARY KEY (owner, at_ms, fill_key)
) STRICT, WITHOUT ROWID;

-- The few reversed trades, so that a page of fills needs no look-up of each trade.
CREATE INDEX trades_reversed ON trades (trade_id) WHERE reversed_at_ms IS NOT NULL;
