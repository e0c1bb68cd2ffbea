import { expect } from 'chai'
import fc from 'fast-check'
import type {
  AccountBalances,
  OrderRecord,
  PositionRecord,
  TickerState,
} from '../../../client/index.js'
import { parseDecimal } from '../../../core/decimal.js'
import { E18 } from '../../../core/money.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { bookRows } from '../../../web/select/book-rows.js'
import { chartLines, chartWords } from '../../../web/select/chart-lines.js'
import { closePlan } from '../../../web/select/close-plan.js'
import { csvOf } from '../../../core/csv.js'
import { areaPath, depthCurve } from '../../../web/select/depth-curve.js'
import { feedLight, haltOf } from '../../../web/select/feed-state.js'
import { noDecimalComma } from '../../../web/select/format.js'
import { freeWords } from '../../../web/select/free-words.js'
import { headerFacts, lastPrice } from '../../../web/select/header-facts.js'
import { linkOf, marketOf } from '../../../web/select/link.js'
import { engineSide, marketTerms } from '../../../web/select/market-terms.js'
import { leastText, nearestText } from '../../../web/select/nearest-text.js'
import { paneSize, paneStep } from '../../../web/select/pane-size.js'
import { plannedOf, shareOfFree } from '../../../web/select/planned.js'
import { futureRows, perpetualRow } from '../../../web/select/position-row.js'
import { priceText } from '../../../web/select/price-text.js'
import { sameRecords, sameRows } from '../../../web/select/same-rows.js'
import { limitOf } from '../../../web/select/ticket.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { runs } from '../../support/property-runs.js'
import { TYPED } from '../typed-ticket.js'

const ENTRIES = [aMarket(), aPerp(), aFuture()].map((market) => marketEntry(market))
const [SPOT, PERP, FUTURE] = ENTRIES as [
  (typeof ENTRIES)[0],
  (typeof ENTRIES)[0],
  (typeof ENTRIES)[0],
]

const read = (text: string): bigint => parseDecimal(text, 18) ?? 0n
/** On the spot market, bids for cNGN are what a trader buys USDC from. */
const BOOK = {
  bids: [{ priceE18: read('0.000625'), amountE18: read('160000') }],
  asks: [{ priceE18: read('0.00065'), amountE18: read('160000') }],
}
const SETTING = {
  entry: SPOT,
  terms: marketTerms(SPOT),
  book: BOOK,
  isLive: true,
  isDecimalComma: noDecimalComma,
}

describe('web/select: a click on a level', () => {
  it('fills in a price that the ticket turns into exactly that level', () => {
    for (const entry of ENTRIES) {
      const terms = marketTerms(entry)
      fc.assert(
        fc.property(
          fc.bigInt(1n, 10n ** 6n),
          fc.constantFrom('buy' as const, 'sell' as const),
          (ticks, side) => {
            const price = ticks * terms.tickE18
            const engine = engineSide(terms, side)
            const text = priceText(terms, engine, price, entry.ui_price_decimals)
            expect(limitOf(terms, engine, read(text))).to.equal(price)
          },
        ),
        { numRuns: runs(100) },
      )
    }
  })
})

