-- A message carries what its orders claim until that is moved into taken_order together with that of many others: one
-- by one they would each write a page of two trees. What stands here now was claimed when it was stored.
ALTER TABLE outbox ADD COLUMN claims TEXT NOT NULL DEFAULT '[]';
