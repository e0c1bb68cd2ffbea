-- Ids and nonces that order-intake has assigned permanently, and messages that it has yet to publish.

-- Every accepted order, kept as a tombstone after the order itself is deleted.
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

-- The number of the last command that was ever logged; the log's source_no.
CREATE TABLE command_count (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  last_no INTEGER NOT NULL
) STRICT;
INSERT INTO command_count (id, last_no) VALUES (1, 0);

-- Messages of the command log that are not yet known to be in the stream, byte for byte.
CREATE TABLE outbox (
  -- Number of the last command in the message.
  last_no INTEGER NOT NULL PRIMARY KEY,
  market TEXT NOT NULL,
  payload BLOB NOT NULL
) STRICT;

-- The known position of each market's stream: every command of ours up to last_no is at or below stream_seq.
CREATE TABLE published (
  market TEXT NOT NULL PRIMARY KEY,
  stream_seq INTEGER NOT NULL,
  last_no INTEGER NOT NULL
) STRICT;