describe('web/select: what a ticket plans', () => {
  it('counts a size in either unit', () => {
    const base = plannedOf(TYPED, SETTING)
    const quote = plannedOf({ ...TYPED, size: '16000', unit: 'quote' }, SETTING)
    if (typeof base === 'string' || typeof quote === 'string') throw new Error('nothing is planned')
    expect(quote.plan.amountE18).to.equal(base.plan.amountE18)
  })

  it('says what is missing', () => {
    expect(plannedOf({ ...TYPED, price: '' }, SETTING)).to.equal('no_price')
    expect(plannedOf({ ...TYPED, price: 'x' }, SETTING)).to.equal('bad_price')
    expect(plannedOf({ ...TYPED, size: '' }, SETTING)).to.equal('no_size')
    expect(plannedOf({ ...TYPED, size: '-1' }, SETTING)).to.equal('bad_size')
    const empty = { ...SETTING, book: { bids: [], asks: [] } }
    expect(plannedOf({ ...TYPED, kind: 'market' }, empty)).to.equal('no_book')
    const lost = { ...SETTING, isLive: false }
    expect(plannedOf({ ...TYPED, kind: 'market' }, lost)).to.equal('no_live_book')
  })

  it('takes a share of what is free that the free amount pays for', () => {
    const free = { baseE18: read('100'), quoteE18: read('160000'), marginE18: undefined }
    const share = (side: 'buy' | 'sell', percent: bigint) =>
      shareOfFree(SETTING, free, { side, percent, priceE18: read('1600') })
    expect(share('buy', 100n)).to.equal(read('99.4'))
    expect(share('buy', 50n)).to.equal(read('49.7'))
    expect(share('sell', 100n)).to.equal(read('99.4'))
    const all = { ...TYPED, size: '99.4' }
    const planned = plannedOf(all, { ...SETTING, freeE18: free.quoteE18 })
    expect(
      typeof planned === 'string' ? planned : planned.guards.map(({ code }) => code),
    ).not.to.include('insufficient_balance')
  })

  it('knows no share where the margin is not known', () => {
    const setting = { entry: PERP, terms: marketTerms(PERP) }
    const free = { baseE18: 0n, quoteE18: 0n, marginE18: undefined }
    const asked = { side: 'buy', percent: 50n, priceE18: read('0.0006') } as const
    expect(shareOfFree(setting, free, asked)).to.equal(undefined)
  })

  it('says what is free of what the side gives', () => {
    const free = { baseE18: read('100.999'), quoteE18: read('5'), marginE18: read('7') }
    expect(freeWords(SPOT, SETTING.terms, free, 'sell')).to.equal('100.99 USDC')
    expect(freeWords(SPOT, SETTING.terms, free, 'buy')).to.equal('5.00 cNGN')
    expect(freeWords(PERP, marketTerms(PERP), free, 'buy')).to.equal('7.00 USDC of margin')
    expect(freeWords(SPOT, SETTING.terms, undefined, 'buy')).to.equal(undefined)
  })

  it('offers the nearest value that passes', () => {
    const planned = plannedOf({ ...TYPED, size: '1000' }, { ...SETTING, freeE18: read('16000') })
    if (typeof planned === 'string') throw new Error(planned)
    const guard = planned.guards.find(({ code }) => code === 'insufficient_balance')
    if (guard === undefined) throw new Error('nothing is in the way')
    const near = nearestText(SPOT, SETTING.terms, planned.plan, guard)
    expect(near?.field).to.equal('size')
    const again = plannedOf(
      { ...TYPED, size: near?.text ?? '' },
      { ...SETTING, freeE18: read('16000') },
    )
    expect(typeof again === 'string' ? again : again.guards.map(({ code }) => code)).not.to.include(
      'insufficient_balance',
    )
  })

  it('offers the tick before an own order that the ticket would meet', () => {
    const own = { ...SETTING, ownOtherE18: read('0.000625') }
    const met = (price: string) => plannedOf({ ...TYPED, price }, own)
    const codes = (planned: ReturnType<typeof met>) =>
      typeof planned === 'string' ? [planned] : planned.guards.map(({ code }) => code)
    const planned = met('1600')
    if (typeof planned === 'string') throw new Error(planned)
    const guard = planned.guards.find(({ code }) => code === 'own_order_met')
    if (guard === undefined) throw new Error('nothing is in the way')
    const near = nearestText(SPOT, SETTING.terms, planned.plan, guard)
    expect(near?.field).to.equal('price')
    expect(codes(met(near?.text ?? ''))).not.to.include('own_order_met')
  })

  it('shows what liquidation is near, or that it is due, or that there is none', () => {
    const position = (status: string, price: string): PositionRecord =>
      ({
        market: PERP.market,
        engine_position: '50000',
        entry_price: '0.0006',
        liquidation_status: status,
        liquidation_price: price,
        liquidation_price_ui: '0.9',
      }) as PositionRecord
    const shown = (status: string, price = ''): string =>
      perpetualRow(PERP, position(status, price)).liquidation
    expect(shown('ok', '0.0003')).to.equal('0.00030000')
    expect([shown('due'), shown('none'), shown('stale')]).to.deep.equal(['due now', 'none', '–'])
    const held = {
      subaccount_id: '7',
      margin: [
        {
          market: FUTURE.market,
          position: '-1000',
          liquidation_status: 'ok',
          liquidation_price: '1600',
        },
      ],
    } as unknown as AccountBalances
    const [row] = futureRows(() => FUTURE, held)
    expect(row).to.include({ side: 'short', worth: '1,000 USDC', liquidation: '1,600.0000' })
  })

  it('closes a share of a position and never more, and turns it over by twice its size', () => {
    const market = { entry: PERP, terms: marketTerms(PERP) }
    const asked = { book: BOOK, guardBps: 100n }
    const close = closePlan(market, { sizeE18: read('1000') }, { ...asked, how: 100 })
    expect([close.typed.side, close.typed.reduceOnly]).to.deep.equal(['sell', true])
    expect(close.typed.size).to.equal('1000')
    expect(typeof close.planned === 'string' ? 0n : close.planned.plan.amountE18).to.equal(
      read('1000'),
    )
    const reverse = closePlan(market, { sizeE18: -read('1000') }, { ...asked, how: 'reverse' })
    expect([reverse.typed.side, reverse.typed.reduceOnly]).to.deep.equal(['buy', false])
    expect(typeof reverse.planned === 'string' ? 0n : reverse.planned.plan.amountE18).to.equal(
      read('2000'),
    )
  })
})

