-- The log is written first: claims are folded from it and stored behind it. Messages that an earlier release has left in
-- its outbox are published at the next start, and their rows removed; no row is added any more.
ALTER TABLE published RENAME TO log_position;
-- Numbers of commands begin anew with each term of the intake, above all that the logs hold.
DROP TABLE command_count;
