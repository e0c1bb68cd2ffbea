-- Accounts in the custody of the matching contract and session keys, as its events show them: a fold of the chain, which can be made again.

-- What happened to an account, one row an event. Rows of blocks that a reorganisation has dropped are deleted.
CREATE TABLE account_event (
  block_number INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  -- Canonical base 10.
  subaccount_id TEXT NOT NULL,
  -- deposited: into custody, for the owner; withdrawn: out of it; leaving: the owner has asked for that; managed: under another manager.
  kind TEXT NOT NULL CHECK (kind IN ('deposited', 'withdrawn', 'leaving', 'managed')),
  -- Of deposited.
  owner TEXT,
  -- Of deposited and managed.
  manager TEXT,
  PRIMARY KEY (block_number, log_index)
) STRICT;
CREATE INDEX account_event_by_account ON account_event (subaccount_id, block_number, log_index);
CREATE INDEX account_event_by_owner ON account_event (owner, subaccount_id) WHERE owner IS NOT NULL;

-- What happened to a session key of an owner.
CREATE TABLE key_event (
  block_number INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  owner TEXT NOT NULL,
  session_key TEXT NOT NULL,
  -- Unix seconds in canonical base 10, a uint256; 0 once its deregistration has begun.
  expiry TEXT NOT NULL,
  PRIMARY KEY (block_number, log_index)
) STRICT;
CREATE INDEX key_event_by_owner ON key_event (owner, session_key, block_number, log_index);

-- Owners of whom the bound has left events out.
CREATE TABLE overfull_owner (
  owner TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Blocks up to which all events are here, the newest last; the older ones are kept to find where a reorganisation began.
CREATE TABLE read_block (
  block_number INTEGER NOT NULL PRIMARY KEY,
  block_hash TEXT NOT NULL,
  -- Unix seconds.
  block_time INTEGER NOT NULL
) STRICT;

-- Which deployment the rows are of.
CREATE TABLE deployment (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  name TEXT NOT NULL
) STRICT;
