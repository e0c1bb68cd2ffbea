-- Up to which message the register of markets was read: one that ends before it was deleted or rolled back.
CREATE TABLE register_position (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  stream_seq INTEGER NOT NULL
) STRICT;
