-- The sequence from which each market's feed must be read to learn every live order.
CREATE TABLE watched_from (
  market TEXT NOT NULL PRIMARY KEY,
  stream_seq INTEGER NOT NULL
) STRICT;
