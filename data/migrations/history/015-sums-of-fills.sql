-- What an order's own fills that stand add up to beside filled_quote, NULL before its first fill: Σ price × amount, exact, at
-- 1e36, and the fees that it paid, at 1e18. The rows are rebuilt: the markets' positions are reset and the projector folds
-- the feeds again from their first block.

DELETE FROM fills;
DELETE FROM trades;
DELETE FROM order_events;
DELETE FROM order_progress;
DELETE FROM orders;
DELETE FROM candles;
DELETE FROM position_entries;
UPDATE markets SET stream_seq = 0, feed_seq = 0;

ALTER TABLE order_progress ADD COLUMN filled_product TEXT;
ALTER TABLE order_progress ADD COLUMN fee_paid TEXT;
