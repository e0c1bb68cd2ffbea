import type { Address } from '../core/action.js'
import { batchExecutorAbi } from './abi/batch-executor.js'
import { matchingAbi } from './abi/matching.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import type { Deployment } from './deployment.js'

/** The chain is not the one the deployment describes, or does not let this key trade; the message says what to do. */
export class DeploymentMismatch extends Error {
  override readonly name = 'DeploymentMismatch'
}

export type TradingDeployment = Pick<
  Deployment,
  'chainId' | 'matching' | 'subAccounts' | 'spotTradeModule' | 'batchExecutor'
>

/** The contracts that a process relies on, by their names in the deployment. */
export type CalledContracts = Pick<Deployment, 'matching'> &
  Partial<Omit<Deployment, 'chainId' | 'matching'>>

/**
 * Passes when the node is on the chain, the contracts have code, and matching lets `executor` settle trades, through
 * the batch executor where there is one. Throws DeploymentMismatch otherwise, and ChainUnreachable when the node does
 * not answer.
 */
export async function checkDeployment(
  client: ChainClient,
  { chainId, contracts }: { readonly chainId: number; readonly contracts: CalledContracts },
  executor: Address,
): Promise<void> {
  const actual = await orUnreachable('chain id', client.getChainId())
  if (actual !== chainId) {
    throw new DeploymentMismatch(`the deployment is on chain ${chainId}, the node on ${actual}`)
  }
  const { matching, batchExecutor } = contracts
  for (const [name, address] of Object.entries(contracts)) {
    const code = await orUnreachable(`code of ${name}`, client.getCode({ address }))
    if (code === undefined) throw new DeploymentMismatch(`no contract at ${name} ${address}`)
  }
  if (batchExecutor !== undefined) await checkBatches(client, { matching, batchExecutor }, executor)
  await checkTrades(client, matching, batchExecutor ?? executor)
}

async function checkTrades(client: ChainClient, matching: Address, trader: Address): Promise<void> {
  const allowed = client.readContract({
    address: matching,
    abi: matchingAbi,
    functionName: 'tradeExecutors',
    args: [trader],
  })
  if (await orUnreachable('trade executors', allowed)) return
  throw new DeploymentMismatch(`${trader} is no trade executor of ${matching}: allow it there`)
}

async function checkBatches(
  client: ChainClient,
  { matching, batchExecutor }: { readonly matching: Address; readonly batchExecutor: Address },
  executor: Address,
): Promise<void> {
  const contract = { address: batchExecutor, abi: batchExecutorAbi } as const
  const [target, allowed] = await orUnreachable(
    'batch executor',
    Promise.all([
      client.readContract({ ...contract, functionName: 'matching' }),
      client.readContract({ ...contract, functionName: 'operators', args: [executor] }),
    ]),
  )
  if (target.toLowerCase() !== matching) {
    throw new DeploymentMismatch(`batch executor ${batchExecutor} works for ${target}`)
  }
  if (!allowed) {
    throw new DeploymentMismatch(`${executor} is no operator of ${batchExecutor}: allow it there`)
  }
}
