-- What the keeper's transactions of the last hour have cost, in wei in decimal digits.
CREATE TABLE gas_spent (
  tx_hash BLOB NOT NULL PRIMARY KEY CHECK (length(tx_hash) = 32),
  at_ms   INTEGER NOT NULL,
  wei     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
