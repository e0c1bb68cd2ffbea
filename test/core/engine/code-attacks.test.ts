import { expect } from 'chai'
import { creditOf, hasBudget } from '../../../core/engine/code-windows.js'
import { TRIALS_MAX, TRIAL_POINTS_PER_HOUR } from '../../../core/model/limits.js'
import { quoteE18 } from '../../../core/money.js'
import { address, codeMarket, GAS, type CodeMarket, type Trader } from './code-market.js'

const plain = (no: number): Trader => ({ signer: no, owner: no })
const code = (signer: number, owner = signer): Trader => ({ signer, owner, byCode: true })

/** What the matches of all windows in flight would cost if all were lost. */
const atRisk = ({ state }: CodeMarket): bigint => GAS * BigInt(state.windows.taken.size)

describe('attacks of signers that are code', () => {
  it('a burner with 162 orders of dust loses the venue two matches in 40 seconds, and 8 in a day', () => {
    const market = codeMarket()
    const { place, pending, fail, tick } = market
    let mined = 0
    let inFirstSeconds = 0
    place(plain(2), 'buy', { size: 1_000 })
    for (let sec = 0; sec < 86_400; sec += 5) {
      if (sec % 3_600 === 0) {
        // As many as it may have, up to what the attack had; what ended is placed again.
        for (let no = 0; no < 162; no += 1) place(code(1), 'sell', { size: 0.001 })
      }
      for (const id of pending()) {
        fail(id, { revert: 'OutOfGas', guilty: 'unclear' })
        mined += 1
      }
      tick(5)
      if (sec <= 40) inFirstSeconds = mined
    }
    expect(inFirstSeconds, '309.6M gas of 162 orders before').to.equal(2)
    expect(mined).to.equal(8)
    expect(market.lost()).to.equal(GAS * BigInt(mined))
  })

  it('owners and signers that cost nothing lose sixty matches an hour together, eight at once (COD-005)', () => {
    const market = codeMarket()
    const { place, pending, fail, tick, state } = market
    place(plain(2), 'buy', { size: 10_000 })
    const hours: number[] = []
    let sybil = 100
    for (let hour = 0; hour < 2; hour += 1) {
      let mined = 0
      for (let sec = 0; sec < 3_600; sec += 120) {
        for (let no = 0; no < TRIALS_MAX + 1; no += 1) place(code((sybil += 1)), 'sell')
        expect(pending().length).to.be.at.most(TRIALS_MAX)
        for (const id of pending()) {
          fail(id)
          mined += 1
        }
        tick(120)
      }
      hours.push(mined)
      expect(state.windows.trials.points).to.be.at.most(TRIAL_POINTS_PER_HOUR)
    }
    expect(hours).to.deep.equal([60, 60])
    // No plain key has noticed.
    const { orderId } = place(plain(3), 'sell', { price: 0.99 })
    expect(state.orders.get(orderId)?.pending).to.equal(10n ** 18n)
  })

  it('trades with itself, and dust, buy no place, however many settle (COD-003)', () => {
    const market = codeMarket()
    const { place, pending, settle, windowOf } = market
    for (let no = 0; no < 200; no += 1) {
      place(code(1, 7), 'sell', { size: 10 })
      place(code(2, 7), 'buy', { size: 10 })
      settle(pending()[0] ?? '')
    }
    expect([windowOf(code(1, 7)).size, windowOf(code(2, 7)).size]).to.deep.equal([1, 1])
    for (let no = 0; no < 1_000; no += 1) {
      place(code(1), 'sell', { size: 0.001 })
      place(plain(2), 'buy', { size: 0.001 })
      settle(pending()[0] ?? '')
    }
    expect(windowOf(code(1)).size, 'the fees are below the gas').to.equal(1)
    expect(market.state.windows.paid.size).to.equal(0)
  })

  it('trades of two owners that are one risk no more than they have paid', () => {
    const market = codeMarket()
    const { place, pending, settle, state, fail, windowOf } = market
    for (let no = 0; no < 40; no += 1) {
      place(code(1), 'sell', { size: 2 })
      place(code(2), 'buy', { size: 2 })
      settle(pending()[0] ?? '')
    }
    const credit = (no: number): bigint => creditOf(state.windows, windowOf(code(no)).of)
    expect(credit(1) + credit(2) <= market.paid(), 'each fee is counted once').to.equal(true)
    for (let no = 0; no < 200; no += 1) place(plain(3), 'buy', { size: 1 })
    for (let no = 0; no < 200; no += 1) place(code(1), 'sell', { size: 1 })
    expect(atRisk(market) <= market.paid() + GAS).to.equal(true)
    expect(pending().length).to.be.greaterThan(10)
    for (const id of pending()) fail(id)
    expect(market.lost() <= market.paid() + GAS).to.equal(true)
  })

  it('a signer that says yes and no by turns loses one match more than it has paid for', () => {
    const market = codeMarket()
    const { place, pending, settle, fail, tick } = market
    let most = 0n
    place(plain(2), 'buy', { size: 10_000 })
    for (let turn = 0; turn < 200; turn += 1) {
      place(code(1), 'sell', { size: 1 })
      for (const [no, id] of pending().entries()) {
        if ((turn + no) % 3 === 0) fail(id, { guilty: 'maker' })
        else settle(id)
      }
      const beyond = market.lost() - market.paid()
      if (beyond > most) most = beyond
      tick(700)
    }
    expect(market.lost() > 0n).to.equal(true)
    expect(most <= GAS, `${most} of ${GAS}`).to.equal(true)
  })

  it('a key that turns code while its orders rest has one match in flight from then on (COD-019)', () => {
    const market = codeMarket()
    const { place, pending, apply, holdOf } = market
    const asks = Array.from({ length: 10 }, () => place(plain(1), 'sell').orderId)
    place(plain(2), 'buy')
    expect(pending()).to.have.length(1)
    apply({ kind: 'SignatureChecked', orderId: asks[1] ?? '', valid: true, byCode: true })
    place(plain(2), 'buy')
    place(plain(2), 'buy')
    // What was in flight before has no window; the second order has one, the third is not known to be code yet.
    expect(pending()).to.have.length(3)
    apply({ kind: 'SignerCodeObserved', signer: address(1) })
    place(plain(2), 'buy', { size: 5 })
    expect(pending()).to.have.length(3)
    expect(asks.slice(3, 8).map(holdOf)).to.deep.equal(Array(5).fill('signer_waits'))
  })

  it('an owner of a custodian whose trades the chain refuses leaves its other owners alone', () => {
    const market = codeMarket()
    const { place, pending, fail, tick, holdOf } = market
    const other = place(code(1, 2), 'sell', { price: 0.98 }).orderId
    for (const waitSec of [10, 40, 160]) {
      place(code(1, 1), 'sell', { price: 0.97 })
      place(plain(3), 'buy', { price: 0.97, fields: { timeInForce: 'IOC' } })
      fail(pending()[0] ?? '', { revert: 'SRM_NoNegativeCash', guilty: 'maker' })
      expect(holdOf(other)).to.equal(undefined)
      tick(waitSec)
    }
    place(plain(4), 'buy', { price: 0.98 })
    expect(pending(), 'it trades at once').to.have.length(1)
  })

  it('a signer that says no to the simulation takes one order of the other side, not the book', () => {
    const market = codeMarket()
    const { place, pending, fail, settle, tick } = market
    const asks = Array.from({ length: 5 }, () => place(plain(2), 'sell', { size: 10 }).orderId)
    let honest = 0
    for (let no = 0; no < 5; no += 1) {
      place(code(1), 'buy', { size: 50, fields: { timeInForce: 'IOC' } })
      place(plain(10 + no), 'buy')
      const [, ...after] = pending()
      honest += no === 0 ? after.length : pending().length
      for (const id of pending()) {
        if (no === 0 && id === pending()[0]) fail(id, { isMined: false })
        else settle(id)
      }
      tick(1)
    }
    expect(honest, '0 of 5 before').to.equal(5)
    expect(asks).to.have.length(5)
  })

  it('failures in simulation cost a tenth, and an hour of them holds newcomers until the next', () => {
    const market = codeMarket()
    const { place, pending, fail, tick, state, holdOf } = market
    place(plain(2), 'buy', { size: 10_000 })
    let failed = 0
    for (let sybil = 100; sybil < 1_000; sybil += 1) {
      place(code(sybil), 'sell')
      for (const id of pending()) {
        fail(id, { isMined: false })
        failed += 1
      }
    }
    // The last nine points would not cover a match that is mined.
    expect(failed).to.equal(TRIAL_POINTS_PER_HOUR - 9)
    expect(hasBudget(state.windows, market.nowMs())).to.equal(false)
    const honest = place(code(1), 'sell', { price: 0.9 }).orderId
    expect(holdOf(honest)).to.equal('signer_waits')
    tick(3_600)
    expect(pending().length).to.be.greaterThan(0)
  })

  it('a rich signer cannot close one that has paid less: both pay, and neither waits', () => {
    const market = codeMarket()
    const { place, pending, settle, fail, state, windowOf } = market
    const grow = (trader: Trader, times: number): void => {
      for (let no = 0; no < times; no += 1) {
        place(trader, 'sell', { size: 2 })
        place(plain(9), 'buy', { size: 2 })
        settle(pending()[0] ?? '')
      }
    }
    grow(code(1), 2)
    grow(code(2), 50)
    const credit = (no: number): bigint => creditOf(state.windows, windowOf(code(no)).of)
    const honest = credit(1)
    const rich = credit(2)
    place(code(1), 'sell')
    place(code(2), 'buy')
    fail(pending()[0] ?? '')
    const half = (GAS + 1n) / 2n
    expect([honest - credit(1), rich - credit(2)]).to.deep.equal([half, half])
    expect(state.windows.failed.size).to.equal(0)
  })

  it('gas that costs four times as much between the trades that paid and those that are lost is covered', () => {
    const market = codeMarket()
    const { place, pending, settle, fail, state, windowOf } = market
    for (let no = 0; no < 20; no += 1) {
      place(code(1), 'sell', { size: 4 })
      place(plain(9), 'buy', { size: 4 })
      settle(pending()[0] ?? '')
    }
    const { size } = windowOf(code(1))
    for (let no = 0; no < size + 5; no += 1) place(plain(9), 'buy')
    for (let no = 0; no < size + 5; no += 1) place(code(1), 'sell')
    expect(pending()).to.have.length(size)
    const dearer = quoteE18(4n * GAS)
    expect(dearer * BigInt(size) <= market.paid() + dearer).to.equal(true)
    for (const id of pending()) fail(id)
    expect(creditOf(state.windows, windowOf(code(1)).of)).to.equal(
      market.paid() - GAS * BigInt(size),
    )
  })
})
