-- The term of the journal's writer up to which these records follow from the journal. One row.
CREATE TABLE journal_term (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  term INTEGER NOT NULL CHECK (term >= 0)
) STRICT;
INSERT INTO journal_term (id, term) VALUES (1, 0);
