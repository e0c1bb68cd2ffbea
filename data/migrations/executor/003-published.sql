-- Where the journal is on the bus. One row, of the key with which the process sends.
CREATE TABLE publication (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  stream   TEXT NOT NULL,
  -- The last message of the stream that is folded into this file.
  last_seq INTEGER NOT NULL CHECK (last_seq >= 0),
  -- The greatest term up to there.
  term     INTEGER NOT NULL CHECK (term >= 0)
) STRICT;

-- Entries that are in the tables and not known to be in the stream, in their order.
CREATE TABLE outbox (
  no    INTEGER PRIMARY KEY AUTOINCREMENT,
  entry TEXT NOT NULL
) STRICT;
