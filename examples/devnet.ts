import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { defaultDevnetFile } from './config.js'

/** The fields of a running devnet's description that the examples need. */
export interface Devnet {
  readonly chain_id: number
  readonly gateway_url: string
  /** The venue's name in the signed text that opens the private feed. */
  readonly auth_domain: string
  readonly matching: `0x${string}`
  readonly rpc_url: string
  readonly deposit_module: `0x${string}`
  readonly withdrawal_module: `0x${string}`
  readonly usdc: `0x${string}`
  readonly cngn: `0x${string}`
  readonly wrapped_usdc: `0x${string}`
  readonly cash_asset: `0x${string}`
  readonly perp_asset: `0x${string}`
  readonly perp_manager: `0x${string}`
  readonly sub_accounts: `0x${string}`
  readonly sub_account_creator: `0x${string}`
  readonly dutch_auction: `0x${string}`
  readonly accounts: readonly DevnetAccount[]
}

export interface DevnetAccount {
  readonly name: string
  readonly address: `0x${string}`
  readonly private_key: `0x${string}`
  readonly spot_subaccount_id: string
  readonly perp_subaccount_id: string
}

/**
 * Reads the description; the path defaults to where `./venue up` writes it, and `--help` instead of it prints the usage.
 * From now on an error ends the program with its message alone.
 */
export async function readDevnet(path = defaultDevnetFile()): Promise<Devnet> {
  if (path === '--help' || path === '-h') {
    const program = relative('', process.argv[1] ?? '')
    console.log(`usage: node ${program} [path of devnet.json; by default in DATA_DIR, or var]`)
    process.exit(0)
  }
  process.on('uncaughtException', (error) => {
    console.error(error.message)
    process.exit(1)
  })
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`there is no ${path}: run ./venue up, with the same DATA_DIR`)
  })
  const devnet = JSON.parse(text) as Devnet
  await fetch(new URL('/readyz', devnet.gateway_url)).catch(() => {
    throw new Error(`no venue answers at ${devnet.gateway_url}: run ./venue up`)
  })
  return devnet
}

/** The first development account. */
export const accountOf = (devnet: Devnet): DevnetAccount => accountAt(devnet, 0)

/** The second one, for examples that need a counterparty. */
export const secondAccountOf = (devnet: Devnet): DevnetAccount => accountAt(devnet, 1)

function accountAt({ accounts }: Devnet, index: number): DevnetAccount {
  const account = accounts[index]
  if (account === undefined) throw new Error('the devnet has too few accounts')
  return account
}
