import { encodeFunctionData, parseAbi, parseEventLogs } from 'viem'
import { matchingAbi } from '../chain/abi/matching.js'
import type { Address } from '../core/action.js'
import type { DevnetDeployment } from './deploy.js'
import { createBatch } from './transaction-batch.js'
import type { SenderOptions } from './transaction-batch.js'

/** 1,000,000 USDC and 1,000,000,000 cNGN in the tokens' 6 decimals. */
const USDC_PER_ACCOUNT = 1_000_000_000_000n
const CNGN_PER_ACCOUNT = 1_000_000_000_000_000n
const ETHER_PER_ACCOUNT = 100n * 10n ** 18n
const SEED_GAS = 2_000_000n

const seederAbi = parseAbi([
  'struct Endowment { address token; address asset; uint256 amount; }',
  'function seed(address account, address manager, Endowment[] endowments) payable returns (uint256 accountId)',
])

export interface SeedOptions extends SenderOptions {
  /** `privateKey` is the deployer's, who alone may print the devnet's tokens. */
  readonly deployment: DevnetDeployment
  readonly owners: readonly Address[]
}

export interface SeededAccount {
  readonly owner: Address
  readonly spotSubaccountId: bigint
}

/**
 * Gives each owner 100 ether, 1,000,000 USDC and 1,000,000,000 cNGN in the wallet, and the same tokens again in a new
 * spot subaccount that Matching holds for it. Answers in the order of `owners`; throws when a step fails.
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
  const receipts = await batch.flush()
  return receipts.map((receipt, i) => {
    const [event] = parseEventLogs({
      abi: matchingAbi,
      eventName: 'DepositedSubAccount',
      logs: receipt.logs,
    })
    const owner = owners[i]
    if (event === undefined || owner === undefined) throw new Error('an account was not deposited')
    return { owner, spotSubaccountId: event.args.accountId }
  })
}
