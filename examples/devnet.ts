import { readFile } from 'node:fs/promises'

/** What the examples need of the file that describes a running devnet. */
export interface Devnet {
  readonly chain_id: number
  readonly gateway_url: string
  /** What the venue calls itself in the text that opens the private feed. */
  readonly auth_domain: string
  readonly matching: `0x${string}`
  readonly rpc_url: string
  readonly deposit_module: `0x${string}`
  readonly withdrawal_module: `0x${string}`
  readonly usdc: `0x${string}`
  readonly wrapped_usdc: `0x${string}`
  readonly cash_asset: `0x${string}`
  readonly perp_manager: `0x${string}`
  readonly accounts: readonly DevnetAccount[]
}

export interface DevnetAccount {
  readonly name: string
  readonly private_key: `0x${string}`
  readonly spot_subaccount_id: string
}

/** Reads the description, from where `./venue up` leaves it unless told. */
export async function readDevnet(path = 'var/devnet.json'): Promise<Devnet> {
  return JSON.parse(await readFile(path, 'utf8')) as Devnet
}

/** The first development account. */
export function accountOf({ accounts }: Devnet): DevnetAccount {
  const [first] = accounts
  if (first === undefined) throw new Error('the devnet has no accounts')
  return first
}
