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
INSERT INTO "transfers" VALUES (X'F8A70BA36816B1B4F9373AB7F5A873B2C66CF89F71706DEEA22914C4CD1255F2',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[4,["withdrawal","0xf8a70ba36816b1b4f9373ab7f5a873b2c66cf89f71706deea22914c4cd1255f2","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","190124469462147009078758147331695957630572508472594863721624507120485355374","9","9","0x523c47c37773ee31bc3cc6625246611bca9dc087","3500000",null,"0x52603b49c83d8b1f927a06f6541c13774a050f61f3b61ce1be9979d34e5fd202",null,"14",null,null,1795376506724,1795376507619]]','{"action":{"subaccount_id":"9","nonce":"190124469462147009078758147331695957630572508472594863721624507120485355374","module":"0x6cdbbd154d10cc4734c360529e16c2cdbf36c1d5","data":"0x000000000000000000000000523c47c37773ee31bc3cc6625246611bca9dc08700000000000000000000000000000000000000000000000000000000003567e0","expiry":"1795377106","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0xbd27e5b49c4ca0876e0003bcd244c1b2acebae217709d4c61d7f3d02304cb22e3fa86ea7950df82ddfcf8d2effad3474e14a890872b6273389aaefb95d9eaaaf1b"}',1795376506738,X'FA76C66F26DFF4CC70EA8D4D5A0186B2CC7E781277E7D73726D67B20FFDF736C');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795376506712);
INSERT INTO "gas_spent" VALUES (X'52603B49C83D8B1F927A06F6541C13774A050F61F3B61CE1BE9979D34E5FD202',1795376507618,'237886346772270');
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
COMMIT;
