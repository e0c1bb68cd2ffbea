-- One transaction may carry several intents, each with its own outcome; a mined one is followed until it is final.
ALTER TABLE attempts RENAME TO attempts_001;
ALTER TABLE transactions RENAME TO transactions_001;

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

-- Transactions a dozen blocks behind the newest count as final, so that a long history is not followed again.
INSERT INTO transactions (sender, evm_nonce, status, mined_hash, block_number, block_hash, final)
SELECT sender, evm_nonce, iif(status = 'open', 'open', 'mined'), mined_hash, block_number, block_hash,
  coalesce(block_number + 12 <= (SELECT max(block_number) FROM transactions_001), 0)
FROM transactions_001;

INSERT INTO transaction_intents (sender, evm_nonce, position, intent_id, outcome, revert)
SELECT sender, evm_nonce, 0, intent_id, nullif(status, 'open'),
  iif(status = 'reverted', coalesce(revert, 'unknown'), NULL)
FROM transactions_001;

INSERT INTO attempts SELECT * FROM attempts_001;

DROP TABLE attempts_001;
DROP TABLE transactions_001;

CREATE INDEX transactions_unsettled ON transactions (sender, evm_nonce) WHERE final = 0;
CREATE UNIQUE INDEX transaction_intents_standing ON transaction_intents (intent_id) WHERE displaced = 0;
