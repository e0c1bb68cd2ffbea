import { Precise, type Order, type Trade } from 'ccxt'
import { VenuePro } from '../../../../ccxt/index.js'
import { createRestClient } from '../../../../client/index.js'
import { assert } from '../../../../core/assert.js'
import { eventually } from '../../../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../../../support/venue.js'
import { openSeries, openSeriesTraders } from '../series.js'

/** 10,000 USDC carry ten contracts; 100,000,000 cNGN pay any variation margin here. */
const SERIES_FUNDS = { usdc: 10_000_000_000n, cngn: 100_000_000_000_000n }

/** What is traded of a market, and where its quotes stand. */
export interface Desk {
  readonly symbol: string
  readonly type: string
  readonly amount: number
  readonly price: number
  /** Prices below and above it, where nothing meets. */
  readonly low: number
  readonly high: number
}

export interface CcxtWorld {
  readonly venue: TestVenue
  /** Of two owners, each with an account for every kind of market. */
  readonly maker: VenuePro
  readonly taker: VenuePro
  readonly desks: readonly [spot: Desk, perpetual: Desk, future: Desk]
  /** Methods of `has` that have answered. */
  readonly called: Set<string>
  stop(): Promise<void>
}

/** A venue with one market of each kind, and the class for two of its owners. */
export async function openCcxtWorld(): Promise<CcxtWorld> {
  const venue = await startVenue({ blockTime: 1, feeder: true, markets: SPOT_AND_PERP })
  const series = await openSeries(venue, 2)
  await openSeriesTraders(venue, series, SERIES_FUNDS)
  const rest = createRestClient(venue.gatewayUrl)
  await eventually(async () => {
    const future = (await rest.markets()).find(({ market }) => market === series.market)?.future
    return future?.band_status === 'ok'
  }, 60_000)
  const called = new Set<string>()
  const [maker, taker] = [0, 1].map((index) => exchangeOf(venue, index, called))
  assert(maker !== undefined && taker !== undefined, 'two of them')
  const symbols = Object.keys(await taker.loadMarkets())
  const dated = symbols.find((symbol) => symbol.startsWith('USDC/CNGN:CNGN-'))
  assert(dated !== undefined, `a future among ${symbols.join()}`)
  await maker.loadMarkets()
  const ofCngn = { amount: 15_000, price: 0.00065, low: 0.0006, high: 0.0007 }
  return {
    venue,
    maker,
    taker,
    called,
    desks: [
      { symbol: 'CNGN/USDC', type: 'spot', ...ofCngn },
      { symbol: 'CNGN/USDC:USDC', type: 'swap', ...ofCngn },
      { symbol: dated, type: 'future', amount: 1_000, price: 1_535, low: 1_500, high: 1_570 },
    ],
    async stop() {
      await Promise.all([maker.close(), taker.close()])
      await venue.stop()
    },
  }
}

export function exchangeOf(venue: TestVenue, index: number, called = new Set<string>()): VenuePro {
  const account = venue.devnet.accounts[index]
  assert(account !== undefined, `no account ${index}`)
  const urls = { api: { rest: venue.gatewayUrl } }
  const exchange = new VenuePro({ privateKey: account.private_key, urls })
  noteCalls(exchange, called)
  return exchange
}

type Method = (...args: unknown[]) => unknown

/** Notes each method of `has` that has answered. */
function noteCalls(exchange: VenuePro, called: Set<string>): void {
  const methods = exchange as unknown as Record<string, Method>
  for (const name of Object.keys(exchange.has)) {
    const method = methods[name]?.bind(exchange)
    if (method === undefined) continue
    methods[name] = async (...args) => {
      const answer = await method(...args)
      called.add(name)
      return answer
    }
  }
}

/** The order once nothing of it can change any more. */
export async function ended(exchange: VenuePro, id: string): Promise<Order> {
  await eventually(async () => (await exchange.fetchOrder(id)).status !== 'open', 60_000)
  return exchange.fetchOrder(id)
}

/** CCXT's types let an order lack its id; one of this class has it. */
export const idOf = ({ id }: Pick<Order, 'id'>): string => id ?? ''

export interface Deal {
  readonly maker: Order
  readonly taker: Order
}

/** An order of the maker that the taker's meets whole, both ended. */
export async function deal(
  world: CcxtWorld,
  { symbol, amount, price }: Pick<Desk, 'symbol' | 'amount' | 'price'>,
  side: 'buy' | 'sell' = 'buy',
): Promise<Deal> {
  const { maker, taker } = world
  const other = side === 'buy' ? 'sell' : 'buy'
  const resting = await maker.createOrder(symbol, 'limit', other, amount, price)
  const coming = await taker.createOrder(symbol, 'limit', side, amount, price)
  return {
    maker: await ended(maker, idOf(resting)),
    taker: await ended(taker, idOf(coming)),
  }
}

/** The exact sum of texts. */
export const sumOf = (texts: readonly (string | undefined)[]): string =>
  texts.reduce<string>((sum, text) => Precise.stringAdd(sum, text ?? '0') ?? '0', '0')

/** What a trade has brought of the quote, exactly, without its fee. */
export function proceedsOf({ side, info }: Trade): string {
  const { price, size } = info as { readonly price: string; readonly size: string }
  const cost = Precise.stringMul(price, size) ?? '0'
  return side === 'sell' ? cost : (Precise.stringNeg(cost) ?? '0')
}
