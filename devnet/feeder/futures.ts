import { createPublicClient, encodeFunctionData, http, type PublicClient } from 'viem'
import { futureAssetAbi, futuresManagerAbi, subAccountsAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { fillBand, FIXING_SEC, markTowards } from '../../core/contracts/future-prices.js'
import { divHalfUp, exactNumber } from '../../core/decimal.js'
import { E18, priceE18 } from '../../core/money.js'
import { signSpotPrice } from '../chain/sign-prices.js'
import { createBatch, type TransactionBatch } from '../chain/transaction-batch.js'

const CALL_GAS = 400_000n
/** Per position that is closed, beside CALL_GAS. */
const CLOSE_GAS = 400_000n
const MARK_EVERY_SEC = 3_600n
/** Samples are recorded from this long before the fixing's hour. */
const EARLY_SEC = 300
/** Seconds until a transaction is in a block: the band narrows meanwhile. */
const INCLUSION_SEC = 60
/** Positions that one transaction closes. */
const CLOSED_AT_ONCE = 20

/** The addresses of the futures, by their names in the deployment file. */
export interface FuturesContracts {
  readonly sub_accounts: Address
  readonly futures_index_feed: Address
  readonly future_asset: Address
  readonly futures_manager: Address
}

export interface FuturesKeeper {
  /**
   * Publishes the index, in cNGN per USDC the inverse of the given price, and does for every series what is due: moves the
   * mark towards the index, records the index, settles, closes positions, retires. Resolves once all is mined. Throws
   * BatchError when a transaction was refused or lost, and the client's error when the node does not answer; a series that
   * fails does not keep it from the others.
   */
  keep(usdcPerCngn: bigint): Promise<void>
}

export interface FuturesKeeperOptions {
  readonly rpcUrl: string
  readonly at: FuturesContracts
  /** Signs the index and moves the marks. The key must have no other sender meanwhile. */
  readonly privateKey: Hex
}

export function createFuturesKeeper({
  rpcUrl,
  at,
  privateKey,
}: FuturesKeeperOptions): FuturesKeeper {
  const client = createPublicClient({ transport: http(rpcUrl) })
  return {
    async keep(usdcPerCngn) {
      if (usdcPerCngn === 0n) return
      const index = divHalfUp(E18 * E18, usdcPerCngn)
      const batch = await createBatch({ rpcUrl, privateKey })
      const timestampSec = await batch.newestBlockTimeSec()
      const update = { chainId: batch.chainId, signerKey: privateKey, timestampSec }
      const price = { price: index, confidence: E18 }
      const call = await signSpotPrice(update, at.futures_index_feed, price)
      await batch.send({ ...call, gas: CALL_GAS })
      await batch.flush()
      const asset = { address: at.future_asset, abi: futureAssetAbi } as const
      const failures: unknown[] = []
      for (const subId of await client.readContract({ ...asset, functionName: 'openSeries' })) {
        try {
          // Of its own: what the last series has left unsent must not hold this one up.
          const own = await createBatch({ rpcUrl, privateKey })
          await keepSeries({ client, batch: own, at, index, subId })
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

interface SeriesWork {
  readonly client: PublicClient
  readonly batch: TransactionBatch
  readonly at: FuturesContracts
  readonly index: bigint
  readonly subId: bigint
}

async function keepSeries(work: SeriesWork): Promise<void> {
  const { client, batch, at, subId } = work
  const asset = { address: at.future_asset, abi: futureAssetAbi } as const
  const args = [subId] as const
  const [, mark, markAt, settlementPrice] = await client.readContract({
    ...{ ...asset, functionName: 'series', args },
  })
  const nowSec = await batch.newestBlockTimeSec()
  if (settlementPrice !== 0n) {
    await closePositions(work)
    return
  }
  const tell = (data: Hex) => batch.send({ to: at.future_asset, data, gas: CALL_GAS })
  if (nowSec < subId && nowSec >= markAt + MARK_EVERY_SEC) {
    const next = nextMark(work, mark, nowSec)
    if (next !== undefined && next !== mark) {
      const move = [subId, next] as const
      await tell(encodeFunctionData({ ...asset, functionName: 'updateMark', args: move }))
    }
  }
  const isFixing = nowSec <= subId && nowSec >= subId - BigInt(FIXING_SEC + EARLY_SEC)
  if (isFixing) await tell(encodeFunctionData({ ...asset, functionName: 'recordIndex', args }))
  if (nowSec >= subId) {
    const fixing = await client.readContract({ ...asset, functionName: 'fixing', args })
    if (fixing[4]) await tell(encodeFunctionData({ ...asset, functionName: 'settle', args }))
  }
  await batch.flush()
}

/** The legal mark nearest to the index; undefined while there is none. */
function nextMark({ index, subId }: SeriesWork, mark: bigint, nowSec: bigint): bigint | undefined {
  const atSec = exactNumber(nowSec) + INCLUSION_SEC
  const band = fillBand(priceE18(index), exactNumber(subId), atSec)
  return markTowards(priceE18(mark), priceE18(index), band)
}

/** Closes what is open of a settled series, a list at a time, and retires it when nothing is. */
async function closePositions({ client, batch, at, subId }: SeriesWork): Promise<void> {
  const accounts = { address: at.sub_accounts, abi: subAccountsAbi } as const
  const last = await client.readContract({ ...accounts, functionName: 'lastAccountId' })
  const open: bigint[] = []
  for (let id = 1n; id <= last && open.length < CLOSED_AT_ONCE; id += 1n) {
    const args = [id, at.future_asset, subId] as const
    const position = await client.readContract({ ...accounts, functionName: 'getBalance', args })
    if (position !== 0n) open.push(id)
  }
  if (open.length > 0) {
    const args = [subId, open] as const
    const call = { abi: futuresManagerAbi, functionName: 'closeOut', args } as const
    const gas = CALL_GAS + CLOSE_GAS * BigInt(open.length)
    await batch.send({ to: at.futures_manager, data: encodeFunctionData(call), gas })
  }
  if (open.length < CLOSED_AT_ONCE) {
    const call = { abi: futureAssetAbi, functionName: 'retireSeries', args: [subId] } as const
    await batch.send({ to: at.future_asset, data: encodeFunctionData(call), gas: CALL_GAS })
  }
  await batch.flush()
}
