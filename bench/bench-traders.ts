import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../core/action.js'
import { roleAccounts } from '../devnet/chain/accounts.js'
import type { DevnetDeployment } from '../devnet/chain/deploy.js'
import { seedTradingAccounts } from '../devnet/chain/seed-accounts.js'
import type { TradingAccount } from './order-flow.js'
import type { OwnVenue } from './own-venue.js'

/** 100,000 USDC and 100,000,000 cNGN in the tokens' 6 decimals. */
const FUNDS = { usdc: 100_000_000_000n, cngn: 100_000_000_000_000n }
const FIRST_KEY = 1_000_000

/** Opens accounts of as many owners under a manager of the venue's chain. They sign, and need no gas. */
export async function openTraders(
  { devnet }: OwnVenue,
  dir: string,
  { manager, count }: { readonly manager: Address; readonly count: number },
): Promise<TradingAccount[]> {
  const { privateKey } = (await roleAccounts(dir)).deployer
  const keys = Array.from({ length: count }, (_, i): Hex => {
    return `0x${(FIRST_KEY + i).toString(16).padStart(64, '0')}`
  })
  const owners = keys.map((key) => privateKeyToAccount(key).address)
  const deployment = devnet as unknown as DevnetDeployment
  const options = { rpcUrl: devnet.rpc_url, privateKey, deployment, owners }
  const ids = await seedTradingAccounts(options, manager, FUNDS)
  return keys.map((private_key, i) => ({ private_key, subaccountId: `${ids[i]}` }))
}
