-- Entries of the outbox up to this number are of a file that was never published: they may have been broadcast.
ALTER TABLE publication ADD COLUMN earlier_up_to INTEGER NOT NULL DEFAULT 0;
