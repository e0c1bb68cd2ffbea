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
INSERT INTO "transfers" VALUES (X'63BE95FFE6B4D42A9076B5661C8F022BFD37B709E838D5E95AF29B2FF57B400C',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[4,["deposit","0x63be95ffe6b4d42a9076b5661c8f022bfd37b709e838d5e95af29b2ff57b400c","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","390297373836544354462118151896728289401733500231265384097317911130647546297","0","22","0xf661b37991862d20ad8afd2d523a812315457ddc","25000000","25000000000000000000","0xcd61e8c06efca08fa9f0e376297d7a408e45a501a3f4fedd58ee89890ef941b5","0xcae7b3f494b9eebcd363f599bde36ed317945eb8aafd4e3a82989c19d343e8de","15",null,null,1795388748654,1795388750587]]','{"action":{"subaccount_id":"0","nonce":"390297373836544354462118151896728289401733500231265384097317911130647546297","module":"0x7cd5dcf9e37c01d8a9e1d88e6a525482a63fe9ee","data":"0x00000000000000000000000000000000000000000000000000000000017d7840000000000000000000000000f661b37991862d20ad8afd2d523a812315457ddc0000000000000000000000009689b051a8e5878d6fc42d2b5ec54fe1ef98d6d3","expiry":"1795389348","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0x25d2cf245548be2958571dd79ce9a75de7d4cb72ff1026d992fc42370a32b33c1d5e46264bd7004205b17cfa87a16aaa7129f2517ac5c9f0d48240c74e9cbb841c","permit":{"value":"25000000","deadline":"1795389348","signature":"0xa30640b607966c07cb86d14d29f1a40fdcbd325ff379ec0bab136d7910f5b11a2f5b4c6c7e78942a4d90d9524dd0445b8757c57245a99e99e25f57b8c5bed2431c"}}',1795388748671,X'A0F929ACDCEC4D3F79E39755BA94AFD908A6E12FA6D57B6DA3AD6434B1242FEF');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795388748645);
INSERT INTO "gas_spent" VALUES (X'CAE7B3F494B9EEBCD363F599BDE36ED317945EB8AAFD4E3A82989C19D343E8DE',1795388749583,'88768162796850');
INSERT INTO "gas_spent" VALUES (X'CD61E8C06EFCA08FA9F0E376297D7A408E45A501A3F4FEDD58EE89890EF941B5',1795388750586,'403090128212668');
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
COMMIT;
