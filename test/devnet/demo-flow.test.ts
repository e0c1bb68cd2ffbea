import { expect } from 'chai'
import { OutcomeUnknown, type MarketEntry, type OrderBody } from '../../client/index.js'
import { hideFuture } from '../../core/contracts/future-facts.js'
import { fillBand } from '../../core/contracts/future-prices.js'
import { hidePerpetual } from '../../core/contracts/perpetual-facts.js'
import { priceE18 } from '../../core/money.js'
import { marketEntry } from '../../core/records/market-entry.js'
import {
  createFlow,
  FLOW_MOST,
  nextPauseMs,
  openFlowCount,
  seededRandom,
  type FlowMarket,
} from '../../devnet/demo-maker/flow.js'
import { walkPpm, WALK_MAX_PPM } from '../../devnet/demo-maker/price-walk.js'
import { PRICINGS } from '../../devnet/demo-maker/pricings.js'
import { quoteAt, type Quote } from '../../devnet/demo-maker/quotes.js'
import { followMarkets, keepQuoted } from '../../devnet/demo-maker/venue-markets.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { futureFacts } from '../support/future.js'
import { START_MS } from '../support/matching.js'
import { e18, perpetualFacts } from '../support/perpetual.js'
import { tempDir } from '../support/temp-dir.js'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

describe('the demo maker’s prices', () => {
  it('walk within bounds, by little from second to second, and the same for the same seed', () => {
    let before = walkPpm(7, START_MS)
    let [lowest, highest] = [before, before]
    for (let at = START_MS; at < START_MS + HOUR_MS; at += SECOND_MS) {
      const ppm = walkPpm(7, at)
      expect(ppm).to.equal(walkPpm(7, at))
      const step = ppm - before
      expect(step < 100n && step > -100n, `${step} ppm in a second`).to.equal(true)
      if (ppm < lowest) lowest = ppm
      if (ppm > highest) highest = ppm
      before = ppm
    }
    expect(lowest >= -WALK_MAX_PPM && highest <= WALK_MAX_PPM).to.equal(true)
    expect(highest - lowest > 1_000n, `${highest - lowest} ppm in an hour`).to.equal(true)
    const starts = [1, 2, 3, 4].map((seed) => walkPpm(seed, START_MS))
    expect(new Set(starts).size).to.equal(4)
  })

  it('leave their anchor to both sides', () => {
    const seen = Array.from({ length: 400 }, (_, hour) => walkPpm(1, START_MS + hour * HOUR_MS))
    expect(seen.filter((ppm) => ppm > 0n)).to.have.length.within(120, 280)
  })
})

