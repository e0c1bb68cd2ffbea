import { expect } from 'chai'
import fc from 'fast-check'
import {
  cngnValue,
  cngnAtBoth,
  futureOutlook,
  isFillAccepted,
  requirementOf,
  surplusOf,
  variationOf,
  type FillBearer,
} from '../../../core/contracts/future-margin.js'
import { E18, priceE18 } from '../../../core/money.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { e18 } from '../../support/perpetual.js'
import { runs } from '../../support/property-runs.js'

const INDEX = priceE18(e18('1500'))
const TERMS = { rate: e18('0.1'), factor: e18('0.9') }

/** An account of a contract that is 1,000 USDC and requires 100, and a fill at the mark. */
function accepts(
  bearer: Partial<FillBearer>,
  size: bigint,
  price: bigint = INDEX,
  fee = 0n,
): boolean {
  const account: FillBearer = { position: 0n, otherSize: 0n, usdc: 0n, cngn: 0n, ...bearer }
  return isFillAccepted(account, { size, price, fee }, { mark: INDEX, index: INDEX }, TERMS)
}

describe('margin of the futures manager', () => {
  it('counts cNGN that is owned with the factor, rounded down, and that is owed by it, rounded up (FUT-024)', () => {
    expect(cngnValue(e18('1500'), INDEX, TERMS.factor)).to.equal(e18('0.9'))
    expect(cngnValue(e18('-1350'), INDEX, TERMS.factor)).to.equal(-E18)
    expect(cngnValue(1n, INDEX, TERMS.factor)).to.equal(0n)
    expect(cngnValue(-1n, INDEX, TERMS.factor)).to.equal(-2n)
    expect(cngnValue(0n, INDEX, TERMS.factor)).to.equal(0n)
  })

  it('requires a rate of the notional, rounded up', () => {
    expect(requirementOf(E18, TERMS.rate)).to.equal(e18('100'))
    expect(requirementOf(1n, 10n ** 14n + 1n)).to.equal(1n)
    expect(requirementOf(0n, TERMS.rate)).to.equal(0n)
  })

  it('is what is left of USDC and cNGN, where the index counts only if there is cNGN', () => {
    const held = { usdc: e18('120'), size: E18 }
    expect(surplusOf({ ...held, cngn: 0n }, 0n, TERMS)).to.equal(e18('20'))
    expect(surplusOf({ ...held, cngn: e18('1500') }, INDEX, TERMS)).to.equal(e18('20.9'))
    expect(surplusOf({ ...held, cngn: e18('-1350') }, INDEX, TERMS)).to.equal(e18('19'))
  })

  it('moves cNGN by the whole steps of a position', () => {
    expect(variationOf(2n * E18, INDEX, e18('1501'))).to.equal(e18('2000'))
    expect(variationOf(-2n * E18, INDEX, e18('1501'))).to.equal(e18('-2000'))
  })
})

describe('a fill that the futures manager accepts', () => {
  it('leaves initial margin of all positions, its fee paid', () => {
    expect(accepts({ usdc: e18('100') }, E18)).to.equal(true)
    expect(accepts({ usdc: e18('100') - 1n }, E18)).to.equal(false)
    expect(accepts({ usdc: e18('100') }, -E18)).to.equal(true)
    expect(accepts({ usdc: e18('101') }, E18, INDEX, E18)).to.equal(true)
    expect(accepts({ usdc: e18('101') - 1n }, E18, INDEX, E18)).to.equal(false)
    expect(accepts({ usdc: e18('200'), otherSize: E18 }, E18)).to.equal(true)
    expect(accepts({ usdc: e18('200') - 1n, otherSize: E18 }, E18)).to.equal(false)
    expect(accepts({ usdc: e18('200'), position: E18 }, E18)).to.equal(true)
    expect(accepts({ usdc: e18('200') - 1n, position: -E18 }, -E18)).to.equal(false)
  })

  it('counts what its price is better or worse than the mark', () => {
    // 1.35 cNGN worse for a thousand USDC: 1,350 cNGN, as a debt one USDC.
    expect(accepts({ usdc: e18('101') }, E18, e18('1501.35'))).to.equal(true)
    expect(accepts({ usdc: e18('101') - 1n }, E18, e18('1501.35'))).to.equal(false)
    expect(accepts({ usdc: e18('99.1') }, E18, e18('1498.5'))).to.equal(true)
  })

  it('pays its fee in USDC, whatever the account has besides', () => {
    const rich = { cngn: e18('100000000') }
    expect(accepts({ ...rich, usdc: E18 }, E18, INDEX, E18)).to.equal(true)
    expect(accepts({ ...rich, usdc: E18 - 1n }, E18, INDEX, E18)).to.equal(false)
  })

  it('is one that closes all and leaves no debt', () => {
    expect(accepts({ position: E18 }, -E18)).to.equal(true)
    expect(accepts({ position: E18, usdc: E18 }, -E18, INDEX, E18)).to.equal(true)
    expect(accepts({ position: E18, cngn: e18('1350') }, -E18, e18('1498.65'))).to.equal(true)
    expect(accepts({ position: E18, cngn: e18('1349') }, -E18, e18('1498.65'))).to.equal(false)
    expect(accepts({ position: E18, otherSize: E18, usdc: 1n }, -E18, INDEX, 1n)).to.equal(false)
  })

  it('is one that reduces at mark and index or better without a fee, however weak the account is (FUT-027)', () => {
    const half = E18 / 2n
    expect(accepts({ position: E18 }, -half)).to.equal(true)
    expect(accepts({ position: -E18 }, half)).to.equal(true)
    expect(accepts({ position: E18 }, -half, e18('1501'))).to.equal(true)
    expect(accepts({ position: E18 }, -half, e18('1499'))).to.equal(false)
    expect(accepts({ position: E18, usdc: 1n }, -half, INDEX, 1n)).to.equal(false)
    expect(accepts({ position: E18 }, half)).to.equal(false)
    expect(accepts({ position: -E18 }, -half)).to.equal(false)
    // Through zero is not a reduction.
    expect(accepts({ position: E18 }, -2n * E18)).to.equal(false)
    expect(accepts({ position: -E18 }, 2n * E18)).to.equal(false)
    // Nothing is left of this series, and the other positions stay.
    expect(accepts({ position: E18, otherSize: E18 }, -E18)).to.equal(true)
    expect(accepts({ otherSize: E18 }, E18)).to.equal(false)
  })
})

