-- A message of the outbox holds the claims of its orders until they are moved into taken_order together with those of
-- many others: moved one by one, each would write a page of two trees. Existing messages have their claims in
-- taken_order.
ALTER TABLE outbox ADD COLUMN claims TEXT NOT NULL DEFAULT '[]';