describe('the markets that the demo maker quotes', () => {
  const at = { blockNumber: 1n, blockTimeSec: START_MS / 1000, readAtMs: START_MS }
  const spot = marketEntry(aMarket())
  const perp = (facts: Parameters<typeof perpetualFacts>[0] = {}) =>
    marketEntry(aPerp(), {
      observed: { ...at, facts: hidePerpetual(perpetualFacts(facts)) },
    })
  const expirySec = START_MS / 1000 + 30 * 86_400
  const series = aFuture({ subId: BigInt(expirySec) })
  const future = (facts: Parameters<typeof futureFacts>[0] = {}) =>
    marketEntry(series, {
      observed: { ...at, facts: hideFuture(futureFacts({ expirySec, ...facts })) },
    })
  const later = START_MS + 3_000
  const around = (market: MarketEntry, all: readonly MarketEntry[] = [market]) => {
    const markets = followMarkets(1)
    markets.show(all, START_MS)
    return markets.around(market.market, later)
  }
  const near = (price: bigint | undefined, anchor: bigint) => {
    const distance = (price ?? 0n) > anchor ? (price ?? 0n) - anchor : anchor - (price ?? 0n)
    expect(distance * 1_000_000n <= anchor * WALK_MAX_PPM + 1_000_000n, `${price}`).to.equal(true)
  }

  it('are all listed ones of a kind with prices, but not before they were open for a while', () => {
    const markets = followMarkets(1)
    const listing = { ...future(), contract_type: 'deliverable_fx_future', accepts_orders: false }
    markets.show([spot, perp(), future(), listing as MarketEntry], START_MS)
    expect(markets.quotable().map(({ market }) => market.market)).to.deep.equal([
      ...['cNGN-USDC', 'cNGN-PERP', 'USDC-cNGN-30NOV26'],
    ])
    expect(markets.around('cNGN-USDC', START_MS)).to.equal(undefined)
    expect(markets.around('cNGN-USDC', later)).to.have.property('price')
    markets.show([{ ...spot, trading_status: 'paused' }], later)
    expect(markets.around('cNGN-USDC', later)).to.equal(undefined)
    markets.show([spot], later)
    expect(markets.around('cNGN-USDC', later)).to.equal(undefined)
    expect(markets.around('cNGN-PERP', later)).to.equal(undefined)
  })

  it('change with the list: a series that ends is left, the next one is begun with, once', async () => {
    const [opened, stopped]: [string[], string[]] = [[], []]
    const quoted = keepQuoted({
      open: ({ market: { market } }) => {
        opened.push(market)
        if (market === 'cNGN-PERP') return undefined
        return { flow: () => undefined, stop: () => Promise.resolve(void stopped.push(market)) }
      },
      onStopped: (market, stopping) => void stopping.then(() => stopped.push(`${market} told`)),
    })
    const next = { ...future(), market: 'USDC-cNGN-31DEC26' }
    const listed = (...all: MarketEntry[]) =>
      all.map((market) => ({ market, pricing: PRICINGS.future }))
    quoted.update(listed(spot, future()))
    quoted.update(listed(spot, future(), next))
    expect(quoted.all()).to.have.length(3)
    quoted.update(listed(spot, next, perp()))
    expect(quoted.all()).to.have.length(2)
    await Promise.resolve()
    const series = 'USDC-cNGN-30NOV26'
    expect(stopped).to.deep.equal([series, `${series} told`])
    expect(opened).to.deep.equal(['cNGN-USDC', series, 'USDC-cNGN-31DEC26', 'cNGN-PERP'])
  })

  it('have prices near their mark, and spot near the index of another market', () => {
    const e10 = (text: string) => e18(text) / 10n ** 8n
    near(around(perp({ mark: priceE18(e18('0.0007')) }))?.price, e10('0.0007'))
    near(around(future({ mark: priceE18(e18('1510')) }))?.price, 151_000n)
    near(around(spot)?.price, 153_846n)
    near(around(spot, [spot, future({ index: priceE18(e18('1800')) })])?.price, 180_000n)
    near(around(spot, [spot, perp({ index: priceE18(e18('0.0005')) })])?.price, 200_000n)
  })

  it('move together: where USDC costs more, the perpetual’s cNGN costs less', () => {
    const ppm = walkPpm(1, later)
    expect(ppm === 0n).to.equal(false)
    const isAbove = (price: bigint | undefined, anchor: bigint) => (price ?? 0n) > anchor
    expect(isAbove(around(future())?.price, 150_000n)).to.equal(ppm > 0n)
    expect(isAbove(around(perp())?.price, 10n ** 10n)).to.equal(ppm < 0n)
  })

  it('are left alone while they would refuse orders', () => {
    for (const facts of [{ paused: true }, { pricesStale: true }])
      expect(around(perp(facts)), JSON.stringify(facts)).to.equal(undefined)
    for (const facts of [{ paused: true }, { indexStale: true }])
      expect(around(future(facts)), JSON.stringify(facts)).to.equal(undefined)
    expect(around(marketEntry(series))).to.equal(undefined)
    expect(around(marketEntry(aPerp()))).to.equal(undefined)
    const markets = followMarkets(1)
    const beforeEndMs = (expirySec - 3_600) * 1_000 - 60_000
    markets.show([future()], beforeEndMs - HOUR_MS)
    expect(markets.around('USDC-cNGN-30NOV26', beforeEndMs - HOUR_MS + 3_000)).to.have.property(
      'price',
    )
    expect(markets.around('USDC-cNGN-30NOV26', beforeEndMs)).to.equal(undefined)
  })

  it('are quoted inside of their band, also where the mark is far from the index', () => {
    for (const mark of ['1500', '1640', '1900', '1200']) {
      const index = priceE18(e18('1500'))
      const shown = around(future({ index, mark: priceE18(e18(mark)) }))
      const band = fillBand(index, expirySec, START_MS / 1000)
      const prices = (['buy', 'sell'] as const).flatMap((side) =>
        [0, 1, 2, 3, 4].flatMap((level) =>
          shown === undefined ? [] : (quoteAt(PRICINGS.future, shown, side, level) ?? []),
        ),
      )
      expect(prices, mark).to.have.length.above(4)
      for (const { priceUnits } of prices) {
        const price = priceUnits * 10n ** 16n
        expect(price > band.low && price < band.high, `${mark}: ${price}`).to.equal(true)
      }
    }
  })
})

