-- The read model: what the projector folds from the feeds. Every row but those of prices, close-outs and liquidations follows from the feeds alone, so that deleting
-- the file and starting the projector gives the same rows again. docs/DATABASE.md is made of this file.
--
-- Keys that end in _key are log positions: the change's seq in its market × 65,536 + the market's ordinal. A trade_id is the
-- number of a trade in its market × 65,536 + the ordinal. Amounts, prices and fees are integers at 1e18 in decimal text,
-- because they exceed 64 bits.

-- Cursor of each projected market, one row a market.
CREATE TABLE markets (
  -- The market's ordinal, never reused.
  market_id INTEGER PRIMARY KEY CHECK (market_id BETWEEN 0 AND 65535),
  market TEXT NOT NULL UNIQUE,
  -- The last applied message of FEED_<market>; 0 before the first.
  stream_seq INTEGER NOT NULL,
  -- seq of the last applied change; a gateway compares it with the position of an answer it has given.
  feed_seq INTEGER NOT NULL,
  -- What the market's feed last stated of its rules and how it trades; NULL before it stated anything.
  terms TEXT
) STRICT;

-- The accepted order. What changes often is in order_progress, so that a fill does not rewrite the signed body. Deleted with its
-- progress.
CREATE TABLE orders (
  -- Log position of the placement.
  order_key INTEGER PRIMARY KEY,
  market_id INTEGER NOT NULL REFERENCES markets,
  order_id TEXT NOT NULL UNIQUE,
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  -- Market time of the placement.
  created_at_ms INTEGER NOT NULL,
  -- The order with its version (orderText of bus-schemas/orders.ts); written again when a change makes it another: its signature is
  -- checked late, or its amount is changed.
  body TEXT NOT NULL
) STRICT;

-- An index entry ends with its row's key: this one is (owner, created_at_ms, order_key), an owner's orders over all
-- markets.
CREATE INDEX orders_by_owner ON orders (owner, created_at_ms);

-- State of each order, written with it and by each later change; small, because it is rewritten often. Cancelled and expired orders
-- without a fill are deleted 30 days of market time after their end, here and in orders: after each block at most four for each change
-- of it, so that the same feed leaves the same rows.
CREATE TABLE order_progress (
  order_key INTEGER PRIMARY KEY REFERENCES orders,
  market_id INTEGER NOT NULL REFERENCES markets,
  side TEXT NOT NULL CHECK (side IN ('buy', 'sell')),
  limit_price TEXT NOT NULL,
  -- Time priority: number of the placement in the market.
  rank INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'matching', 'filled', 'cancelled', 'expired')),
  -- Settled amount, with what was inherited.
  filled TEXT NOT NULL,
  -- Matched, and awaits settlement.
  pending TEXT NOT NULL,
  -- What can be matched now; 0 while held and after the end.
  open TEXT NOT NULL,
  -- What the order's own fills that stand add up to, NULL before the first: their amount, which is another one than filled where
  -- not all of them are known, and the quote, at 1e18, Σ price × amount at 1e36, exact, and the fees that it paid, at 1e18.
  fills_amount TEXT,
  filled_quote TEXT,
  filled_product TEXT,
  fee_paid TEXT,
  -- seq and market time of the last change.
  updated_seq INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  -- NULL unless cancelled; the first reason stands.
  cancel_reason TEXT,
  cancelled_at_ms INTEGER,
  ended_at_ms INTEGER,
  -- Why an order rests without being open; NULL when it is open, or ended.
  held_reason TEXT
) STRICT;

-- The active and matching orders, so that an owner's are read whatever came after them. The key is not a foreign key: deleting an
-- order would search all of them.
CREATE TABLE live_orders (
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  created_at_ms INTEGER NOT NULL,
  order_key INTEGER NOT NULL,
  market_id INTEGER NOT NULL REFERENCES markets,
  subaccount_id TEXT NOT NULL,
  PRIMARY KEY (owner, created_at_ms, order_key)
) STRICT, WITHOUT ROWID;

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

