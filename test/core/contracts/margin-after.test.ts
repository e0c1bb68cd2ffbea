import { expect } from 'chai'
import { hideFuture, hideFutureAccount } from '../../../core/contracts/future-facts.js'
import { future } from '../../../core/contracts/future.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import { liquidationPrice, marginOf } from '../../../core/contracts/perpetual-margin.js'
import { perpetual } from '../../../core/contracts/perpetual.js'
import { spot } from '../../../core/contracts/spot.js'
import type { AccountTrade } from '../../../core/contracts/contract.js'
import type { MarketFacts } from '../../../core/model/observation.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { START_MS } from '../../support/matching.js'
import { e18, perpetualAccount, perpetualFacts } from '../../support/perpetual.js'

const trade = (
  side: AccountTrade['side'],
  price: string,
  amount: string,
  fee = '0',
): AccountTrade => ({
  side,
  price: priceE18(e18(price)),
  amount: amountE18(e18(amount)),
  fee: quoteE18(e18(fee)),
})

const observed = (facts: MarketFacts) => ({
  facts,
  blockNumber: 1n,
  blockTimeSec: START_MS / 1000,
  readAtMs: START_MS,
})

describe('the margin of an account after trades', () => {
  it('of a perpetual is the manager’s, with what the trades settle into cash', () => {
    const facts = perpetualFacts({ mark: priceE18(e18('2')), index: priceE18(e18('2')) })
    const valued = { unsettled: 0n, mark: facts.mark, elsewhere: e18('3') }
    const own = perpetualAccount({ position: e18('10'), cash: e18('50'), valued })
    const held = { observed: observed(hidePerpetual(facts)), facts: hidePerpetualAccount(own) }
    const after = (trades: readonly AccountTrade[]) => perpetual.present.marginAfter?.(held, trades)
    const expected = (position: bigint, cash: bigint) => {
      const account = { position, cash, unsettled: 0n, collateral: own.collateral }
      const { elsewhere } = valued
      const surplus = marginOf(facts, account, 'maintenance') + elsewhere
      const atPrice = liquidationPrice(facts, { position, surplus })
      return {
        position,
        initialSurplus: marginOf(facts, account, 'initial') + elsewhere,
        maintenanceSurplus: surplus,
        ...(atPrice !== undefined && { liquidationPriceE10: atPrice }),
      }
    }
    const { cash } = own
    expect(after([])).to.deep.equal(expected(e18('10'), cash))
    // Bought 5 at 3 where the mark is 2, and paid 0.1; sold 20 at 2.5.
    const trades = [trade('buy', '3', '5', '0.1'), trade('sell', '2.5', '20')]
    const moved = cash - e18('5') - e18('0.1') + e18('10')
    expect(after(trades)).to.deep.equal(expected(e18('-5'), moved))
    const stale = hidePerpetual({ ...facts, pricesStale: true })
    const unpriced = { ...held, observed: observed(stale) }
    expect(perpetual.present.marginAfter?.(unpriced, [])).to.equal(undefined)
  })

  it('of a future counts what a trade gains against the mark and the index, and its fee in USDC', () => {
    const facts = futureFacts()
    const own = futureAccount({ usdc: e18('1000') })
    const held = { observed: observed(hideFuture(facts)), facts: hideFutureAccount(own) }
    const after = (trades: readonly AccountTrade[]) => future.present.marginAfter?.(held, trades)
    expect(after([])).to.deep.equal({
      position: 0n,
      initialSurplus: e18('1000'),
      maintenanceSurplus: e18('1000'),
    })
    // Two contracts at the mark: a tenth and 7 % of 2,000 USDC.
    expect(after([trade('buy', '1500', '2000', '5')])).to.deep.equal({
      position: e18('2000'),
      initialSurplus: e18('795'),
      maintenanceSurplus: e18('855'),
    })
    // Bought 15 above: 30,000 cNGN are owed, 20 USDC over the factor.
    const dear = after([trade('buy', '1515', '2000', '5')])
    expect(Number(dear?.initialSurplus) / 1e18).to.be.closeTo(795 - 20 / 0.9, 1e-9)
    expect(Number(dear?.maintenanceSurplus) / 1e18).to.be.closeTo(855 - 20 / 0.95, 1e-9)
    // Sold again at the mark: the loss stays.
    const flat = after([trade('buy', '1515', '2000', '5'), trade('sell', '1500', '2000', '5')])
    expect(flat?.position).to.equal(0n)
    expect(Number(flat?.initialSurplus) / 1e18).to.be.closeTo(990 - 20 / 0.9, 1e-9)
    const stale = hideFuture({ ...facts, indexStale: true })
    const unpriced = { ...held, observed: observed(stale) }
    expect(future.present.marginAfter?.(unpriced, [trade('buy', '1500', '1')])).to.equal(undefined)
  })

  it('has both legs of the trades, by what the engine counts in', () => {
    const trades = [trade('buy', '0.0005', '1000', '1'), trade('sell', '0.001', '400')]
    const moved = { usdc: e18('-0.1'), cngn: e18('600') }
    expect(spot.present.movesOf(trades)).to.deep.equal(moved)
    expect(perpetual.present.movesOf(trades)).to.deep.equal(moved)
    const bought = [trade('buy', '1500', '10'), trade('sell', '1600', '4')]
    expect(future.present.movesOf(bought)).to.deep.equal({
      usdc: e18('6'),
      cngn: e18('-8600'),
    })
    expect(spot.present).not.to.have.property('marginAfter')
  })
})
