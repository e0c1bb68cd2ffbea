-- What the fills of each account add up to in a market with positions: the signed size, and Σ price × size of what is open.
-- The cost is NULL after a reversed fill, until the position is flat again. No such market traded before this migration.
CREATE TABLE position_entries (
  market_id INTEGER NOT NULL REFERENCES markets,
  subaccount_id TEXT NOT NULL,
  size TEXT NOT NULL,
  cost TEXT,
  PRIMARY KEY (market_id, subaccount_id)
) STRICT, WITHOUT ROWID;
