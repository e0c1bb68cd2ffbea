import { encodeFunctionData, parseAbi, parseEventLogs, type TransactionReceipt } from 'viem'
import { matchingAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import type { DevnetDeployment } from './deploy.js'
import { createBatch, type BatchSenderOptions } from './transaction-batch.js'

/** 1,000,000 USDC and 1,000,000,000 cNGN in the tokens' 6 decimals. */
const USDC_PER_ACCOUNT = 1_000_000_000_000n
const CNGN_PER_ACCOUNT = 1_000_000_000_000_000n
/** 100,000 USDC of cash in each perp account, and 20,000,000 cNGN as collateral in some. */
const PERP_CASH = 100_000_000_000n
const PERP_COLLATERAL = 20_000_000_000_000n
const ETHER_PER_ACCOUNT = 100n * 10n ** 18n
const SEED_GAS = 2_000_000n

const seederAbi = parseAbi([
  'struct Endowment { address token; address asset; uint256 amount; }',
  'function open(address account, address manager, Endowment[] endowments) returns (uint256 accountId)',
  'function seed(address account, address manager, Endowment[] endowments) payable returns (uint256 accountId)',
])

export interface SeedOptions extends BatchSenderOptions {
  /** `privateKey` is the deployer's, the only account that may mint the devnet's tokens. */
  readonly deployment: DevnetDeployment
  readonly owners: readonly Address[]
}

export interface SeededAccount {
  readonly owner: Address
  readonly spotSubaccountId: bigint
}

/**
 * Gives each owner 100 ether, 1,000,000 USDC and 1,000,000,000 cNGN in the wallet, and the same tokens again in a new
 * spot subaccount that Matching holds for it. Returns results in the order of `owners`; throws when a step fails.
 */
export async function seedAccounts(options: SeedOptions): Promise<readonly SeededAccount[]> {
  const { deployment: at, owners } = options
  const batch = await createBatch(options)
  const endowments = [
    { token: at.usdc, asset: at.wrapped_usdc, amount: USDC_PER_ACCOUNT },
    { token: at.cngn, asset: at.wrapped_cngn, amount: CNGN_PER_ACCOUNT },
  ]
  for (const owner of owners) {
    const args = [owner, at.spot_manager, endowments] as const
    const data = encodeFunctionData({ abi: seederAbi, functionName: 'seed', args })
    await batch.send({ to: at.seeder, data, value: ETHER_PER_ACCOUNT, gas: SEED_GAS })
  }
  const ids = depositedAccounts(await batch.flush())
  return pairs(owners, ids).map(([owner, spotSubaccountId]) => ({ owner, spotSubaccountId }))
}

/**
 * Opens a perp subaccount of each owner, which Matching holds for it, with 100,000 USDC of cash; every other one, the
 * first included, also has 20,000,000 cNGN as collateral. Returns the ids in the order of `owners`; throws when a step
 * fails.
 */
export function seedPerpAccounts(options: SeedOptions): Promise<readonly bigint[]> {
  const { deployment: at } = options
  const cash = { token: at.usdc, asset: at.cash_asset, amount: PERP_CASH }
  const collateral = { token: at.cngn, asset: at.wrapped_cngn, amount: PERP_COLLATERAL }
  return openAccounts(options, at.perp_manager, (i) => (i % 2 === 0 ? [cash, collateral] : [cash]))
}

/** Balances of a new account, in the tokens' 6 decimals. */
export type TokenBalances = Readonly<Record<'usdc' | 'cngn', bigint>>

/**
 * Opens an account of each owner under a manager, which Matching holds for it, with the same balances of both wrapped
 * tokens. Returns the ids in the order of `owners`; throws when a step fails.
 */
export function seedTradingAccounts(
  options: SeedOptions,
  manager: Address,
  { usdc, cngn }: TokenBalances,
): Promise<readonly bigint[]> {
  const { deployment: at } = options
  return openAccounts(options, manager, () => [
    { token: at.usdc, asset: at.wrapped_usdc, amount: usdc },
    { token: at.cngn, asset: at.wrapped_cngn, amount: cngn },
  ])
}

interface Endowment {
  readonly token: Address
  readonly asset: Address
  readonly amount: bigint
}

async function openAccounts(
  options: SeedOptions,
  manager: Address,
  endowmentsOf: (position: number) => readonly Endowment[],
): Promise<readonly bigint[]> {
  const { deployment: at, owners } = options
  const batch = await createBatch(options)
  for (const [i, owner] of owners.entries()) {
    const args = [owner, manager, endowmentsOf(i)] as const
    const data = encodeFunctionData({ abi: seederAbi, functionName: 'open', args })
    await batch.send({ to: at.seeder, data, gas: SEED_GAS })
  }
  return pairs(owners, depositedAccounts(await batch.flush())).map(([, id]) => id)
}

/** Ids of the accounts that Matching received, in order. */
function depositedAccounts(receipts: readonly TransactionReceipt[]): bigint[] {
  const logs = receipts.flatMap((receipt) => receipt.logs)
  const events = parseEventLogs({ abi: matchingAbi, eventName: 'DepositedSubAccount', logs })
  return events.map((event) => event.args.accountId)
}

function pairs(owners: readonly Address[], ids: readonly bigint[]): [Address, bigint][] {
  return owners.map((owner, i) => {
    const id = ids[i]
    if (id === undefined) throw new Error(`no account was deposited for ${owner}`)
    return [owner, id]
  })
}
