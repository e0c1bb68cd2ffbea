PRAGMA page_size = 4096;
PRAGMA user_version = 1;
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
INSERT INTO "transfers" VALUES (X'264DF4DCA36CE9EE5E2E069EF041217DADA9744245CE5035E6D929B0852CDEDA',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[4,["deposit","0x264df4dca36ce9ee5e2e069ef041217dada9744245ce5035e6d929b0852cdeda","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","435242342733373142441509348060877035003013989717197686947793480471428910055","0","19","0xe74f93f4cf2c47a55039302b07993cc426a92498","25000000","25000000000000000000","0x345b10a3211d5686f0632084e3579976e116a6fe657e3372189685e0e1c89c6c","0x599f81674a6fac3c2ca8d127a1a4862780819054b3c6cd2d62a990417f9a9d5e","13",null,null,1795376504680,1795376506694]]','{"action":{"subaccount_id":"0","nonce":"435242342733373142441509348060877035003013989717197686947793480471428910055","module":"0xf9fe6d1d3345614a1d58760bdc1012a3ebf75f4c","data":"0x00000000000000000000000000000000000000000000000000000000017d7840000000000000000000000000e74f93f4cf2c47a55039302b07993cc426a924980000000000000000000000008291ebf009e130451313c6fe4d9279cbfed87ac8","expiry":"1795377104","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0x190f25eca0aadc44f2c63dc2d34769db8ad87fc699f495e9b2934e3b2152b679775f65aee74f07b7d1367159736be041de3d8f5a2ea6731e9b8075691ce5c15d1c","permit":{"value":"25000000","deadline":"1795377104","signature":"0xae246c13576a00aee27a01c05f5db096ed82368215b0d2b3287e5f6fe298ac167ae710e8eaad3ad1888e7fd63262d70e659c8012656cd00e4cb57ef4fc6a34851b"}}',1795376504701,X'677E55F3B0AA60D6CDB32D46E7B160612399E1A2CA790AE7D2ADC472E700E138');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795376504672);
INSERT INTO "gas_spent" VALUES (X'345B10A3211D5686F0632084E3579976E116A6FE657E3372189685E0E1C89C6C',1795376506692,'420239298807770');
INSERT INTO "gas_spent" VALUES (X'599F81674A6FAC3C2CA8D127A1A4862780819054B3C6CD2D62A990417F9A9D5E',1795376505683,'92979852577902');
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
COMMIT;
