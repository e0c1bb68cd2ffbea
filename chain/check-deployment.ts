import type { Address } from '../core/action.js'
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
  'chainId' | 'matching' | 'subAccounts' | 'spotTradeModule'
>

/**
 * Passes when the node is on the deployment's chain, its contracts have code, and matching lets `executor` settle
 * trades. Throws DeploymentMismatch otherwise, and ChainUnreachable when the node does not answer.
 */
export async function checkDeployment(
  client: ChainClient,
  deployment: TradingDeployment,
  executor: Address,
): Promise<void> {
  const { chainId, matching, subAccounts, spotTradeModule } = deployment
  const actual = await orUnreachable('chain id', client.getChainId())
  if (actual !== chainId) {
    throw new DeploymentMismatch(`the deployment is on chain ${chainId}, the node on ${actual}`)
  }
  for (const [name, address] of Object.entries({ matching, subAccounts, spotTradeModule })) {
    const code = await orUnreachable(`code of ${name}`, client.getCode({ address }))
    if (code === undefined) throw new DeploymentMismatch(`no contract at ${name} ${address}`)
  }
  const allowed = await orUnreachable('trade executors', mayTrade(client, matching, executor))
  if (!allowed) {
    throw new DeploymentMismatch(`${executor} is no trade executor of ${matching}: allow it there`)
  }
}

function mayTrade(client: ChainClient, matching: Address, executor: Address): Promise<boolean> {
  return client.readContract({
    address: matching,
    abi: matchingAbi,
    functionName: 'tradeExecutors',
    args: [executor],
  })
}
