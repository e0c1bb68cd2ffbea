-- Transfers that a submitter has taken, one row for each action; a row that was declined is replaced by the next claim.
CREATE TABLE claims (
  -- EIP-712 digest of the action.
  action_hash     BLOB NOT NULL PRIMARY KEY CHECK (length(action_hash) = 32),
  -- Of the newest entry about it; counts the entries about claims from 1.
  no              INTEGER NOT NULL UNIQUE,
  -- The record as it was claimed, in the wire form of bus-schemas/transfers.ts.
  record          TEXT NOT NULL,
  -- The request's body with its valid signature.
  request         TEXT NOT NULL,
  -- Why it was given up, with the revert of its simulation, and when.
  declined        TEXT,
  declined_revert TEXT,
  declined_at_ms  INTEGER,
  CHECK ((declined IS NULL) = (declined_at_ms IS NULL) AND (declined IS NOT NULL OR declined_revert IS NULL))
) STRICT, WITHOUT ROWID;
