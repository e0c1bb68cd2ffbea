PRAGMA page_size = 4096;
PRAGMA user_version = 4;
BEGIN;
CREATE TABLE transfers (
  -- EIP-712 digest of the action.
  action_hash     BLOB NOT NULL PRIMARY KEY CHECK (length(action_hash) = 32),
  owner           BLOB NOT NULL CHECK (length(owner) = 20),
  status          TEXT NOT NULL
    CHECK (status IN ('pending', 'submitted', 'confirmed', 'reverted', 'rejected', 'unknown')),
  -- 1: the one transfer of its owner that is in progress.
  in_progress     INTEGER NOT NULL CHECK (in_progress IN (0, 1)),
  -- The whole record as JSON, in the wire form of bus-schemas/transfers.ts.
  record          TEXT NOT NULL,
  -- The request's body with its valid signature: it is carried out after a crash.
  request         TEXT NOT NULL,
  -- Time of the first signature for it, the permit's included.
  submitted_at_ms INTEGER,
  -- The block of its receipt.
  block_hash      BLOB CHECK (length(block_hash) = 32),
  CHECK (in_progress = 0 OR status IN ('pending', 'submitted'))
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
  no          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  action_hash BLOB NOT NULL,
  record      TEXT NOT NULL
) STRICT;
CREATE TABLE requests (
  whose      TEXT NOT NULL CHECK (whose IN ('owner', 'client')),
  counted_by TEXT NOT NULL,
  at_ms      INTEGER NOT NULL
) STRICT;
CREATE TABLE gas_spent (
  tx_hash BLOB NOT NULL PRIMARY KEY CHECK (length(tx_hash) = 32),
  at_ms   INTEGER NOT NULL,
  wei     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE journal_term (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  term     INTEGER NOT NULL CHECK (term >= 0),
  claim_no INTEGER NOT NULL CHECK (claim_no >= 0)
) STRICT;
INSERT INTO "transfers" VALUES (X'2D7EB39975B3127C68EE5283633B02FE1822E578FF41CD3F79A9C8C114E4A285',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[10,["withdrawal","0x2d7eb39975b3127c68ee5283633b02fe1822e578ff41cd3f79a9c8c114e4a285","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","66385782054400067477524541471508990914689865459913715289647525199513292490","9","9","0x137650584caefcc68471cebd28058e365c300a71","3500000",null,"0xcb1999a9704058ae331e0f6d820e7d06a5acc16f719991363f863160fec26e37",null,"25",null,null,1795749093182,1795749093964]]','{"action":{"subaccount_id":"9","nonce":"66385782054400067477524541471508990914689865459913715289647525199513292490","module":"0xa56cec58a9e3100be41b4980501fdfb902971729","data":"0x000000000000000000000000137650584caefcc68471cebd28058e365c300a7100000000000000000000000000000000000000000000000000000000003567e0","expiry":"1795749693","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0x423f0e7ec1d0563435da8a7018df2c5735c4ae109febf0cb3d2a1445e3f36147502d9fc57ff986c8b229f9a200e70e29597c59bf31aa796231d88f0fb77b81d51b"}',1795749093235,X'3B7C024038AB9F2F50949FEAEDE06063A3D0CE722ED01CCBADB4CF319BEE84DA');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795749093145);
INSERT INTO "gas_spent" VALUES (X'CB1999A9704058AE331E0F6D820E7D06A5ACC16F719991363F863160FEC26E37',1795749093947,'214723859861225');
INSERT INTO "journal_term" VALUES (1,1,0);
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
COMMIT;
