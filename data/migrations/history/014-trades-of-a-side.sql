-- (market_id, taker_side, at_ms, trade_id): the trades of one side in a range of time, as listing sites ask for them.
CREATE INDEX trades_by_side ON trades (market_id, taker_side, at_ms);
