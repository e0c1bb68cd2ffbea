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
INSERT INTO "transfers" VALUES (X'669DBABF7A9B40AE8E1B4FF03AE6862E28B0757F8085911BAF81D701E9F46AD8',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[4,["withdrawal","0x669dbabf7a9b40ae8e1b4ff03ae6862e28b0757f8085911baf81d701e9f46ad8","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","357728138606561559101121240263341563204087180036783800782405388009569069519","9","9","0x0336acdf553bd2131d8b33985e2aca87cc307ab7","3500000",null,"0xd10f0d9aff1f25408de73973614da5b4bed267f940fa379cde8af3fe1962764b",null,"16",null,null,1795388750612,1795388751446]]','{"action":{"subaccount_id":"9","nonce":"357728138606561559101121240263341563204087180036783800782405388009569069519","module":"0x106736d9d5cf01bd9dd79064cd0d40c05f8f75ee","data":"0x0000000000000000000000000336acdf553bd2131d8b33985e2aca87cc307ab700000000000000000000000000000000000000000000000000000000003567e0","expiry":"1795389350","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0xf7134bb3fad58e65babbcb059a780472676d58dfb8b8dd60bc145f2fde619fe154acddd26e0ffd05c360d464a1cfca1d82198980b15c7c803d818b83339c17461b"}',1795388750625,X'5403DAFCC752D4146F03B95360FDFEDFFB6D0BC3FD40DF086543B3FE1A75CE37');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795388750602);
INSERT INTO "gas_spent" VALUES (X'D10F0D9AFF1F25408DE73973614DA5B4BED267F940FA379CDE8AF3FE1962764B',1795388751445,'235675710458100');
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
COMMIT;
