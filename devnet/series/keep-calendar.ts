import { createPublicClient, encodeFunctionData, http, type PublicClient } from 'viem'
import { futureAssetAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { dateCodeOf, isSeries } from '../../core/contracts/future.js'
import { expiriesFrom, type FuturesCalendar } from '../../core/contracts/future-calendar.js'
import type { Market } from '../../core/model/market.js'
import { exactNumber } from '../../core/decimal.js'
import { createBatch } from '../chain/transaction-batch.js'
import { createSeries } from './next-series.js'

/** From so long after expiry on the owner may settle a series whose fixing is incomplete. */
const FALLBACK_SEC = 86_400n
const FALLBACK_GAS = 400_000n

/** The markets of a venue, and what an operator does about them. */
export interface CalendarVenue {
  /** Those that are registered. */
  readonly markets: () => Promise<readonly Market[]>
  /** Whether its log has not disabled the market. */
  readonly isEnabled: (market: string) => Promise<boolean>
  /** `./venue market add` with the row of `./venue market row` for this expiry, in unix seconds. */
  readonly add: (expirySec: number) => Promise<void>
  /** `./venue market disable`. */
  readonly disable: (market: string, reason: string) => Promise<void>
}

export interface CalendarKeeperOptions {
  readonly rpcUrl: string
  readonly futureAsset: Address
  /** The key of the asset's owner and series creator, which must have no other sender meanwhile. */
  readonly ownerKey: Hex
  readonly calendar: FuturesCalendar
  readonly venue: CalendarVenue
}

export interface CalendarKeeper {
  /**
   * Does once what the calendar asks for at the time of the newest block: opens and lists the series that should trade,
   * settles the ones that ended without a complete fixing from a day after their expiry on, and disables those that the
   * chain has no more. What was done before, in part too, is found and not done again. A venue that lists no series stays
   * without. Rejects with the first failure, once everything was tried.
   */
  keep(): Promise<void>
}

export function createCalendarKeeper(options: CalendarKeeperOptions): CalendarKeeper {
  const { rpcUrl, futureAsset: address, calendar, venue } = options
  const client = createPublicClient({ transport: http(rpcUrl) })
  return {
    async keep() {
      const listed = await seriesOf(venue)
      if (listed.length === 0) return
      const { timestamp: nowSec } = await client.getBlock()
      const asset = { address, abi: futureAssetAbi } as const
      const open = new Set(await client.readContract({ ...asset, functionName: 'openSeries' }))
      const failures: unknown[] = []
      const attempt = (step: Promise<void>) =>
        step.catch((error: unknown) => void failures.push(error))
      for (const expirySec of expiriesFrom(calendar, exactNumber(nowSec)))
        await attempt(provide(options, expirySec, open.has(BigInt(expirySec))))
      for (const { market, subId } of listed) {
        if (nowSec < subId) continue
        if (!open.has(subId)) await attempt(disable(venue, market))
        else if (nowSec >= subId + FALLBACK_SEC)
          await attempt(settleByFallback(options, client, subId))
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

const seriesOf = async (venue: CalendarVenue): Promise<readonly Market[]> =>
  (await venue.markets()).filter(isSeries)

/** As far as that is not done. */
async function disable(venue: CalendarVenue, market: string): Promise<void> {
  if (await venue.isEnabled(market)) await venue.disable(market, 'the series is closed out')
}

/** Opens a series on the chain and lists it, as far as neither is done; not next to one of the same day, whose name it would have. */
async function provide(
  { rpcUrl, ownerKey: privateKey, futureAsset, venue }: CalendarKeeperOptions,
  expirySec: number,
  isOpen: boolean,
): Promise<void> {
  const day = dateCodeOf(BigInt(expirySec))
  const ofDay = (await seriesOf(venue)).find(({ subId }) => dateCodeOf(subId) === day)
  if (ofDay !== undefined && ofDay.subId !== BigInt(expirySec)) return
  if (!isOpen) await createSeries({ rpcUrl, privateKey }, futureAsset, expirySec)
  if (ofDay === undefined) await venue.add(expirySec)
}

/** The settlement price is the average of what samples there are, rounded down, or without any the last mark. */
async function settleByFallback(
  { rpcUrl, ownerKey: privateKey, futureAsset: address }: CalendarKeeperOptions,
  client: PublicClient,
  subId: bigint,
): Promise<void> {
  const asset = { address, abi: futureAssetAbi, args: [subId] } as const
  const series = await client.readContract({ ...asset, functionName: 'series' })
  const fixing = await client.readContract({ ...asset, functionName: 'fixing' })
  const [, mark, , settlementPrice] = series
  const [, priceSeconds, coveredSec, , isComplete] = fixing
  // A complete fixing is the keeper's to settle.
  if (settlementPrice !== 0n || isComplete) return
  const price = coveredSec === 0n ? mark : priceSeconds / coveredSec
  const batch = await createBatch({ rpcUrl, privateKey })
  const call = { abi: futureAssetAbi, functionName: 'setFallbackPrice' } as const
  const data = encodeFunctionData({ ...call, args: [subId, price] })
  await batch.send({ to: address, data, gas: FALLBACK_GAS })
  await batch.flush()
}
