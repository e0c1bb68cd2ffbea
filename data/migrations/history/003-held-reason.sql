-- Why an order rests without being open; NULL when it is open, or ended.
ALTER TABLE order_progress ADD COLUMN held_reason TEXT;
