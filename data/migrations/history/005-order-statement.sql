-- An order's body is its terms and its statement, two lines, as messages carry them. The rows are made anew: markets go
-- back to their feeds' first block, from which the projector folds everything again.

DELETE FROM fills;
DELETE FROM trades;
DELETE FROM order_progress;
DELETE FROM orders;
DELETE FROM candles;
UPDATE markets SET stream_seq = 0, feed_seq = 0;
