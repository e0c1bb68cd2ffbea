import { CANDLE_INTERVALS } from '../../../core/market-data/candle-series.js'
import type { Candle } from '../../../core/records/candle-record.js'
import type { Trade } from '../../../core/records/trade-record.js'
import type { PriceRow } from '../../../data/history/read-prices.js'
import type { Span, SpanReader } from '../../../data/history/read-span.js'

/** What a cell holds, by the kind of its column: a time in unix milliseconds, a decimal as an integer at 1e18. */
interface Cells {
  readonly text: string
  readonly time: number
  readonly integer: number
  readonly decimal: bigint
  readonly flag: boolean
}
export type ColumnKind = keyof Cells

type ColumnOf<Row, Kind extends ColumnKind> = Kind extends ColumnKind
  ? {
      readonly name: string
      readonly kind: Kind
      /** Undefined: the row has no such value. */
      readonly of: (row: Row) => Cells[Kind] | undefined
    }
  : never

/** One column of a file. */
export type Column<Row> = ColumnOf<Row, ColumnKind>

/** One file of a day: its name, its columns, and the rows of a market in their order, page by page. */
export interface DayTable<Row> {
  readonly name: 'trades' | 'candles' | 'marks' | 'funding'
  readonly columns: readonly Column<Row>[]
  readonly pages: (reader: SpanReader, market: string, span: Span) => Iterable<readonly Row[]>
}

/** What is done with each table, whatever its rows are. */
export type WithTable<Result> = <Row>(table: DayTable<Row>) => Result

type Made<Kind extends ColumnKind> = <Row>(
  name: string,
  of: (row: Row) => Cells[Kind] | undefined,
) => ColumnOf<Row, Kind>

const text: Made<'text'> = (name, of) => ({ name, kind: 'text', of })
const time: Made<'time'> = (name, of) => ({ name, kind: 'time', of })
const integer: Made<'integer'> = (name, of) => ({ name, kind: 'integer', of })
const decimal: Made<'decimal'> = (name, of) => ({ name, kind: 'decimal', of })

/** A row with its market. */
type Of<Value> = Value & { readonly market: string }

function* withMarket<Value extends object>(
  market: string,
  pages: Iterable<readonly Value[]>,
): Generator<readonly Of<Value>[]> {
  for (const page of pages) yield page.map((row) => ({ ...row, market }))
}

const market = text<Of<object>>('market', (row) => row.market)

const TRADES: DayTable<Of<Trade>> = {
  name: 'trades',
  columns: [
    market,
    integer('trade_id', ({ fill }) => fill.tradeId),
    time('created_at', ({ atMs }) => atMs),
    decimal('price', ({ fill }) => fill.price),
    decimal('size', ({ fill }) => fill.amount),
    text('aggressor_side', ({ fill }) => fill.takerSide),
    decimal('taker_fee', ({ fill }) => fill.takerFee),
    decimal('mark_price', ({ fill }) => fill.markPrice),
    text('taker_order_id', ({ fill }) => fill.takerOrderId),
    text('maker_order_id', ({ fill }) => fill.makerOrderId),
    text('tx_hash', ({ fill }) => fill.txHash),
    integer('block_number', ({ fill }) => Number(fill.blockNumber)),
    { name: 'reversed', kind: 'flag', of: ({ reversed }) => reversed === true },
  ],
  pages: (reader, of, span) => withMarket(of, reader.trades(of, span)),
}

const CANDLES: DayTable<Of<Candle & { readonly interval: string }>> = {
  name: 'candles',
  columns: [
    market,
    text('interval', ({ interval }) => interval),
    time('bucket_start', ({ startSec }) => startSec * 1_000),
    decimal('open', ({ open }) => open),
    decimal('high', ({ high }) => high),
    decimal('low', ({ low }) => low),
    decimal('close', ({ close }) => close),
    decimal('volume', ({ volume }) => volume),
    decimal('quote_volume', ({ quoteVolume }) => quoteVolume),
    integer('trade_count', ({ tradeCount }) => tradeCount),
  ],
  *pages(reader, of, span) {
    for (const interval of CANDLE_INTERVALS) {
      for (const page of withMarket(of, reader.candles(of, interval, span)))
        yield page.map((row) => ({ ...row, interval }))
    }
  },
}

const observed: readonly Column<Of<PriceRow>>[] = [
  market,
  time('observed_at', ({ observedSec }) => observedSec * 1_000),
  integer('block_number', ({ blockNumber }) => blockNumber),
  decimal('mark_price', ({ mark }) => mark),
  decimal('index_price', ({ index }) => index),
]

const MARKS: DayTable<Of<PriceRow>> = {
  name: 'marks',
  columns: observed,
  pages: (reader, of, span) => withMarket(of, reader.marks(of, span)),
}

const FUNDING: DayTable<Of<PriceRow>> = {
  name: 'funding',
  columns: [...observed, decimal('funding_rate_1h', ({ fundingRate }) => fundingRate)],
  pages: (reader, of, span) => withMarket(of, reader.fundingRates(of, span)),
}

/** Does the same with each table of a day, in order. */
export const withEachTable = <Result>(use: WithTable<Result>): Result[] => [
  use(TRADES),
  use(CANDLES),
  use(MARKS),
  use(FUNDING),
]
