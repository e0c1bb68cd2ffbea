-- The durable state of a submitter: deposits in deposits.db, withdrawals in withdrawals.db.

-- One row per claimed signed action, never deleted, so that a repeated request is answered from here.
CREATE TABLE transfers (
  -- EIP-712 digest of the action.
  action_hash     BLOB NOT NULL PRIMARY KEY CHECK (length(action_hash) = 32),
  owner           BLOB NOT NULL CHECK (length(owner) = 20),
  status          TEXT NOT NULL
    CHECK (status IN ('pending', 'submitted', 'confirmed', 'reverted', 'rejected', 'unknown')),
  -- 1: the one transfer of its owner that is in progress.
  in_progress     INTEGER NOT NULL CHECK (in_progress IN (0, 1)),
  -- The whole record as JSON, in the wire form of bus-schemas/transfers.ts.
  record          TEXT NOT NULL,
  -- The request's body with its valid signature: it is carried out after a crash.
  request         TEXT NOT NULL,
  -- Time of the first signature for it, the permit's included.
  submitted_at_ms INTEGER,
  -- The block of its receipt.
  block_hash      BLOB CHECK (length(block_hash) = 32),
  CHECK (in_progress = 0 OR status IN ('pending', 'submitted'))
) STRICT, WITHOUT ROWID;

-- A reorganisation may bring a transfer back into progress while another of its owner is; that one keeps the place.
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;

-- Steps of records that are not yet confirmed in the stream of transfers.
CREATE TABLE outbox (
  no          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  action_hash BLOB NOT NULL,
  record      TEXT NOT NULL
) STRICT;

-- Requests of the last minute, by the party they count against: an owner when the signature is valid, else a network
-- address.
CREATE TABLE requests (
  whose      TEXT NOT NULL CHECK (whose IN ('owner', 'client')),
  counted_by TEXT NOT NULL,
  at_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);

-- Cost of mined transactions, in wei; deleted after an hour.
CREATE TABLE gas_spent (
  tx_hash BLOB NOT NULL PRIMARY KEY CHECK (length(tx_hash) = 32),
  at_ms   INTEGER NOT NULL,
  wei     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);

-- Up to where these records follow from the journal: the term of its writer, and the newest entry about a claim. One row.
CREATE TABLE journal_term (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  term     INTEGER NOT NULL CHECK (term >= 0),
  claim_no INTEGER NOT NULL CHECK (claim_no >= 0)
) STRICT;
INSERT INTO journal_term (id, term, claim_no) VALUES (1, 0, 0);
