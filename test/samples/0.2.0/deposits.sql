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
INSERT INTO "transfers" VALUES (X'F31F4A867B24768E5135748C433BB04CA7BC64DCF12DE7032F1CD753EFD608E5',X'90F79BF6EB2C4F870365E785982E1F101E93B906','confirmed',0,'[4,["deposit","0xf31f4a867b24768e5135748c433bb04ca7bc64dcf12de7032f1cd753efd608e5","confirmed","0x90f79bf6eb2c4f870365e785982e1f101e93b906","397663849294799664073708064486163280510644025777602181576127291226279055208","0","22","0x70053751c2b9c33faf5c707891d68a184b4f17f3","25000000","25000000000000000000","0xd4c0d4a6146ea0fa69ff84888dad25e58701d61f6ceaed2567ffe8350f85f866","0xc6692e711df020361890b5ad96cc35e7d8ef516c41bd68697c42e6933e83a9af","18",null,null,1795390031382,1795390033140]]','{"action":{"subaccount_id":"0","nonce":"397663849294799664073708064486163280510644025777602181576127291226279055208","module":"0x1d6e23b54d2b0e3b252027a09caa3845638226cc","data":"0x00000000000000000000000000000000000000000000000000000000017d784000000000000000000000000070053751c2b9c33faf5c707891d68a184b4f17f30000000000000000000000009a7a7ba191f6f252898fb222d1c031814f0483cc","expiry":"1795390631","owner":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","signer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906"},"signature":"0xb95f84b7dbd963be8cd4c818f45a1b5f59fb9c03ab19bcecd8a2d107da8d494a53d32409f33676d687b6d1ecc68bc4a610c573dd7c75d41a452f27b343224e551c","permit":{"value":"25000000","deadline":"1795390631","signature":"0xc54fcc8e9d35e083ce730e29111706f8ee020d7e514fe842dbde4712208929c51a6c8edc147e3a4cc232b3b7175e200ebd206381faedcc1d8e3607654d8f0b611b"}}',1795390031401,X'961744946FB4D9564A47B14BE085224EC3C3EDD599B04B0118CFA5EE4CE6AD0E');
INSERT INTO "requests" VALUES ('owner','0x90f79bf6eb2c4f870365e785982e1f101e93b906',1795390031373);
INSERT INTO "gas_spent" VALUES (X'C6692E711DF020361890B5AD96CC35E7D8EF516C41BD68697C42E6933E83A9AF',1795390032130,'84119794435362');
INSERT INTO "gas_spent" VALUES (X'D4C0D4A6146EA0FA69FF84888DAD25E58701D61F6CEAED2567FFE8350F85F866',1795390033139,'384259142426642');
CREATE UNIQUE INDEX transfers_in_progress ON transfers (owner) WHERE in_progress = 1;
CREATE INDEX transfers_unsettled ON transfers (status)
  WHERE status IN ('pending', 'submitted', 'unknown');
CREATE INDEX transfers_submitted ON transfers (owner, submitted_at_ms)
  WHERE submitted_at_ms IS NOT NULL;
CREATE INDEX requests_by_whom ON requests (whose, counted_by, at_ms);
CREATE INDEX requests_by_time ON requests (at_ms);
CREATE INDEX gas_spent_by_time ON gas_spent (at_ms);
COMMIT;
