import { encodeFunctionData } from 'viem'
import { futureAssetAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import { dateCodeOf } from '../../core/contracts/future.js'
import { parseInteger } from '../../core/decimal.js'
import { BatchError, createBatch, type SenderOptions } from '../chain/transaction-batch.js'

const CREATE_GAS = 400_000n
/** Name of the futures' asset in the deployment file. */
const ASSET = 'future_asset'

/** A row of the market file. */
type Row = Readonly<Record<string, unknown>>

/** The next series cannot be described; the message is one line. */
export class NoNextSeries extends Error {
  override readonly name = 'NoNextSeries'
}

/**
 * Opens a series on the chain, whose owner is the sender. Throws NoNextSeries when the chain refuses it or does not answer.
 */
export async function createSeries(
  sender: SenderOptions,
  futureAsset: Address,
  expirySec: number,
): Promise<void> {
  const batch = await createBatch(sender).catch((cause: unknown) => {
    const message = `the chain at ${sender.rpcUrl} does not answer: is the venue running?`
    throw new NoNextSeries(message, { cause })
  })
  const call = { abi: futureAssetAbi, functionName: 'createSeries' } as const
  const data = encodeFunctionData({ ...call, args: [BigInt(expirySec)] })
  await batch.send({ to: futureAsset, data, gas: CREATE_GAS })
  await batch.flush().catch((error: unknown) => {
    if (!(error instanceof BatchError)) throw error
    throw new NoNextSeries(
      `the chain opened no series: it must be new, its expiry more than an hour ahead, and the index fresh (${error.message})`,
    )
  })
}

/**
 * The row of a series that follows those of a market file: like the last one, with its own date in every text and an ordinal
 * that no row has. Throws NoNextSeries.
 */
export function rowOfNextSeries(rows: readonly unknown[], expirySec: number): Row {
  const last = (rows as readonly Row[]).findLast(({ asset }) => asset === ASSET)
  const [before, after] = [parseInteger(String(last?.sub_id)) ?? 0n, BigInt(expirySec)].map(
    dateCodeOf,
  )
  if (last === undefined || before === undefined)
    throw new NoNextSeries('the market file has no series to follow')
  if (after === undefined) throw new NoNextSeries(`${expirySec} is no expiry`)
  const ordinals = (rows as readonly Row[]).map(({ ordinal }) => Number(ordinal))
  const dated = JSON.parse(JSON.stringify(last).replaceAll(before, after)) as Row
  const ordinal = Math.max(...ordinals) + 1
  return { ...dated, ordinal, enabled: true, aliases: [], sub_id: `${expirySec}` }
}
