-- The journal of what a process has sent, as the fold of its stream JOURNAL_<process>. Deleting the file loses nothing.

-- Where the file stands in its stream. One row, written with the rows of the message that it names.
CREATE TABLE place (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  stream   TEXT NOT NULL,
  -- The last message of the stream that is folded into this file; 0 for none.
  last_seq INTEGER NOT NULL CHECK (last_seq >= 0),
  -- Of that message.
  term     INTEGER NOT NULL CHECK (term >= 0),
  writer   TEXT NOT NULL
) STRICT;

-- One row per requested call: a settlement by its id. Rows are never deleted, so that a repeated request is answered
-- from here and never sent a second time.
CREATE TABLE intents (
  -- The settlement's id; ' life 2' and so on is appended for later attempts, after a batch was mined without trying the match.
  intent_id      TEXT PRIMARY KEY,
  -- keccak-256 of address and calldata.
  fingerprint    BLOB NOT NULL CHECK (length(fingerprint) = 32),
  -- Name of the revert of the simulated call; such a call was never sent.
  refused_revert TEXT,
  recorded_at_ms INTEGER NOT NULL
) STRICT;

-- A nonce of a sender belongs to one transaction permanently.
CREATE TABLE transactions (
  sender       BLOB NOT NULL CHECK (length(sender) = 20),
  evm_nonce    INTEGER NOT NULL CHECK (evm_nonce >= 0),
  -- 'displaced': a foreign transaction is final at this nonce.
  status       TEXT NOT NULL CHECK (status IN ('open', 'mined', 'displaced')),
  -- The mined attempt, or the foreign transaction. An open one that a reorganisation removed keeps its values.
  mined_hash   BLOB CHECK (length(mined_hash) = 32),
  block_number INTEGER,
  block_hash   BLOB CHECK (length(block_hash) = 32),
  -- 1: final.
  final        INTEGER NOT NULL DEFAULT 0 CHECK (final IN (0, 1)),
  PRIMARY KEY (sender, evm_nonce),
  CHECK (status = 'open' OR mined_hash IS NOT NULL),
  CHECK ((mined_hash IS NULL) = (block_number IS NULL) AND (mined_hash IS NULL) = (block_hash IS NULL)),
  CHECK (final = 0 OR status <> 'open')
) STRICT, WITHOUT ROWID;

CREATE INDEX transactions_unsettled ON transactions (sender, evm_nonce) WHERE final = 0;

-- The intents of a transaction, fixed before it was signed. A transaction without rows here only uses its nonce.
CREATE TABLE transaction_intents (
  sender    BLOB NOT NULL,
  evm_nonce INTEGER NOT NULL,
  position  INTEGER NOT NULL CHECK (position >= 0),
  intent_id TEXT NOT NULL REFERENCES intents (intent_id),
  -- The last one recorded; kept until an open transaction is mined again, so that a change is detected.
  outcome   TEXT CHECK (outcome IN ('success', 'reverted')),
  revert    TEXT,
  -- 1: not executed; the intent is free for another transaction.
  displaced INTEGER NOT NULL DEFAULT 0 CHECK (displaced IN (0, 1)),
  PRIMARY KEY (sender, evm_nonce, position),
  FOREIGN KEY (sender, evm_nonce) REFERENCES transactions (sender, evm_nonce),
  CHECK ((outcome IS 'reverted') = (revert IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX transaction_intents_standing ON transaction_intents (intent_id) WHERE displaced = 0;

-- The signed bytes; the same bytes are broadcast again until one form is mined. Those of a final transaction are trimmed after 30 days.
CREATE TABLE attempts (
  sender          BLOB NOT NULL,
  evm_nonce       INTEGER NOT NULL,
  attempt_no      INTEGER NOT NULL CHECK (attempt_no >= 1),
  hash            BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  raw             BLOB NOT NULL,
  gas_limit       INTEGER NOT NULL,
  -- Wei.
  max_fee_per_gas INTEGER NOT NULL,
  signed_at_ms    INTEGER NOT NULL,
  PRIMARY KEY (sender, evm_nonce, attempt_no),
  FOREIGN KEY (sender, evm_nonce) REFERENCES transactions (sender, evm_nonce)
) STRICT, WITHOUT ROWID;

-- Outcomes that were recorded and then changed by a reorganisation. Rows are never updated.
CREATE TABLE reversals (
  no            INTEGER PRIMARY KEY AUTOINCREMENT,
  intent_id     TEXT NOT NULL REFERENCES intents (intent_id),
  before_status TEXT NOT NULL CHECK (before_status IN ('success', 'reverted')),
  before_revert TEXT,
  before_hash   BLOB NOT NULL,
  before_number INTEGER NOT NULL,
  before_block  BLOB NOT NULL,
  now_status    TEXT NOT NULL CHECK (now_status IN ('success', 'reverted', 'displaced')),
  now_revert    TEXT,
  now_hash      BLOB NOT NULL,
  now_number    INTEGER NOT NULL,
  now_block     BLOB NOT NULL,
  found_at_ms   INTEGER NOT NULL
) STRICT;

-- Transfers that a submitter has taken, one row for each action; a row that was declined is replaced by the next claim.
CREATE TABLE claims (
  -- EIP-712 digest of the action.
  action_hash     BLOB NOT NULL PRIMARY KEY CHECK (length(action_hash) = 32),
  -- Of the newest entry about it; counts the entries about claims from 1.
  no              INTEGER NOT NULL UNIQUE,
  -- The record as it was claimed, in the wire form of bus-schemas/transfers.ts.
  record          TEXT NOT NULL,
  -- The request's body with its valid signature; empty once the transfer is over for 30 days.
  request         TEXT NOT NULL,
  -- Why it was given up, with the revert of its simulation, and when.
  declined        TEXT,
  declined_revert TEXT,
  declined_at_ms  INTEGER,
  CHECK ((declined IS NULL) = (declined_at_ms IS NULL) AND (declined IS NOT NULL OR declined_revert IS NULL))
) STRICT, WITHOUT ROWID;
