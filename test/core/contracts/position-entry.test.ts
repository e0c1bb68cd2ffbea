import { expect } from 'chai'
import fc from 'fast-check'
import type { PositionEntry } from '../../../core/contracts/contract.js'
import {
  afterFill,
  afterReversal,
  entryPrice,
  gainSinceEntry,
  NO_ENTRY,
  type PositionMove,
} from '../../../core/contracts/positions.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { e18 } from '../../support/perpetual.js'

const move = (side: 'buy' | 'sell', amount: string, price: string): PositionMove => ({
  side,
  amount: amountE18(e18(amount)),
  price: priceE18(e18(price)),
})
const after = (...moves: PositionMove[]): PositionEntry => moves.reduce(afterFill, NO_ENTRY)
const shown = (entry: PositionEntry) => [entry.size, entryPrice(entry)]

describe('the entry of a position', () => {
  it('is the average price of what opened it', () => {
    const entry = after(move('buy', '100', '0.0006'), move('buy', '300', '0.0007'))
    expect(shown(entry)).to.deep.equal([e18('400'), e18('0.000675')])
    // 400 x (0.0008 - 0.000675)
    expect(gainSinceEntry(entry, priceE18(e18('0.0008')))).to.equal(e18('0.05'))
  })

  it('stays through a reduction, and begins anew behind zero', () => {
    const long = after(move('buy', '400', '0.000675'), move('sell', '100', '0.0009'))
    expect(shown(long)).to.deep.equal([e18('300'), e18('0.000675')])
    const short = afterFill(long, move('sell', '500', '0.0005'))
    expect(shown(short)).to.deep.equal([e18('-200'), e18('0.0005')])
    expect(gainSinceEntry(short, priceE18(e18('0.0004')))).to.equal(e18('0.02'))
    expect(gainSinceEntry(short, priceE18(e18('0.0006')))).to.equal(e18('-0.02'))
    expect(afterFill(short, move('buy', '200', '0.0007'))).to.deep.equal(NO_ENTRY)
    expect(entryPrice(NO_ENTRY)).to.equal(undefined)
    expect(gainSinceEntry(NO_ENTRY, priceE18(E18))).to.equal(undefined)
  })

  it('is half up at the last unit, of a short as of a long', () => {
    for (const side of ['buy', 'sell'] as const) {
      const entry = after(
        { side, amount: amountE18(E18), price: priceE18(1n) },
        { side, amount: amountE18(E18), price: priceE18(2n) },
      )
      expect(entryPrice(entry), side).to.equal(2n)
    }
  })

  it('is not known after a reversed fill until the position is flat', () => {
    const bought = move('buy', '100', '0.0006')
    const entry = afterReversal(after(bought, move('buy', '50', '0.0007')), bought)
    expect(entry).to.deep.equal({ size: e18('50'), cost: undefined })
    for (const more of [move('buy', '1', '1'), move('sell', '10', '1')])
      expect(entryPrice(afterFill(entry, more))).to.equal(undefined)
    const flat = afterFill(entry, move('sell', '50', '1'))
    expect(shown(afterFill(flat, move('buy', '7', '2')))).to.deep.equal([e18('7'), e18('2')])
    expect(shown(afterFill(entry, move('sell', '60', '3')))).to.deep.equal([e18('-10'), e18('3')])
    expect(afterReversal(after(bought), bought)).to.deep.equal(NO_ENTRY)
  })

  it('adds up to the sum of all fills, between the prices that were paid', () => {
    const moves = fc.array(
      fc.record({
        side: fc.constantFrom('buy' as const, 'sell' as const),
        amount: fc.bigInt(1n, 10n ** 27n).map(amountE18),
        price: fc.bigInt(1n, 10n ** 18n).map(priceE18),
      }),
      { minLength: 1, maxLength: 30, size: 'max' },
    )
    fc.assert(
      fc.property(moves, (fills) => {
        const entry = after(...fills)
        const sum = fills.reduce(
          (total, { side, amount }) => (side === 'buy' ? total + amount : total - amount),
          0n,
        )
        expect(entry.size).to.equal(sum)
        const price = entryPrice(entry)
        expect(price === undefined).to.equal(sum === 0n)
        if (price === undefined) return
        const prices = fills.map((fill) => fill.price)
        expect(prices.some((paid) => paid <= price + 1n)).to.equal(true)
        expect(prices.some((paid) => paid >= price - 1n)).to.equal(true)
      }),
    )
  })
})
