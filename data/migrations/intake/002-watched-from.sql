-- From where each market's feed must be read to know every order that is live.
CREATE TABLE watched_from (
  market TEXT NOT NULL PRIMARY KEY,
  stream_seq INTEGER NOT NULL
) STRICT;