describe('the demo maker’s trades with itself', () => {
  /** A market with the quotes of a maker; keeps what is sent. */
  function marketOf(kind: keyof typeof PRICINGS, price: bigint) {
    const grid = PRICINGS[kind]
    const around = { price }
    const sent: Quote[] = []
    const quotes = (['buy', 'sell'] as const).flatMap((side) =>
      [0, 1].flatMap((level) => quoteAt(grid, around, side, level) ?? []),
    )
    const market: FlowMarket = {
      market: kind,
      grid,
      around: () => around,
      quotes: () => quotes,
      taker: {
        sign: (quote) => Promise.resolve(quote as unknown as OrderBody),
        place: (body) => {
          sent.push(body as unknown as Quote)
          return Promise.resolve(true)
        },
      },
    }
    return { market, sent, quotes, grid }
  }

  for (const [kind, price] of [
    ['spot', 153_846n],
    ['perpetual', 6_500_000n],
    ['future', 153_800n],
  ] as const) {
    it(`take part of the best quote of either side: ${kind}`, async () => {
      const { market, sent, quotes, grid } = marketOf(kind, price)
      const takeQuote = createFlow(seededRandom(3))
      for (let order = 0; order < 60; order += 1) expect(await takeQuote(market)).to.equal(true)
      for (const { side, priceUnits, size } of sent) {
        const [best, second] = quotes.filter((quote) => quote.side !== side)
        const isPast = (quote?: Quote) =>
          side === 'buy'
            ? priceUnits >= (quote?.priceUnits ?? 0n)
            : priceUnits <= (quote?.priceUnits ?? 0n)
        expect([isPast(best), isPast(second)]).to.deep.equal([true, false])
        expect(BigInt(size) % grid.lot).to.equal(0n)
        expect(BigInt(size) > 0n && BigInt(size) < grid.firstSize).to.equal(true)
      }
      expect(sent.filter(({ side }) => side === 'buy')).to.have.length.within(15, 45)
      expect(new Set(sent.map(({ size }) => size)).size).to.be.above(1)
    })
  }

  it('need a quote and a price', async () => {
    const { market, sent } = marketOf('spot', 153_846n)
    const takeQuote = createFlow(seededRandom(3))
    expect(await takeQuote({ ...market, quotes: () => [] })).to.equal(false)
    expect(await takeQuote({ ...market, around: () => undefined })).to.equal(false)
    expect(sent).to.deep.equal([])
    const lost = { ...market.taker, place: () => Promise.reject(new OutcomeUnknown('down')) }
    const outcome = await takeQuote({ ...market, taker: lost }).catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(OutcomeUnknown)
  })

  it('give each of three markets a candle within a minute, get rarer, and end', () => {
    const random = seededRandom(1)
    let [atMs, orders] = [0, 0]
    const perDay: number[] = []
    for (let made = 0; made < FLOW_MOST; made += 1) {
      atMs += nextPauseMs(made, random) ?? 0
      orders += atMs <= 60_000 ? 1 : 0
      const day = Math.floor(atMs / (24 * HOUR_MS))
      perDay[day] = (perDay[day] ?? 0) + 1
    }
    expect(orders).to.be.at.least(6)
    expect(perDay[0]).to.be.below(2_500)
    expect(perDay.at(-2)).to.be.below(700)
    expect(nextPauseMs(FLOW_MOST, random)).to.equal(undefined)
  })

  it('are counted through restarts', async () => {
    const dir = tempDir()
    try {
      const count = openFlowCount(dir.path)
      expect(count.made).to.equal(0)
      await count.add()
      await count.add()
      expect([count.made, openFlowCount(dir.path).made]).to.deep.equal([2, 2])
    } finally {
      dir.remove()
    }
  })
})