describe('web/select: what is shown', () => {
  it('keeps a row that has not changed as the same object', () => {
    const rows = () => [
      { id: 1, a: 'x' },
      { id: 2, a: 'y' },
    ]
    const before = rows()
    expect(sameRows(before, rows(), ({ id }) => id)).to.equal(before)
    const [first, second] = sameRows(
      before,
      [
        { id: 1, a: 'x' },
        { id: 2, a: 'z' },
      ],
      ({ id }) => id,
    )
    expect(first).to.equal(before[0])
    expect(second).not.to.equal(before[1])
  })

  it('keeps a record that was read again as the same object, however deep it is', () => {
    const before = [{ name: 'A', perp: { rate: '1' } }, { name: 'B' }]
    expect(sameRecords(before, structuredClone(before))).to.equal(before)
    const changed = [{ name: 'A', perp: { rate: '2' } }, { name: 'B' }]
    const now = sameRecords<{ readonly name: string }>(before, changed)
    expect(now[0]).to.equal(changed[0])
    expect(now[1]).to.equal(before[1])
  })

  it('looks live only while it is', () => {
    const live = { isOpen: true, isCurrent: true, quietMs: 0, halt: undefined }
    expect(feedLight(live)).to.equal('live')
    expect(feedLight({ ...live, quietMs: 3_000 })).to.equal('late')
    expect(feedLight({ ...live, isOpen: false, halt: 'paused' })).to.equal('lost')
    expect(feedLight({ ...live, isCurrent: false })).to.equal('lost')
    expect(feedLight({ ...live, halt: 'paused' })).to.equal('halted')
  })

  it('says why a market does not trade, and that a series has ended', () => {
    expect(haltOf(SPOT, undefined, 0)).to.equal(undefined)
    const paused = { trading_status: 'paused', trading_status_reason: 'maintenance' } as const
    expect(haltOf(SPOT, { ...paused, enabled: true }, 0)).to.match(/Paused.*maintenance/)
    const last = FUTURE.future?.last_trade_time ?? 0
    if (FUTURE.future !== undefined) expect(haltOf(FUTURE, undefined, last)).to.match(/ended/)
  })

  it('has a last price and its change in trader terms', () => {
    const ticker = { last_price: '0.000625', stats_24h: { change: '-0.000025' } }
    expect(lastPrice(SPOT, marketTerms(SPOT), ticker)).to.deep.equal({
      price: '1,600.0000',
      change: '+4.00 %',
      isDown: false,
    })
    expect(lastPrice(PERP, marketTerms(PERP), ticker)?.isDown).to.equal(true)
  })

  it('names the lines of the chart, those of own orders first', () => {
    const terms = marketTerms(SPOT)
    const order = { side: 'buy', limit_price: '0.000625' } as OrderRecord
    const ticker = { mark_price: '1549' } as TickerState
    const lines = chartLines({ entry: SPOT, terms, ticker, orders: [order], positions: [] })
    expect(chartWords(lines, 2)).to.equal('Candles with volume, sell 1,600.00, mark 1,549.00')
    expect(chartWords([], 2)).to.equal('Candles with volume')
  })

  it('says the least size where the ticket counts as the engine does', () => {
    expect(leastText(PERP, marketTerms(PERP))).to.equal('1')
    expect(leastText(SPOT, marketTerms(SPOT))).to.equal(undefined)
  })

  it('draws the depth on a window that one far order does not stretch', () => {
    const terms = marketTerms(PERP)
    const near = Array.from({ length: 10 }, (_, at) => ({
      priceE18: read('0.0006') + BigInt(at) * 10n ** 11n,
      amountE18: E18,
    }))
    const book = {
      bids: near.map((each) => ({ ...each, priceE18: each.priceE18 - 10n ** 13n })).reverse(),
      asks: [...near, { priceE18: read('1'), amountE18: E18 }],
    }
    const options = { groupE18: 0n, rows: 40 }
    const curve = depthCurve(
      bookRows(terms, book, 'buy', options),
      bookRows(terms, book, 'sell', options),
    )
    expect(curve?.highE18 ?? E18).to.be.below(read('0.001') as never)
    expect(areaPath(curve?.asks ?? [], 1, [100, 10])).to.match(/^M.*L100\.0 /)
  })

  it('writes no formula into a file of values', () => {
    const text = csvOf([{ a: '=1+1', b: 'x,"y"', c: '-5' }], ['a', 'b', 'c'])
    expect(text).to.equal(`a,b,c\r\n'=1+1,"x,""y""",-5\r\n`)
    const cells = ['-2+3+cmd|x', '+1,500.25', '-', '@a'].map((a) => csvOf([{ a }], ['a']))
    const shown = ["'-2+3+cmd|x", '"+1,500.25"', "'-", "'@a"]
    expect(cells).to.deep.equal(shown.map((cell) => `a\r\n${cell}\r\n`))
  })

  it('has panes whose edges move by arrow keys, within bounds', () => {
    expect([paneStep('ticket', 'ArrowLeft'), paneStep('tables', 'ArrowDown')]).to.deep.equal([
      16, -16,
    ])
    expect([paneStep('side', 'ArrowUp'), paneStep('tables', 'Enter')]).to.deep.equal([
      ...[undefined, undefined],
    ])
    expect([1, 300.4, 9_999].map((pixels) => paneSize('side', pixels))).to.deep.equal([
      240, 300, 560,
    ])
  })

  it('names a market by its link, and none by a link that is broken', () => {
    expect(marketOf(linkOf('cNGN-PERP'))).to.equal('cNGN-PERP')
    expect(['#/%', '', '#'].map(marketOf)).to.deep.equal(['', '', ''])
  })

  it('names no moment of funding: it accrues all the time', () => {
    expect(headerFacts(PERP, undefined, 0)).to.deep.equal(headerFacts(PERP, undefined, 1_800))
  })
})
