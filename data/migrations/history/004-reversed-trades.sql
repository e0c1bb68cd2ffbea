-- Time of a trade's reversal, after the chain finally lost it; NULL otherwise. Reversed trades are in no statistics.
ALTER TABLE trades ADD COLUMN reversed_at_ms INTEGER;
