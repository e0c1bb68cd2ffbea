-- When the chain was found to have lost a trade for good; NULL for those that stand. Reversed trades count nowhere.
ALTER TABLE trades ADD COLUMN reversed_at_ms INTEGER;
