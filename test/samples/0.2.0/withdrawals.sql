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
INSERT INTO "transfers" VALUES (X'8DF0D1695298F60D2DAD20C7A3CC121A1E740F2F069889EC545D9DC4821EBA32',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[4,["withdrawal","0x8df0d1695298f60d2dad20c7a3cc121a1e740f2f069889ec545d9dc4821eba32","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","210395136587914397850336201443355554993051546395746397315136398733566681464","9","9","0x837deeefa6b9dd7a1914570347674f7729dfdc13","3500000",null,"0x2fa026d95e09fae4eddf6ebbd2e997d609a8aac12d519c450f83b563ea1e7193",null,"19",null,null,1795390033165,1795390034351]]','{"action":{"subaccount_id":"9","nonce":"210395136587914397850336201443355554993051546395746397315136398733566681464","module":"0xa8e7f3e1f1a2c52841462792b364542db5544e8f","data":"0x000000000000000000000000837deeefa6b9dd7a1914570347674f7729dfdc1300000000000000000000000000000000000000000000000000000000003567e0","expiry":"1795390633","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0xca0d4c5dd6f526425bce2e81074da3a831a1e31b90960b0329ec2d5bf1911dfe07fb3ddb70ea9800b6bff10d6328036321324d40577c20bff1c96f61a3041d8c1c"}',1795390033179,X'653C4BB3EB3DA951933562842858E67660F2CBD0B9FE1A2463DEF88A0D7E0701');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795390033158);
INSERT INTO "gas_spent" VALUES (X'2FA026D95E09FAE4EDDF6EBBD2E997D609A8AAC12D519C450F83B563EA1E7193',1795390034350,'225844840668996');
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
COMMIT;
