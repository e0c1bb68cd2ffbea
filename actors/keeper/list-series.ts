import { newestCalls, type ObservingDeps } from '../../chain/contracts/observe-account.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import { readHead } from '../../chain/reads/blocks.js'
import { ChainUnreachable, orUnreachable } from '../../chain/reads/client.js'
import type { Address } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import {
  seriesWork,
  type FuturesCalendar,
  type SeriesWork,
} from '../../core/contracts/future-calendar.js'
import type { Market } from '../../core/model/market.js'
import { JOBS } from '../../core/contracts/upkeep.js'
import { blockTimeSec } from '../../core/time.js'
import { MarketFileError } from '../../data/markets.js'
import { BusUnavailable, StreamMissing } from '../../runtime/bus/bus.js'
import { askTerms, rowOfSeriesAfter, SHOW } from '../market-orders/ask-market.js'
import { OperatorOrderRefused } from '../market-orders/order-refused.js'
import { registerRows, type RegisterDeps } from '../market-orders/register-markets.js'
import type { LateJob } from './docket.js'

/** What the market command does, asked for by the keeper. */
export interface SeriesOrders {
  /** Registers a series with this expiry, in unix seconds, like the newest of the markets. Rejects with one of NOT_DONE. */
  readonly list: (markets: readonly Market[], expirySec: number) => Promise<void>
  /** Disables the market, unless it is. Rejects with one of NOT_DONE. */
  readonly disable: (market: string) => Promise<void>
}

/** The intake or a matcher does not answer, or refuses; the bus or the chain does not answer. */
export const NOT_DONE = [
  ...([OperatorOrderRefused, MarketFileError] as const),
  ...([BusUnavailable, StreamMissing, ChainUnreachable] as const),
] as const

const WITHIN_MS = 15_000

/** By way of the intake and the matchers, as the operator's command. */
export const seriesOrders = (deps: RegisterDeps): SeriesOrders => ({
  async list(markets, expirySec) {
    // Of what another keeper has had registered since, nothing is left to register.
    await registerRows(deps, [await rowOfSeriesAfter(deps, markets, expirySec)], 'calendar')
  },
  async disable(market) {
    const { enabled } = await askTerms(deps, market, SHOW)
    const change = { kind: 'disable' } as const
    const reason = 'the series is closed out'
    if (enabled) await askTerms(deps, market, { change, reason, withinMs: WITHIN_MS })
  },
})

export interface ListingDeps extends ObservingDeps {
  readonly markets: () => readonly Market[]
  readonly calendar: FuturesCalendar
  readonly keeper: Address
  readonly orders: SeriesOrders
  readonly facts: { readonly unreadable: (what: string, cause: Error) => void }
}

/** Registers series that the chain has, and disables those that it has no more. */
export interface SeriesListing {
  /** Does once what is to be done, each apart from the others; what failed is done by a later round. Never rejects for one of NOT_DONE. */
  round(): Promise<void>
  /** What has not been done in time. */
  late(): readonly LateJob[]
}

interface Undone {
  readonly sinceSec: number
  readonly why?: string
}

export function createListing(deps: ListingDeps): SeriesListing {
  const { markets, orders, facts } = deps
  let atSec = 0
  /** By the work; bounded by the registered markets and the calendar. */
  let undone = new Map<string, Undone>()
  /** Why what was not done, as it was logged last; bounded as that is. */
  const told = new Map<string, string>()
  /** Disabled by this process, or before: an operator may enable one again. */
  const over = new Set<string>()

  async function workNow(): Promise<readonly SeriesWork[]> {
    const head = await readHead(deps.client)
    atSec = blockTimeSec(head.timestamp)
    const open = await readOpen(deps)
    if (open === undefined) return []
    const work = seriesWork(deps.calendar, markets(), { atSec, open })
    return work.filter(
      (it) => it.kind === 'list' || (it.kind === 'disable' && !over.has(it.market)),
    )
  }

  async function perform(work: SeriesWork): Promise<void> {
    crash('listing.before_order')
    if (work.kind === 'list') await orders.list(markets(), work.expirySec)
    if (work.kind === 'disable') await orders.disable(work.market)
    crash('listing.after_order')
    if (work.kind === 'disable') over.add(work.market)
  }

  /** Why it was not done; undefined when it was. */
  async function attempt(what: string, step: Promise<void>): Promise<string | undefined> {
    try {
      await step
      told.delete(what)
      return undefined
    } catch (error) {
      if (!NOT_DONE.some((kind) => error instanceof kind)) throw error
      const { message } = error as Error
      if (told.get(what) !== message) facts.unreadable(what, error as Error)
      told.set(what, message)
      return message
    }
  }

  return {
    async round() {
      let work: readonly SeriesWork[] = []
      const why = await attempt(
        'the series of the calendar',
        workNow().then((found) => void (work = found)),
      )
      if (why !== undefined) return
      const before = undone
      undone = new Map(work.map((it) => [keyOf(it), before.get(keyOf(it)) ?? { sinceSec: atSec }]))
      for (const it of work) {
        const key = keyOf(it)
        const failed = await attempt(key, perform(it))
        const { sinceSec } = undone.get(key) ?? { sinceSec: atSec }
        if (failed === undefined) undone.delete(key)
        else undone.set(key, { sinceSec, why: failed })
      }
    },
    late() {
      const [oldest] = [...undone.values()].sort((a, b) => a.sinceSec - b.sinceSec)
      if (oldest === undefined || atSec - oldest.sinceSec <= JOBS.listing) return []
      const { sinceSec, why } = oldest
      return [{ job: 'listing', sinceSec: atSec - sinceSec, ...(why !== undefined && { why }) }]
    },
  }
}

const keyOf = (work: SeriesWork): string =>
  work.kind === 'disable' ? `${work.kind} ${work.market}` : `${work.kind} ${work.expirySec}`

/** Of all kept assets whose series the keeper opens; undefined without any. */
async function readOpen(deps: ListingDeps): Promise<ReadonlySet<bigint> | undefined> {
  const block = newestCalls(deps)
  const asked = new Map<Address, Promise<ReadonlySet<bigint> | undefined>>()
  for (const market of deps.markets()) {
    const read = chainContractOf(market)?.readOwnSeries
    if (read === undefined || asked.has(market.assetAddress)) continue
    asked.set(market.assetAddress, orUnreachable('open series', read(market, block, deps.keeper)))
  }
  const found = (await Promise.all(asked.values())).filter((open) => open !== undefined)
  return found.length === 0 ? undefined : new Set(found.flatMap((open) => [...open]))
}
