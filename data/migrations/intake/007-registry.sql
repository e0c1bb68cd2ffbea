-- Which order ids and nonces are taken: a fold of the command logs, stored after them.

-- Every order that a log holds, kept as a tombstone after the order itself is deleted.
CREATE TABLE taken_order (
  order_id TEXT NOT NULL PRIMARY KEY,
  owner TEXT NOT NULL,
  -- Canonical base 10: a uint256 does not fit an integer column.
  nonce TEXT NOT NULL,
  market TEXT NOT NULL,
  -- Digest of the signed action, to tell a repeat from a different order.
  fingerprint BLOB NOT NULL,
  UNIQUE (owner, nonce)
) STRICT, WITHOUT ROWID;

-- Up to where each market's log is folded: every command of the intake up to last_no is at or below stream_seq.
CREATE TABLE log_position (
  market TEXT NOT NULL PRIMARY KEY,
  stream_seq INTEGER NOT NULL,
  last_no INTEGER NOT NULL
) STRICT;

-- The sequence from which each market's feed must be read to learn every live order.
CREATE TABLE watched_from (
  market TEXT NOT NULL PRIMARY KEY,
  stream_seq INTEGER NOT NULL
) STRICT;

-- What each market's feed last stated of its rules and how it trades: an order is judged by it before the feed is read.
CREATE TABLE market_terms (
  market TEXT PRIMARY KEY,
  -- Sequence of the message of FEED_<market> that states them.
  stream_seq INTEGER NOT NULL,
  terms TEXT NOT NULL
) STRICT;

-- Up to which message the register of markets was read: one that ends before it was deleted or rolled back.
CREATE TABLE register_position (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  stream_seq INTEGER NOT NULL
) STRICT;
