import { signal, type ReadonlySignal, type Signal } from '@preact/signals'
import {
  followLevels,
  type CandleInterval,
  type CandleState,
  type LevelRecord,
  type LocalLevels,
  type MarketEntry,
  type RestClient,
  type SocketClient,
  type StatusState,
  type TickerState,
  type TradeDelta,
  type TradeRecord,
} from '../../client/index.js'
import { parseDecimal } from '../../core/decimal.js'
import { marketTerms, type MarketArithmetic } from '../select/market-terms.js'
import type { TicketBook } from '../select/ticket.js'
import type { BookLevel } from '../select/walk-book.js'
import type { Frames } from './frames.js'
import { soon } from './soon.js'

/** A trade of the tape; its transaction is read a moment later. */
export type TapeTrade = Pick<
  TradeRecord,
  'trade_id' | 'price' | 'size' | 'aggressor_side' | 'created_at'
> & { readonly tx_hash?: string }

/** What everyone sees of one market. A new one is made for each market that is opened: what comes late belongs to the one before. */
export interface MarketState {
  readonly name: string
  readonly terms: MarketArithmetic
  readonly entry: Signal<MarketEntry>
  /** Undefined before the first snapshot. */
  readonly book: ReadonlySignal<TicketBook | undefined>
  /** The connection whose snapshot the ticker is of; 0 before the first. */
  readonly connection: ReadonlySignal<number>
  /** The venue's levels did not fit their checksum, and no snapshot has come since. */
  readonly isBookWrong: ReadonlySignal<boolean>
  /** Newest first. */
  readonly trades: ReadonlySignal<readonly TapeTrade[]>
  readonly ticker: ReadonlySignal<TickerState | undefined>
  readonly status: ReadonlySignal<StatusState | undefined>
  readonly interval: ReadonlySignal<CandleInterval>
  /** By time. */
  readonly candles: ReadonlySignal<readonly CandleState[]>
  chooseInterval(interval: CandleInterval): void
  close(): void
}

export interface MarketStateParts {
  readonly entry: MarketEntry
  readonly socket: Pick<SocketClient, 'subscribe' | 'connections'>
  readonly venue: Pick<RestClient, 'trades'>
  readonly frames: Frames
  /** Shown first; `5m` by default. */
  readonly interval?: CandleInterval
}

const DEPTH = 100
const TRADES_KEPT = 50
/** A page that is open for a week draws no more bars than a screen can show. */
const CANDLES_KEPT = 1_500
/** Enough to find the transactions of trades that were just seen. */
const NEW_TRADES = 20

/** Follows a market until it is closed. Throws BadEntry. */
export function openMarket({
  entry: first,
  socket,
  venue,
  frames,
  interval: firstInterval = '5m',
}: MarketStateParts): MarketState {
  const name = first.market
  const terms = marketTerms(first)
  const entry = signal(first)
  const isBookWrong = signal(false)
  const book = signal<TicketBook | undefined>(undefined)
  const connection = signal(0)
  const ticker = signal<TickerState | undefined>(undefined)
  const status = signal<StatusState | undefined>(undefined)
  let isClosed = false
  const due = (flush: () => void): void => frames.due(() => isClosed || flush())
  let levels: LocalLevels | undefined
  const flushBook = (): void => {
    if (levels !== undefined) book.value = bookOf(levels)
  }
  const dueBook = (): void => due(flushBook)
  let newest: TickerState | undefined
  const flushTicker = (): void => void (ticker.value = newest)
  const ends = [
    followLevels(socket, name, {
      depth: DEPTH,
      onChange(newest) {
        levels = newest
        isBookWrong.value = false
        dueBook()
      },
      onMismatch: () => (isBookWrong.value = true),
    }),
    socket.subscribe('ticker', name, {
      onSnapshot(state) {
        connection.value = socket.connections()
        newest = ticker.value = state
      },
      onUpdate(state) {
        newest = state
        due(flushTicker)
      },
    }),
    socket.subscribe('status', name, {
      onSnapshot: (state) => (status.value = state),
      onUpdate: (state) => (status.value = state),
    }),
  ]
  const tape = followTrades({ name, socket, venue, due })
  const bars = followCandles({ name, socket, due }, firstInterval)
  return {
    name,
    terms,
    entry,
    book,
    connection,
    isBookWrong,
    ticker,
    status,
    trades: tape.trades,
    interval: bars.interval,
    candles: bars.candles,
    chooseInterval: bars.choose,
    close() {
      isClosed = true
      for (const end of [...ends, tape.end, bars.end]) end()
    },
  }
}