describe('how far an account of the futures manager is from its liquidation', () => {
  const facts = futureFacts()
  const surplusAt = (account: ReturnType<typeof futureAccount>, at: bigint): bigint => {
    const { atIndex } = cngnAtBoth(account, facts)
    const net = account.position + (account.others?.net ?? 0n)
    const cngn = atIndex + variationOf(net, facts.index, at)
    const size = (account.position < 0n ? -account.position : account.position) + account.otherSize
    const terms = { rate: facts.maintenanceRate, factor: facts.maintenanceFactor }
    return surplusOf({ usdc: account.usdc, cngn, size }, at, terms)
  }

  it('is the last index towards it at which there is margin, to the unit (REA-059)', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })
    const contracts = fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }).map((n) => n * 10n ** 15n)
    const counts = new Map<string, number>()
    fc.assert(
      fc.property(
        ...[contracts, contracts, amount, fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n })],
        (position, net, usdc, cngn) => {
          const otherSize = net < 0n ? -net : net
          const others = { net, worth: net === 0n ? 0n : variationOf(net, 0n, facts.mark) }
          const account = futureAccount({ position, usdc, cngn, otherSize, others })
          const outlook = futureOutlook(facts, account)
          counts.set(outlook.status, (counts.get(outlook.status) ?? 0) + 1)
          if (outlook.status === 'due') expect(surplusAt(account, facts.index) < 0n).to.equal(true)
          if (outlook.status !== 'ok') return
          const { price, distanceE6 } = outlook
          expect(surplusAt(account, price) >= 0n).to.equal(true)
          const beyond = price < facts.index ? price - 1n : price + 1n
          // At the present index itself either side may be beyond.
          if (price !== facts.index) expect(surplusAt(account, beyond) < 0n).to.equal(true)
          const apart = price < facts.index ? facts.index - price : price - facts.index
          expect(distanceE6 * facts.index <= apart * 1_000_000n).to.equal(true)
        },
      ),
      { numRuns: runs(300) },
    )
    expect(counts.get('ok') ?? 0, JSON.stringify([...counts])).to.be.above(20)
  })

  it('says why there is none', () => {
    const one = 10n ** 18n
    expect(futureOutlook(facts, futureAccount())).to.deep.equal({ status: 'no_position' })
    const held = futureAccount({ position: one, usdc: e18('71') })
    expect(futureOutlook(futureFacts({ indexStale: true }), held)).to.deep.equal({
      status: 'stale',
    })
    const poor = futureAccount({ position: one, usdc: e18('69') })
    expect(futureOutlook(facts, poor)).to.deep.equal({ status: 'due' })
    // It gains with the index, and what it may lose at the lowest index is less than it has.
    expect(futureOutlook(facts, held).status).to.equal('ok')
    const short = futureAccount({ position: -one, usdc: e18('10000000') })
    expect(futureOutlook(facts, short).status).to.equal('none')
  })
})
