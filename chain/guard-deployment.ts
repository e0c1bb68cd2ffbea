import type { Address, Hex } from '../core/action.js'
import { orUnreachable } from './chain-unreachable.js'
import { checkDeployment, DeploymentMismatch } from './check-deployment.js'
import type { CalledContracts } from './check-deployment.js'
import type { ChainClient } from './client.js'
import { bytesToHex, hexToBytes } from './typed-data.js'
import { keccak256 } from './keccak.js'

/**
 * A check to be made again and again that the node is still on the deployment's chain, that the key may still trade, and
 * that the code of the contracts is what the first check saw. Each rejects with DeploymentMismatch when it is not, and with
 * ChainUnreachable when the node does not answer.
 */
export function guardDeployment(
  client: ChainClient,
  deployment: { readonly chainId: number; readonly contracts: CalledContracts },
  executor: Address,
): () => Promise<void> {
  let first: ReadonlyMap<string, Hex> | undefined
  return async () => {
    await checkDeployment(client, deployment, executor)
    const now = await hashCode(client, deployment.contracts)
    first ??= now
    for (const [name, hash] of now) {
      if (first.get(name) === hash) continue
      throw new DeploymentMismatch(`the code of ${name} was replaced while this process ran`)
    }
  }
}

async function hashCode(
  client: ChainClient,
  contracts: CalledContracts,
): Promise<ReadonlyMap<string, Hex>> {
  const hashes = Object.entries(contracts).map(async ([name, address]) => {
    const code = await orUnreachable(`code of ${name}`, client.getCode({ address }))
    return [name, bytesToHex(keccak256(hexToBytes(code ?? '0x')))] as const
  })
  return new Map(await Promise.all(hashes))
}
