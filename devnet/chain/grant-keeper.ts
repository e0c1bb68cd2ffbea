import { createPublicClient, encodeFunctionData, http } from 'viem'
import { futureAssetAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { GAS_MONEY_WEI, TRANSFER_GAS } from './deploy.js'
import { createBatch } from './transaction-batch.js'

const GRANT_GAS = 200_000n

/** A devnet that has futures, and the accounts that its keeper is made with. */
export interface GrantOptions {
  readonly rpcUrl: string
  readonly futureAsset: Address
  readonly keeper: Address
  /** Owns the asset, and pays. */
  readonly ownerKey: Hex
}

/**
 * Lets the keeper move the marks of a devnet that an earlier build made, where the feeder did, and gives it gas money; does
 * nothing where it may already. Throws as a batch does.
 */
export async function grantKeeper(options: GrantOptions): Promise<void> {
  const { rpcUrl, futureAsset: to, keeper, ownerKey: privateKey } = options
  const client = createPublicClient({ transport: http(rpcUrl) })
  const asset = { address: to, abi: futureAssetAbi } as const
  const current = await client.readContract({ ...asset, functionName: 'markKeeper' })
  if (current.toLowerCase() === keeper) return
  const batch = await createBatch({ rpcUrl, privateKey })
  const grant = { abi: futureAssetAbi, functionName: 'setMarkKeeper', args: [keeper] } as const
  await batch.send({ to: keeper, value: GAS_MONEY_WEI, gas: TRANSFER_GAS })
  await batch.send({ to, data: encodeFunctionData(grant), gas: GRANT_GAS })
  await batch.flush()
}
