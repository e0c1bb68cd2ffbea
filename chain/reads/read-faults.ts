import { encodeFunctionData } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import {
  batchExecutorAbi,
  managerAbi,
  matchingAbi,
  subAccountsAbi,
  tradeModuleAbi,
} from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import { orUnreachable, type ChainClient } from './client.js'
import type { TradingDeployment } from './deployment.js'

/** Why the chain refuses every match, whatever the orders. */
export interface VenueFault {
  /** The name of the revert with which it does. */
  readonly revert: string
  /** The same for an operator. */
  readonly why: string
}

export interface FaultReads {
  /** A `read` client, which sends the calls in batches. */
  readonly client: ChainClient
  readonly deployment: Pick<TradingDeployment, 'matching' | 'subAccounts' | 'batchExecutor'>
  /** The key that settles. */
  readonly sender: Address
}

/** The fault of the deployment that concerns all markets. Rejects with ChainUnreachable. */
export function readDeploymentFault(reads: FaultReads): Promise<VenueFault | undefined> {
  return orUnreachable('the right to settle', deploymentFault(reads))
}

/** The fault of one market; undefined when none is seen. Rejects with ChainUnreachable. */
export function readMarketFault(
  reads: FaultReads,
  market: Market,
): Promise<VenueFault | undefined> {
  return orUnreachable(`whether ${market.market} can be settled`, marketFault(reads, market))
}

async function deploymentFault(reads: FaultReads): Promise<VenueFault | undefined> {
  const { deployment, sender } = reads
  const { matching, batchExecutor } = deployment
  const trader = batchExecutor ?? sender
  const operators = { abi: batchExecutorAbi, functionName: 'operators', args: [sender] } as const
  const executors = { abi: matchingAbi, functionName: 'tradeExecutors', args: [trader] } as const
  const [mayBatch, mayTrade] = await Promise.all([
    batchExecutor === undefined || isTrue(reads, batchExecutor, encodeFunctionData(operators)),
    isTrue(reads, matching, encodeFunctionData(executors)),
  ])
  if (!mayBatch) {
    const why = `${sender} is not an operator of ${batchExecutor ?? ''}: allow it there`
    return { revert: 'BE_OnlyOperator', why }
  }
  if (mayTrade) return undefined
  const why = `${trader} is not a trade executor of ${matching}: allow it there`
  return { revert: 'M_OnlyTradeExecutor', why }
}

async function marketFault(reads: FaultReads, market: Market): Promise<VenueFault | undefined> {
  const { tradeModuleAddress: module, marginManagerAddress: manager } = market
  const { matching } = reads.deployment
  const allowed = { abi: matchingAbi, functionName: 'allowedModules', args: [module] } as const
  const recipient = { abi: tradeModuleAbi, functionName: 'feeRecipient' } as const
  const [isAllowed, isPaused, feeAccount] = await Promise.all([
    isTrue(reads, matching, encodeFunctionData(allowed)),
    isPausedManager(reads, manager),
    wordOf(reads, module, encodeFunctionData(recipient)),
  ])
  if (!isAllowed) {
    return { revert: 'M_OnlyAllowedModule', why: `${matching} does not allow ${module}` }
  }
  if (feeAccount === undefined) return undefined
  if (feeAccount === 0n) {
    return { revert: 'MW_UnknownManager', why: `${module} has no account for its fees` }
  }
  // The account for the fees takes part in every match, with the manager that it has.
  const feeManager = await managerOf(reads, feeAccount)
  const isFeePaused =
    feeManager !== undefined && feeManager !== manager && (await isPausedManager(reads, feeManager))
  if (!isPaused && !isFeePaused) return undefined
  const paused = isPaused ? manager : feeManager
  return { revert: 'BM_AdjustmentsPaused', why: `manager ${paused ?? ''} is paused` }
}

const PAUSED = encodeFunctionData({ abi: managerAbi, functionName: 'adjustmentsPaused' })

const isPausedManager = (reads: FaultReads, manager: Address): Promise<boolean> =>
  isTrue(reads, manager, PAUSED)

async function managerOf(reads: FaultReads, accountId: bigint): Promise<Address | undefined> {
  const manager = { abi: subAccountsAbi, functionName: 'manager', args: [accountId] } as const
  const word = await wordOf(reads, reads.deployment.subAccounts, encodeFunctionData(manager))
  return word === undefined ? undefined : `0x${word.toString(16).padStart(40, '0')}`
}

/** Whether the call returns true. */
export const isTrue = async (
  reads: Pick<FaultReads, 'client'>,
  to: Address,
  data: Hex,
): Promise<boolean> => (await wordOf(reads, to, data)) === 1n

/** The word that a call returns; undefined when the contract reverts or has no such function. */
export async function wordOf(
  { client }: Pick<FaultReads, 'client'>,
  to: Address,
  data: Hex,
): Promise<bigint | undefined> {
  const answer = await client
    .request({ method: 'eth_call', params: [{ to, data }, 'latest'] })
    .catch(undefinedOnRevert)
  return answer === undefined || answer === '0x' ? undefined : BigInt(answer.slice(0, 66))
}
