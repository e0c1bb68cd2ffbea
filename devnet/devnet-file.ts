import { join } from 'node:path'
import type { KeyedAccount } from './accounts.js'
import type { LauncherConfig } from './config.js'
import type { DevnetFacts } from './deploy-devnet.js'
import type { Ports } from './launcher-ports.js'
import { writeJsonDurably } from './write-file.js'

/** `DATA_DIR/devnet.json`: all that a client or a test needs to know of a running devnet. */
export const devnetFile = (dataDir: string): string => join(dataDir, 'devnet.json')

const NOTE =
  'The private keys below are the well-known keys of every development chain. ' +
  'They are public and worth nothing elsewhere: never send anything of value to them.'

/** Describes the running devnet; also serves as DEPLOYMENT_FILE of every process. Resolves with the file's path. */
export async function writeDevnetFile(
  config: Pick<LauncherConfig, 'dataDir' | 'authDomain'>,
  ports: Ports,
  facts: DevnetFacts,
  traders: readonly KeyedAccount[],
): Promise<string> {
  const file = devnetFile(config.dataDir)
  const { chain_id, ...addresses } = facts.deployment
  await writeJsonDurably(file, {
    chain_id,
    rpc_url: `http://127.0.0.1:${ports.chain}`,
    gateway_url: `http://127.0.0.1:${ports.gateway}`,
    executor_url: `http://127.0.0.1:${ports.executor}`,
    auth_domain: config.authDomain,
    ...addresses,
    note: NOTE,
    accounts: traders.map((trader) => ({
      name: trader.name,
      address: trader.address,
      private_key: trader.privateKey,
      spot_subaccount_id: facts.spot_subaccount_ids[trader.name],
    })),
  })
  return file
}
