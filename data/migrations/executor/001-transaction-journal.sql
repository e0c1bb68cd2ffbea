-- One row per requested call: a settlement by its id. Rows are never deleted, so that a repeated request is answered
-- from here and never sent a second time.
CREATE TABLE intents (
  intent_id      TEXT PRIMARY KEY,
  -- keccak-256 of address and calldata.
  fingerprint    BLOB NOT NULL CHECK (length(fingerprint) = 32),
  -- Name of the revert of the simulated call; such a call was never sent.
  refused_revert TEXT,
  recorded_at_ms INTEGER NOT NULL
) STRICT;

-- A signed intent owns one nonce of its sender permanently.
CREATE TABLE transactions (
  sender       BLOB NOT NULL CHECK (length(sender) = 20),
  evm_nonce    INTEGER NOT NULL CHECK (evm_nonce >= 0),
  intent_id    TEXT NOT NULL UNIQUE REFERENCES intents (intent_id),
  status       TEXT NOT NULL CHECK (status IN ('open', 'success', 'reverted')),
  mined_hash   BLOB,
  block_number INTEGER,
  block_hash   BLOB,
  revert       TEXT,
  PRIMARY KEY (sender, evm_nonce),
  CHECK ((status = 'open') = (mined_hash IS NULL)),
  CHECK ((mined_hash IS NULL) = (block_number IS NULL) AND (mined_hash IS NULL) = (block_hash IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX transactions_open ON transactions (sender, evm_nonce) WHERE status = 'open';

-- The signed bytes, stored before they are first broadcast; the same bytes go out again until one is mined.
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
