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
INSERT INTO "transfers" VALUES (X'686A8614E636930F070A5E8374D68C6112478E8506EFA0D9B7D26EB245603E79',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[10,["deposit","0x686a8614e636930f070a5e8374d68c6112478e8506efa0d9b7d26eb245603e79","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","290885313059150344748015809576056057006301937482454544677517728762542597788","0","22","0xe3605c567c16a9805e4f7b8b422328084c2a9251","25000000","25000000000000000000","0x15078f65d21cfe056cd5376e4f16a72325dd4f5debaadb7660d5919b2b0d8724","0xabc615c851fa2c7b16df0fd8f2fab0a76c8bcdcfe84769c522663d1e3310b53d","24",null,null,1795749091282,1795749093053]]','{"action":{"subaccount_id":"0","nonce":"290885313059150344748015809576056057006301937482454544677517728762542597788","module":"0xf741c349c96258c3cb7bfdf6333ae2cf6ec0ccfa","data":"0x00000000000000000000000000000000000000000000000000000000017d7840000000000000000000000000e3605c567c16a9805e4f7b8b422328084c2a92510000000000000000000000005abd8a3d509a71606cb5c5e93c7eeedab4308520","expiry":"1795749691","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0xc002ef29532425832cb605145655f7d0ef802c637a0b49f8597c1a35680a3b182dc9c1dffa714e9782c11a3a6398707c03e07611c93465015aae7a1e8689cc921b","permit":{"value":"25000000","deadline":"1795749691","signature":"0x8485078876e779d31211867e4b1286b6fc8e4d60abfb0cd9155a193b5a32be33066759c237e1bf5a17e7cdd85fed292ed816e8cbe5e430774a9b09644bae35261c"}}',1795749091360,X'2E452FE2E6DBC769F465734E8BA22229E0451AB7348B138B211A0215B6AE085C');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795749091240);
INSERT INTO "gas_spent" VALUES (X'15078F65D21CFE056CD5376E4F16A72325DD4F5DEBAADB7660D5919B2B0D8724',1795749093011,'363119404700101');
INSERT INTO "gas_spent" VALUES (X'ABC615C851FA2C7B16DF0FD8F2FAB0A76C8BCDCFE84769C522663D1E3310B53D',1795749091920,'78933610600374');
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
