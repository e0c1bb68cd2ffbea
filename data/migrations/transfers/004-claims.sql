-- The newest entry about a claim in the journal up to which these records follow from it.
ALTER TABLE journal_term ADD COLUMN claim_no INTEGER NOT NULL DEFAULT 0 CHECK (claim_no >= 0);
