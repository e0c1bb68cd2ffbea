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
 * Gives the keeper the two roles of the futures, mark keeper and series creator, which the deployment or an earlier build gave to
 * others, and gas money with the first; does nothing where it has both. Throws as a batch does.
 */
export async function grantKeeper(options: GrantOptions): Promise<void> {
  const { rpcUrl, futureAsset: to, keeper, ownerKey: privateKey } = options
  const client = createPublicClient({ transport: http(rpcUrl) })
  const asset = { address: to, abi: futureAssetAbi } as const
  const abi = futureAssetAbi
  const marks = await client.readContract({ ...asset, functionName: 'markKeeper' })
  const series = await client.readContract({ ...asset, functionName: 'seriesCreator' })
  const isKeeper = (address: string): boolean => address.toLowerCase() === keeper
  if (isKeeper(marks) && isKeeper(series)) return
  const batch = await createBatch({ rpcUrl, privateKey })
  const args = [keeper] as const
  if (!isKeeper(marks)) {
    const data = encodeFunctionData({ abi, functionName: 'setMarkKeeper', args })
    await batch.send({ to: keeper, value: GAS_MONEY_WEI, gas: TRANSFER_GAS })
    await batch.send({ to, data, gas: GRANT_GAS })
  }
  if (!isKeeper(series)) {
    const data = encodeFunctionData({ abi, functionName: 'setSeriesCreator', args })
    await batch.send({ to, data, gas: GRANT_GAS })
  }
  await batch.flush()
}
