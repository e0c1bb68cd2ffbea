-- An order's body is its terms and its statement, two lines, as messages carry them. The rows are rebuilt: the markets'
-- positions are reset and the projector folds the feeds again from their first block.

DELETE FROM fills;
DELETE FROM trades;
DELETE FROM order_progress;
DELETE FROM orders;
DELETE FROM candles;
UPDATE markets SET stream_seq = 0, feed_seq = 0;
