PRAGMA page_size = 4096;
PRAGMA user_version = 1;
BEGIN;
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
CREATE TABLE key_event (
  block_number INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  owner TEXT NOT NULL,
  session_key TEXT NOT NULL,
  -- Unix seconds in canonical base 10, a uint256; 0 once its deregistration has begun.
  expiry TEXT NOT NULL,
  PRIMARY KEY (block_number, log_index)
) STRICT;
CREATE TABLE overfull_owner (
  owner TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE read_block (
  block_number INTEGER NOT NULL PRIMARY KEY,
  block_hash TEXT NOT NULL,
  -- Unix seconds.
  block_time INTEGER NOT NULL
) STRICT;
CREATE TABLE deployment (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  name TEXT NOT NULL
) STRICT;
INSERT INTO "account_event" VALUES (5,14,'6','deposited','0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (5,31,'7','deposited','0x70997970c51812dc3a010c7d01b50e0d17dc79c8','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (5,48,'8','deposited','0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (5,65,'9','deposited','0x90f79bf6eb2c4f870365e785982e1f101e93b906','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (5,82,'10','deposited','0x15d34aaf54267db7d7c367839aaf71a00a2c6a65','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (5,99,'11','deposited','0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (5,116,'12','deposited','0xddea16828d996c98c492b664dbef3730c82a97c5','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (5,133,'13','deposited','0xddea16828d996c98c492b664dbef3730c82a97c5','0x23c556d3b43fb2da2fc5a924b869f880902b90dd');
INSERT INTO "account_event" VALUES (6,14,'14','deposited','0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (6,24,'15','deposited','0x70997970c51812dc3a010c7d01b50e0d17dc79c8','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (6,39,'16','deposited','0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (6,49,'17','deposited','0x90f79bf6eb2c4f870365e785982e1f101e93b906','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (6,64,'18','deposited','0x15d34aaf54267db7d7c367839aaf71a00a2c6a65','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (6,74,'19','deposited','0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (6,89,'20','deposited','0xddea16828d996c98c492b664dbef3730c82a97c5','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (6,99,'21','deposited','0xddea16828d996c98c492b664dbef3730c82a97c5','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "account_event" VALUES (24,9,'22','deposited','0x90f79bf6eb2c4f870365e785982e1f101e93b906','0x5abd8a3d509a71606cb5c5e93c7eeedab4308520');
INSERT INTO "read_block" VALUES (13,'0xc917a19dab8a1193b51323fc64eeea0165c339fb764cf44f0be19b85840428d0',1795749081);
INSERT INTO "read_block" VALUES (16,'0x5daa35db2a8171b79a15c8e22feaf3529a2728a1d530deda4585e21d50ff9cb8',1795749084);
INSERT INTO "read_block" VALUES (18,'0x9aa391d3faba0947fb54793ba9a483541a2a227f09fb804d6639a67e43cf8d72',1795749086);
INSERT INTO "read_block" VALUES (20,'0x66d209a53d53fc8d29a1c412f2e2ecd6079b9427bfca013dfecd8e4fcd8e843a',1795749088);
INSERT INTO "read_block" VALUES (22,'0x2c2eaf6454fc32851f2fe7791bb0a1fdec0cb786686424c71072ac2229542229',1795749090);
INSERT INTO "read_block" VALUES (24,'0x2e452fe2e6dbc769f465734e8ba22229e0451ab7348b138b211a0215b6ae085c',1795749092);
INSERT INTO "read_block" VALUES (26,'0x0c7dcb3414724078b962c985b4d8420542c4a96ea3e6f6a8277fbbcb6351c63e',1795749094);
INSERT INTO "read_block" VALUES (28,'0x3e9bda28322559d9a57994fc5c0ea27e8d5ec6130a9f45330e4d9ee110cc5858',1795749096);
INSERT INTO "read_block" VALUES (30,'0xd14a756fa9c5d50991904ee88ca1f7f0b8915ed916d635e4416542ab8ec261e7',1795749098);
INSERT INTO "read_block" VALUES (32,'0x0107468441460e93a1f1618a3161a5956dc1ef09c8ffa724d5bab9f11ac00186',1795749100);
INSERT INTO "read_block" VALUES (34,'0x3a87fbfc30800c5d7ff0bb110d60b66c492928ffa4d72ff1542536698bc9a018',1795749102);
INSERT INTO "deployment" VALUES (1,'836832646 0x58c4f5794166f7969403b093e177742014cea3b3');
CREATE INDEX account_event_by_account ON account_event (subaccount_id, block_number, log_index);
CREATE INDEX account_event_by_owner ON account_event (owner, subaccount_id) WHERE owner IS NOT NULL;
CREATE INDEX key_event_by_owner ON key_event (owner, session_key, block_number, log_index);
COMMIT;