-- One row for each settled match, written by the taker's leg, which comes second. The order keys in trades and fills are not foreign keys:
-- deleting an order would search all of them.
CREATE TABLE trades (
  trade_id INTEGER PRIMARY KEY,
  -- That of the taker's leg.
  fill_key INTEGER NOT NULL,
  market_id INTEGER NOT NULL REFERENCES markets,
  at_ms INTEGER NOT NULL,
  -- <market>:<seq> of the change that proposed the match; the executor's idempotency key.
  settlement_id TEXT NOT NULL,
  maker_order_key INTEGER NOT NULL,
  taker_order_key INTEGER NOT NULL,
  -- Engine side.
  taker_side TEXT NOT NULL CHECK (taker_side IN ('buy', 'sell')),
  -- The maker's limit.
  price TEXT NOT NULL,
  amount TEXT NOT NULL,
  -- The quote of the trade, computed by the market's contract: sums over trades need no market data.
  quote TEXT NOT NULL,
  taker_fee TEXT NOT NULL,
  tx_hash BLOB NOT NULL,
  block_number INTEGER NOT NULL,
  -- The mark at which the chain booked it; only of contract types whose positions are valued at one.
  mark_price TEXT,
  -- Time of its reversal, after the chain finally lost it; NULL otherwise. Reversed trades are in no statistics.
  reversed_at_ms INTEGER
) STRICT;

-- (market_id, trade_id)
CREATE INDEX trades_by_market ON trades (market_id);
-- (market_id, taker_side, at_ms, trade_id): the trades of one side in a range of time, as listing sites ask for them.
CREATE INDEX trades_by_side ON trades (market_id, taker_side, at_ms);
-- The few reversed trades, so that a page of fills needs no look-up of each trade.
CREATE INDEX trades_reversed ON trades (trade_id) WHERE reversed_at_ms IS NOT NULL;

-- One row for each order's leg of a trade. The maker's leg comes first, so the trade may follow within a transaction. An
-- owner's fills are adjacent and hold all their public fields, so that a page is read in one place, however long the history is.
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
  mark_price TEXT,
  PRIMARY KEY (owner, at_ms, fill_key)
) STRICT, WITHOUT ROWID;

-- Trades summed by each interval that is asked for, aligned to the epoch; a bucket without trades has no row.
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
  -- All trades of the market in this range that stand.
  first_trade_id INTEGER NOT NULL,
  last_trade_id INTEGER NOT NULL,
  PRIMARY KEY (market_id, width_sec, start_sec)
) STRICT, WITHOUT ROWID;

-- What the fills of each account add up to in a market with positions: the signed size, and Σ price × size of what is open.
-- The cost is NULL after a reversed fill, until the position is flat again.
CREATE TABLE position_entries (
  market_id INTEGER NOT NULL REFERENCES markets,
  subaccount_id TEXT NOT NULL,
  size TEXT NOT NULL,
  cost TEXT,
  PRIMARY KEY (market_id, subaccount_id)
) STRICT, WITHOUT ROWID;

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

-- Mark and index as the chain showed them, from the observations in the market's command log, so that a rebuild has them as far back
-- as that is kept. The first observation of each minute in which they differ from the row before, and of each hour; kept for 90 days.
CREATE TABLE mark_prices (
  market_id INTEGER NOT NULL REFERENCES markets,
  start_sec INTEGER NOT NULL,
  observed_sec INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  mark TEXT NOT NULL,
  index_price TEXT,
  PRIMARY KEY (market_id, start_sec)
) STRICT, WITHOUT ROWID;

-- Funding as the chain showed it: the first observation of each hour; kept for two years.
CREATE TABLE funding_rates (
  market_id INTEGER NOT NULL REFERENCES markets,
  start_sec INTEGER NOT NULL,
  observed_sec INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  -- Of one hour, signed, 1e18; positive when longs pay.
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

-- Positions that the chain has closed at the settlement price of their market, from the command log of the market; each account
-- once.
CREATE TABLE close_outs (
  -- Counts the rows, for the cursor of a page.
  close_key INTEGER PRIMARY KEY,
  market_id INTEGER NOT NULL REFERENCES markets,
  subaccount_id TEXT NOT NULL,
  -- Of the account when it was read.
  owner BLOB NOT NULL CHECK (length(owner) = 20),
  at_ms INTEGER NOT NULL,
  -- What was closed, signed, in the engine's amounts.
  position TEXT NOT NULL,
  -- Settlement price.
  price TEXT NOT NULL,
  -- Final variation margin, signed, in cNGN.
  variation TEXT NOT NULL,
  tx_hash BLOB NOT NULL,
  block_number INTEGER NOT NULL,
  UNIQUE (market_id, subaccount_id)
) STRICT;

-- (owner, at_ms, close_key): an owner's close-outs over all markets.
CREATE INDEX close_outs_by_owner ON close_outs (owner, at_ms);
