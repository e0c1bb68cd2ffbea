import { createPublicClient, encodeFunctionData, http, parseAbi } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { DemoAccounts } from '../../interface/demo.js'
import { createBatch } from '../chain/transaction-batch.js'

/** 1,000,000 USDC and 1,000,000,000 cNGN to trade, in the tokens' 6 decimals. */
const TRADING_USDC = 1_000_000_000_000n
const TRADING_CNGN = 1_000_000_000_000_000n
/** 100,000 USDC of cash as margin. */
const MARGIN_CASH = 100_000_000_000n
/** 10,000 USDC and 10,000,000 cNGN in the wallet, to try deposits with. */
const WALLET_USDC = 10_000_000_000n
const WALLET_CNGN = 10_000_000_000_000n
/** 0.05 ether: gas for some hundred transactions of a wallet. */
const ETHER_WEI = 5n * 10n ** 16n
const GIVE_GAS = 4_000_000n
const RECEIPT_WITHIN_MS = 20_000

const MINUTE_MS = 60_000
/** New accounts of one minute. */
export const MOST_A_MINUTE = 10

const demoAbi = parseAbi([
  'struct Endowment { address token; address asset; uint256 amount; }',
  'function MOST() view returns (uint256)',
  'function given() view returns (uint256)',
  'function accountsOf(address owner) view returns (uint256 trading, uint256 margin)',
  'function give(address owner, address tradingManager, Endowment[] trading, address marginManager, Endowment[] margin, Endowment[] wallet) payable',
])

/** What of a deployment the giver uses. */
export interface DemoDeployment {
  readonly demo_seeder: Address
  readonly spot_manager: Address
  readonly perp_manager: Address
  readonly usdc: Address
  readonly cngn: Address
  readonly wrapped_usdc: Address
  readonly wrapped_cngn: Address
  readonly cash_asset: Address
}

export interface GiverOptions {
  readonly rpcUrl: string
  readonly at: DemoDeployment
  /** Owns the seeder, and has no other sender. */
  readonly privateKey: Hex
  /** Does not go back. */
  readonly nowMs: () => number
}

export interface Giver {
  /**
   * The accounts of an address: those that it was given before, or new ones once they are mined. `busy` when ten were given within
   * the last minute, `exhausted` when the devnet has given all. Throws BatchError when the transaction reverted or has no
   * receipt, and the client's error when the node does not answer: the same call may then be made again.
   */
  give(owner: Address): Promise<DemoAccounts | 'busy' | 'exhausted'>
}

/** Gives one after the other: each transaction of the key follows the one before. */
export function createGiver({ rpcUrl, at, privateKey, nowMs }: GiverOptions): Giver {
  const client = createPublicClient({ transport: http(rpcUrl) })
  const contract = { address: at.demo_seeder, abi: demoAbi } as const
  /** When the newest ones were given, at most ten. */
  let givenAtMs: readonly number[] = []
  /** What is being given, by owner: at most ten, also while the chain mines nothing. */
  const giving = new Map<Address, Promise<DemoAccounts>>()
  let last: Promise<unknown> = Promise.resolve()

  async function accountsOf(owner: Address): Promise<DemoAccounts | undefined> {
    const call = { ...contract, functionName: 'accountsOf', args: [owner] } as const
    const [trading, margin] = await client.readContract(call)
    if (trading === 0n) return undefined
    return {
      address: owner,
      spot_subaccount_id: trading.toString(),
      perp_subaccount_id: margin.toString(),
    }
  }

  async function hasMore(): Promise<boolean> {
    const [given, most] = await Promise.all([
      client.readContract({ ...contract, functionName: 'given' }),
      client.readContract({ ...contract, functionName: 'MOST' }),
    ])
    return given < most
  }

  async function send(owner: Address): Promise<DemoAccounts> {
    const batch = await createBatch({ rpcUrl, privateKey, receiptWithinMs: RECEIPT_WITHIN_MS })
    const call = { to: at.demo_seeder, data: dataOf(at, owner), value: ETHER_WEI, gas: GIVE_GAS }
    await batch.send(call)
    await batch.flush()
    const accounts = await accountsOf(owner)
    assert(accounts !== undefined, 'a mined gift opens accounts')
    return accounts
  }

  return {
    async give(owner) {
      const known = giving.get(owner) ?? (await accountsOf(owner))
      if (known !== undefined) return known
      if (!(await hasMore())) return 'exhausted'
      const same = giving.get(owner)
      if (same !== undefined) return same
      givenAtMs = givenAtMs.filter((atMs) => atMs > nowMs() - MINUTE_MS)
      if (giving.size >= MOST_A_MINUTE || givenAtMs.length >= MOST_A_MINUTE) return 'busy'
      givenAtMs = [...givenAtMs, nowMs()]
      const given = last.then(() => send(owner))
      giving.set(owner, given)
      last = given.catch(() => undefined).then(() => giving.delete(owner))
      return given
    },
  }
}

function dataOf(at: DemoDeployment, owner: Address): Hex {
  const trading = [
    { token: at.usdc, asset: at.wrapped_usdc, amount: TRADING_USDC },
    { token: at.cngn, asset: at.wrapped_cngn, amount: TRADING_CNGN },
  ]
  const margin = [{ token: at.usdc, asset: at.cash_asset, amount: MARGIN_CASH }]
  const wallet = [
    { token: at.usdc, asset: at.wrapped_usdc, amount: WALLET_USDC },
    { token: at.cngn, asset: at.wrapped_cngn, amount: WALLET_CNGN },
  ]
  const args = [owner, at.spot_manager, trading, at.perp_manager, margin, wallet] as const
  return encodeFunctionData({ abi: demoAbi, functionName: 'give', args })
}
