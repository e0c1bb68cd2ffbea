-- What each market's feed last stated of its rules and how it trades: an order is judged by it before the feed is read.
CREATE TABLE market_terms (
  market TEXT PRIMARY KEY,
  -- Sequence of the message of FEED_<market> that states them.
  stream_seq INTEGER NOT NULL,
  terms TEXT NOT NULL
) STRICT;
