import { computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { AccountBalances, MarketEntry, OrderRecord } from '../../client/index.js'
import {
  bookRows,
  spreadOf,
  type BookRow,
  type OwnLevel,
  type Spread,
} from '../select/book-rows.js'
import { hasEnded } from '../select/feed-state.js'
import { parseInput, type DecimalComma } from '../select/format.js'
import { closing } from '../select/position.js'
import { fillRow, type OwnFillRow } from '../select/fill-row.js'
import { ladderOf, middleOf, type LadderPlan, type NoLadderPlan } from '../select/ladder.js'
import { engineSide, opposite } from '../select/market-terms.js'
import { readOrZero, readSigned } from '../select/numbers.js'
import { orderRow, type OwnOrderRow } from '../select/order-row.js'
import {
  bestPrice,
  plannedOf,
  shareOfFree,
  type Free,
  type TicketPlan,
  type TicketInput,
  type TicketSetting,
  type NoTicketPlan,
} from '../select/planned.js'
import { futureRows, perpetualRow, type PositionRow } from '../select/position-row.js'
import { sameRows } from '../select/same-rows.js'
import type { TicketBook } from '../select/ticket.js'
import { isOpenOrder } from './own-state.js'
import { followQueue, type Places } from './queue.js'
import type { Terminal } from './terminal.js'

/** What the views draw, derived from the store. */
export interface Views {
  /** Step of prices that share a row of the book; 0n: each price its own. */
  readonly groupE18: Signal<bigint>
  readonly groups: ReadonlySignal<readonly bigint[]>
  readonly bids: ReadonlySignal<readonly BookRow[]>
  readonly asks: ReadonlySignal<readonly BookRow[]>
  readonly spread: ReadonlySignal<Spread | undefined>
  readonly typed: ReadonlySignal<TicketInput>
  /** Of a ladder there is none: `ladder` has its plans. */
  readonly planned: ReadonlySignal<TicketPlan | NoTicketPlan>
  readonly ladder: ReadonlySignal<LadderPlan | NoLadderPlan>
  /** What the account can trade with in the open market; undefined while it is not known. */
  readonly free: ReadonlySignal<Free | undefined>
  /** All that are open, of all markets, newest first. */
  readonly open: ReadonlySignal<readonly OwnOrderRow[]>
  readonly openHere: ReadonlySignal<readonly OwnOrderRow[]>
  /** Where open orders of the open market stand at their price, as of some seconds ago, by order id. */
  readonly queue: ReadonlySignal<Places>
  readonly ended: ReadonlySignal<readonly OwnOrderRow[]>
  readonly fills: ReadonlySignal<readonly OwnFillRow[]>
  readonly positions: ReadonlySignal<readonly PositionRow[]>
  /** So many per cent of what is free, or of the position where the ticket may only reduce, as a size in base; undefined where it is not known. */
  share(percent: bigint): bigint | undefined
  /** Whether the feed's numbers may be acted on. */
  readonly isLive: ReadonlySignal<boolean>
}

const BOOK_ROWS = 40
const EMPTY_BOOK: TicketBook = { bids: [], asks: [] }
/** How a reader of this browser writes one and a half. */
export const isDecimalComma: DecimalComma = () => (1.5).toLocaleString().includes(',')

export function createViews(terminal: Terminal): Views {
  const isLive = computed(() => ['live', 'late', 'halted'].includes(terminal.light.value))
  const own = ownViews(terminal)
  const queue = followQueue(terminal, own.openHere)
  const book = bookViews(terminal, own.openHere, queue)
  const free = computed(() => freeOf(terminal))
  const ticket = ticketViews(terminal, { isLive, free, openHere: own.openHere })
  const views = { isLive, free, queue, ...own, ...book, ...ticket }
  return { ...views, share: (percent) => shareFor(terminal, views, percent) }
}

function bookViews(
  terminal: Terminal,
  openHere: ReadonlySignal<readonly OwnOrderRow[]>,
  queue: ReadonlySignal<Places>,
) {
  const groupE18 = signal(0n)
  const groups = computed((): readonly bigint[] => {
    const decimals = terminal.market.value?.entry.value.ui_price_decimals ?? 2
    const unit = 10n ** BigInt(18 - decimals)
    return [0n, unit, unit * 10n, unit * 100n, unit * 1_000n, unit * 10_000n]
  })
  // Another market has other steps.
  let market = terminal.market.value?.name
  effect(() => {
    const now = terminal.market.value?.name
    if (now !== market) groupE18.value = 0n
    market = now
  })
  const own = computed(() => {
    const byPrice = new Map<bigint, OwnLevel>()
    for (const { id, record } of openHere.value) {
      const price = readOrZero(record.limit_price)
      const before = byPrice.get(price)
      const aheads = [before?.aheadE18, queue.value.get(id)?.aheadE18].filter(
        (each) => each !== undefined,
      )
      const [first] = aheads.sort((a, b) => (a < b ? -1 : 1))
      byPrice.set(price, {
        amountE18: (before?.amountE18 ?? 0n) + readOrZero(record.open_amount),
        ...(first !== undefined && { aheadE18: first }),
      })
    }
    return byPrice
  })
  const rowsOf = (side: 'buy' | 'sell'): ReadonlySignal<readonly BookRow[]> => {
    let before: readonly BookRow[] = []
    return computed(() => {
      const open = terminal.market.value
      const book = open?.book.value
      if (open === undefined || book === undefined) return []
      const options = { groupE18: groupE18.value, rows: BOOK_ROWS, own: own.value }
      before = sameRows(before, bookRows(open.terms, book, side, options), (row) => row.priceE18)
      return before
    })
  }
  const bids = rowsOf('buy')
  const asks = rowsOf('sell')
  return {
    groupE18,
    groups,
    bids,
    asks,
    spread: computed(() => spreadOf(bids.value[0], asks.value[0])),
  }
}

function ownViews(terminal: Terminal) {
  const rowOf = memoised(orderRow)
  const fillOf = memoised(fillRow)
  const all = computed(() => [...(terminal.own.value?.orders.value.values() ?? [])])
  const rows = (keep: (record: OrderRecord) => boolean, by: 'created_at' | 'updated_at') =>
    computed(() =>
      all.value
        .filter(keep)
        .sort((a, b) => b[by].localeCompare(a[by]))
        .flatMap((record) => rowOf(terminal.entryOf(record.market), record) ?? []),
    )
  const open = rows(isOpenOrder, 'created_at')
  return {
    open,
    openHere: computed(() =>
      open.value.filter(({ market }) => market === terminal.market.value?.name),
    ),
    ended: rows((record) => !isOpenOrder(record), 'updated_at'),
    fills: computed((): readonly OwnFillRow[] =>
      (terminal.own.value?.fills.value ?? []).flatMap(
        ({ market, leg }) => fillOf(terminal.entryOf(market), leg) ?? [],
      ),
    ),
    positions: computed((): readonly PositionRow[] => {
      const own = terminal.own.value
      if (own === undefined) return []
      const perpetuals = own.positions.value.flatMap(({ positions }) => positions)
      return [
        ...perpetuals.flatMap((record) => {
          const entry = terminal.entryOf(record.market)
          return entry === undefined ? [] : [perpetualRow(entry, record)]
        }),
        ...own.balances.value.flatMap((held) => futureRows(terminal.entryOf, held)),
      ]
    }),
  }
}

/** The row of a record is made once for the entry of its market: a record that has not changed keeps its row. */
function memoised<Source extends object, Row>(
  make: (entry: MarketEntry, source: Source) => Row,
): (entry: MarketEntry | undefined, source: Source) => Row | undefined {
  const made = new WeakMap<Source, { readonly entry: MarketEntry; readonly row: Row }>()
  return (entry, source) => {
    if (entry === undefined) return undefined
    const known = made.get(source)
    if (known?.entry === entry) return known.row
    const row = make(entry, source)
    made.set(source, { entry, row })
    return row
  }
}

function freeOf({ market, own, subaccount }: Terminal): Free | undefined {
  const open = market.value
  const id = subaccount.value
  const held = own.value?.balances.value.find((one) => one.subaccount_id === id)
  if (open === undefined || held === undefined) return undefined
  const { base_asset_symbol: base, quote_asset_symbol: quote } = open.entry.value
  const margin = held.margin.find((one) => one.market === open.name)
  return {
    baseE18: available(held, base),
    quoteE18: available(held, quote),
    marginE18: readSigned(margin?.free),
  }
}

const available = ({ tokens }: AccountBalances, symbol: string): bigint =>
  readOrZero(tokens.find(({ token }) => token === symbol)?.available)

function shareFor(
  terminal: Terminal,
  { free, typed, positions }: Pick<Views, 'free' | 'typed' | 'positions'>,
  percent: bigint,
): bigint | undefined {
  const market = terminal.market.value
  const known = free.value
  if (market === undefined) return undefined
  const { side, kind, price, reduceOnly } = typed.value
  const held = positions.value.find(
    (one) => one.market === market.name && one.subaccountId === terminal.subaccount.value,
  )
  if (reduceOnly && held !== undefined)
    return closing(held, percent, market.terms.stepE18)?.amountE18
  const read = (text: string): bigint | undefined => parseInput(text, isDecimalComma)
  const first = kind === 'limit' ? read(price) : undefined
  const { kind: chosen, last } = terminal.ticket.value
  const limit = chosen.value === 'ladder' ? middleOf(first, read(last.value)) : first
  const priceE18 = limit ?? bestPrice(market.terms, market.book.value ?? EMPTY_BOOK, side)
  if (known === undefined || priceE18 === undefined) return undefined
  const setting = { terms: market.terms, entry: market.entry.value }
  return shareOfFree(setting, known, { side, percent, priceE18 })
}

type TicketSources = Pick<Views, 'isLive' | 'free' | 'openHere'>

function ticketViews(terminal: Terminal, { isLive, free, openHere }: TicketSources) {
  const typed = computed((): TicketInput => {
    const { kind, side, price, size, unit, force, post, reduceOnly } = terminal.ticket.value
    const forced = { limit: force.value, market: 'IOC', ladder: 'GTC' } as const
    const inForce = forced[kind.value]
    return {
      kind: kind.value === 'market' ? 'market' : 'limit',
      side: side.value,
      price: price.value,
      size: size.value,
      unit: unit.value,
      reduceOnly: reduceOnly.value,
      guardBps: BigInt(terminal.prefs.prefs.value.guardBps),
      force: inForce,
      post: inForce === 'GTC' ? post.value : 'off',
    }
  })
  // The time passes each second, this changes once.
  const isEnded = computed(() => {
    const entry = terminal.market.value?.entry.value
    return entry !== undefined && hasEnded(entry, terminal.nowSec.value)
  })
  const setting = computed((): TicketSetting | undefined => {
    const open = terminal.market.value
    if (open === undefined) return undefined
    const side = engineSide(open.terms, typed.value.side)
    const own = openHere.value
      .filter(({ record }) => record.side === opposite(side) && record.open_amount !== '0')
      .map(({ record }) => readOrZero(record.limit_price))
      .sort((a, b) => (a < b ? -1 : 1))
    // Against the engine's buy the lowest own sale is the nearest; against its sale the highest bid.
    const ownOtherE18 = side === 'buy' ? own[0] : own.at(-1)
    const freeE18 = open.terms.isMargined ? undefined : givenOf(free.value, typed.value.side)
    return {
      entry: open.entry.value,
      terms: open.terms,
      isDecimalComma,
      book: isLive.value ? (open.book.value ?? EMPTY_BOOK) : EMPTY_BOOK,
      isLive: isLive.value,
      isEnded: isEnded.value,
      freeE18,
      ownOtherE18,
    }
  })
  const isLadder = (): boolean => terminal.ticket.value.kind.value === 'ladder'
  return {
    typed,
    planned: computed((): TicketPlan | NoTicketPlan =>
      setting.value === undefined || isLadder() ? 'no_book' : plannedOf(typed.value, setting.value),
    ),
    ladder: computed((): LadderPlan | NoLadderPlan => {
      const { last, count } = terminal.ticket.value
      if (setting.value === undefined || !isLadder()) return 'no_book'
      return ladderOf({ ...typed.value, last: last.value, count: count.value }, setting.value)
    }),
  }
}

const givenOf = (free: Free | undefined, side: 'buy' | 'sell'): bigint | undefined =>
  side === 'buy' ? free?.quoteE18 : free?.baseE18
