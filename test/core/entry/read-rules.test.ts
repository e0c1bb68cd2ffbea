import { expect } from 'chai'
import { readRules } from '../../../core/entry/read-rules.js'
import { amountE18, E18 } from '../../../core/money.js'
import { aFuture, openedState } from '../../support/builders.js'

const NAMES = 'taker_fee_bps, tick_size, min_size, amount_step, min_notional, open_order_limit'

describe('rules as an operator states them', () => {
  const spot = openedState()
  const problemOf = (fields: Record<string, string>, market = spot): string => {
    const read = readRules(market, fields)
    return 'problem' in read ? read.problem : 'none'
  }

  it('are read by the names and texts of the market file (OPE-002)', () => {
    expect(readRules(spot, { taker_fee_bps: '30', tick_size: '0.5', min_size: '1' })).to.deep.equal(
      {
        rules: { takerFeeBps: 30, tickSize: E18 / 2n, minSize: E18 },
      },
    )
    expect(readRules(spot, { min_notional: '2.5', open_order_limit: '3' })).to.deep.equal({
      rules: { minNotional: (5n * E18) / 2n, openOrderLimit: 3 },
    })
    expect(readRules(spot, { min_notional: '0', open_order_limit: '0' })).to.deep.equal({
      rules: { minNotional: 0n, openOrderLimit: 0 },
    })
    const highest = { taker_fee_bps: '10000', open_order_limit: '100000' }
    expect(readRules(spot, highest)).to.deep.equal({
      rules: { takerFeeBps: 10_000, openOrderLimit: 100_000 },
    })
    const stepped = openedState({ amountStep: spot.rules.minSize })
    expect(readRules(stepped, { amount_step: '2', min_size: '2' })).to.deep.equal({
      rules: { amountStep: 2n * E18, minSize: 2n * E18 },
    })
  })

  for (const [fields, problem] of [
    [{}, `name at least one of ${NAMES}`],
    [{ ordinal: '3' }, `ordinal cannot be set; only ${NAMES} can`],
    [{ taker_fee_bps: '10001' }, 'taker_fee_bps must be a whole number from 0 to 10000'],
    [{ taker_fee_bps: '-1' }, 'taker_fee_bps must be a whole number'],
    [{ taker_fee_bps: '2.5' }, 'taker_fee_bps must be a whole number'],
    [{ tick_size: '0' }, 'tick_size must be a decimal greater than 0'],
    [{ tick_size: '1e-3' }, 'tick_size must be a decimal greater than 0'],
    [{ min_size: '' }, 'min_size must be a decimal greater than 0'],
    [{ min_notional: '-1' }, 'min_notional must be a decimal of at most 18 decimals'],
    [{ open_order_limit: '1.5' }, 'open_order_limit must be a whole number from 0 to 100000'],
    [{ open_order_limit: '100001' }, 'open_order_limit must be a whole number from 0 to 100000'],
    [{ amount_step: '1' }, 'amount_step is not a rule of this market'],
  ] as [Record<string, string>, string][]) {
    it(`are refused: ${JSON.stringify(fields)} (MON-015)`, () => {
      expect(problemOf(fields)).to.include(problem)
    })
  }

  it('are refused when an amount on the step could not be signed (ORD-050)', () => {
    const future = openedState({ amountScale: 10n ** 15n })
    expect(problemOf({ min_size: '0.0001' }, future)).to.equal('none')
    expect(problemOf({ min_size: '0.0000000000000001' }, future)).to.include(
      "must be a whole number of the chain's units",
    )
    const stepped = openedState({ amountScale: 10n ** 15n, amountStep: spot.rules.minSize })
    expect(problemOf({ amount_step: '0.0001', min_size: '0.0001' }, stepped)).to.equal('none')
    expect(problemOf({ amount_step: '0.0000000000000001' }, stepped)).to.equal(
      "amount_step must be a whole number of the chain's units, of which 1 has 1000000000000000",
    )
    expect(problemOf({ amount_step: '0' }, stepped)).to.equal(
      'amount_step must be a decimal greater than 0 with at most 18 decimals',
    )
  })

  it('are refused when the step that is shown is not the one that orders are held to', () => {
    const future = openedState(aFuture({ amountStep: aFuture().minSize }))
    const problem = 'amount_step must equal min_size, the grid of amounts: set both'
    for (const name of ['min_size', 'amount_step']) {
      expect(problemOf({ [name]: '5' }, future)).to.equal(problem)
    }
    expect(problemOf({ min_size: '10', amount_step: '5' }, future)).to.equal(problem)
    const older = openedState(aFuture({ amountStep: amountE18(5n * E18) }))
    expect(problemOf({ taker_fee_bps: '5' }, older)).to.equal('none')
    expect(problemOf({ amount_step: '1' }, older)).to.equal('none')
  })

  it('are refused on a future when the chain would refuse an amount on the step (FUT-007, ORD-050)', () => {
    const future = openedState(aFuture())
    expect(problemOf({ min_size: '5', amount_step: '5' }, future)).to.equal('none')
    for (const name of ['min_size', 'amount_step']) {
      expect(problemOf({ [name]: '0.5' }, future)).to.equal(
        `${name} must be a whole number of the chain's units, of which 1 has 1`,
      )
    }
  })
})
