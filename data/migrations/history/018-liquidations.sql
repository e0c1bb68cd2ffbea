-- Events of liquidations in all markets, from their own stream, which keeps the newest 10,000 messages. One of a lost block is deleted.
CREATE TABLE liquidations (
  -- Counts the rows, for the cursor of a page.
  liquidation_key INTEGER PRIMARY KEY,
  market TEXT NOT NULL,
  subaccount_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  event TEXT NOT NULL
    CHECK (event IN ('auction_started', 'insolvent_auction_started', 'bid', 'auction_ended', 'takeover')),
  -- Signed, in the engine's amounts; NULL where the event states none.
  size TEXT,
  -- At which the contracts valued the position; NULL where the transaction states none.
  price TEXT,
  -- Of a bid: the share of the account that it took.
  portion TEXT,
  -- The account that took over.
  by_subaccount_id TEXT,
  -- Of a bid: what it paid to the account, in the market's cash.
  paid TEXT,
  -- What the account that took over was paid besides: of a bid in USDC, of a takeover in USD.
  received TEXT,
  tx_hash BLOB NOT NULL,
  block_hash BLOB NOT NULL,
  block_number INTEGER NOT NULL,
  -- Of the event in its block.
  log_index INTEGER NOT NULL,
  UNIQUE (market, block_hash, log_index)
) STRICT;

-- (at_ms, liquidation_key), (market, at_ms, liquidation_key), (subaccount_id, at_ms, liquidation_key)
CREATE INDEX liquidations_by_time ON liquidations (at_ms);
CREATE INDEX liquidations_by_market ON liquidations (market, at_ms);
CREATE INDEX liquidations_by_account ON liquidations (subaccount_id, at_ms);

-- The last message of LIQUIDATIONS whose events are in the table above; one row, none before the first.
CREATE TABLE liquidation_cursor (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  stream_seq INTEGER NOT NULL
) STRICT;