interface FollowParts extends Pick<MarketStateParts, 'socket'> {
  readonly name: string
  readonly due: (flush: () => void) => void
}

function followTrades({ name, socket, venue, due }: FollowParts & Pick<MarketStateParts, 'venue'>) {
  const trades = signal<readonly TapeTrade[]>([])
  let kept: readonly TapeTrade[] = []
  const flush = (): void => void (trades.value = kept)
  const take = (newer: readonly (TradeRecord | TradeDelta)[], isAll = false): void => {
    const ids = new Set(newer.map(({ trade_id }) => trade_id))
    const older = isAll ? [] : kept.filter(({ trade_id }) => !ids.has(trade_id))
    kept = [...newer, ...older].slice(0, TRADES_KEPT)
    due(flush)
  }
  const readHashes = soon(async () => {
    const page = await venue.trades(name, { limit: NEW_TRADES })
    const hashes = new Map(page.trades.map(({ trade_id, tx_hash }) => [trade_id, tx_hash]))
    kept = kept.map((trade) => {
      const hash = trade.tx_hash ?? hashes.get(trade.trade_id)
      return hash === trade.tx_hash || hash === undefined ? trade : { ...trade, tx_hash: hash }
    })
    due(flush)
  })
  const end = socket.subscribe('trades', name, {
    onSnapshot: (snapshot) => take(snapshot, true),
    onUpdate(trade) {
      take([trade])
      readHashes()
    },
  })
  return { trades, end }
}

function followCandles({ name, socket, due }: FollowParts, first: CandleInterval) {
  const interval = signal(first)
  const candles = signal<readonly CandleState[]>([])
  const byStart = new Map<string, CandleState>()
  const flush = (): void => {
    const all = [...byStart.values()].sort((a, b) => a.bucket_start.localeCompare(b.bucket_start))
    for (const { bucket_start } of all.slice(0, -CANDLES_KEPT)) byStart.delete(bucket_start)
    candles.value = all.slice(-CANDLES_KEPT)
  }
  const take = (changed: readonly CandleState[]): void => {
    for (const candle of changed) {
      // A candle whose every trade was reversed is none.
      if (candle.trade_count === 0) byStart.delete(candle.bucket_start)
      else byStart.set(candle.bucket_start, candle)
    }
    due(flush)
  }
  const follow = (wanted: CandleInterval): (() => void) =>
    socket.subscribe(
      'candles',
      name,
      {
        onSnapshot(snapshot) {
          byStart.clear()
          take(snapshot)
        },
        onUpdate: (candle) => take([candle]),
      },
      { interval: wanted },
    )
  let end = follow(first)
  return {
    interval,
    candles,
    end: () => end(),
    choose: (wanted: CandleInterval): void => {
      if (wanted === interval.value) return
      end()
      byStart.clear()
      interval.value = wanted
      end = follow(wanted)
    },
  }
}

const read = new WeakMap<LevelRecord, BookLevel>()

/** A level that has not changed is the same object as before, and is read once. */
function levelOf(record: LevelRecord): BookLevel {
  const known = read.get(record)
  if (known !== undefined) return known
  const { price, size } = record
  const level = {
    priceE18: parseDecimal(price, 18) ?? 0n,
    amountE18: parseDecimal(size, 18) ?? 0n,
  }
  read.set(record, level)
  return level
}

const bookOf = (levels: LocalLevels): TicketBook => ({
  bids: levels.levels('buy').map(levelOf),
  asks: levels.levels('sell').map(levelOf),
})
