import { expect } from 'chai'
import {
  addPoints,
  charge,
  close,
  closedUntilMs,
  credit,
  creditOf,
  forgetOldFailures,
  hasBudget,
  hasRecord,
  keyOf,
  noCodeWindows,
  noteGasCost,
  sizeOf,
} from '../../../core/engine/code-windows.js'
import {
  CODE_WINDOWS_MAX,
  REVIEWED_MAX_PER_STEP,
  TRIALS_MAX,
  UNGROWN_ORDERS_MAX,
  WINDOW_FORGOTTEN_MS,
  WINDOW_SIZE_MAX,
} from '../../../core/model/limits.js'
import { E18, quoteE18 } from '../../../core/money.js'
import { START_MS } from '../../support/matching.js'
import { address, codeMarket, GAS, type CodeMarket } from './code-market.js'

const of = { signer: address(1), owner: address(2) }
const other = { signer: address(1), owner: address(3) }

describe('a window', () => {
  it('has a place for each four gas costs that it has paid for, and one more (COD-002)', () => {
    const windows = noCodeWindows()
    expect(sizeOf(windows, of)).to.equal(1)
    credit(windows, of, quoteE18(E18), START_MS)
    expect(sizeOf(windows, of), 'no gas cost was told').to.equal(1)
    noteGasCost(windows, quoteE18(E18 / 8n))
    expect(sizeOf(windows, of)).to.equal(3)
    charge(windows, of, 1n)
    expect(sizeOf(windows, of)).to.equal(2)
    charge(windows, of, 2n * E18)
    expect(creditOf(windows, of)).to.equal(0n)
    expect([windows.paid.size, windows.failed.size], 'fresh again').to.deep.equal([0, 0])
    credit(windows, of, quoteE18(1_000_000n * E18), START_MS)
    expect(sizeOf(windows, of)).to.equal(WINDOW_SIZE_MAX)
  })

  it('is closed for 10 s, times four with each failure, at most a day, and forgets after two days (COD-009, COD-010)', () => {
    const windows = noCodeWindows()
    const waits: number[] = []
    let nowMs = START_MS
    for (let times = 1; times <= 9; times += 1) {
      const closing = { nowMs, ofSignature: false, isProven: true }
      expect(close(windows, of, closing)).to.include({ failures: times, proven: times })
      expect(close(windows, of, closing), 'while it is closed').to.equal(undefined)
      waits.push((closedUntilMs(windows, of) - nowMs) / 1_000)
      nowMs = closedUntilMs(windows, of)
    }
    expect(waits).to.deep.equal([10, 40, 160, 640, 2_560, 10_240, 40_960, 86_400, 86_400])
    const lastMs = nowMs - 86_400_000
    forgetOldFailures(windows, lastMs + WINDOW_FORGOTTEN_MS - 1)
    expect(windows.failed.size).to.equal(1)
    forgetOldFailures(windows, lastMs + WINDOW_FORGOTTEN_MS)
    expect(windows.failed.size).to.equal(0)
  })

  it('is closed for all owners of a signer by its signature alone (COD-011)', () => {
    const windows = noCodeWindows()
    close(windows, of, { nowMs: START_MS, ofSignature: false, isProven: true })
    expect(closedUntilMs(windows, other)).to.equal(0)
    close(windows, other, { nowMs: START_MS, ofSignature: true, isProven: false })
    const third = { signer: address(1), owner: address(4) }
    expect(closedUntilMs(windows, third)).to.equal(START_MS + 10_000)
    forgetOldFailures(windows, START_MS + WINDOW_FORGOTTEN_MS)
    expect([windows.failed.size, windows.signers.size]).to.deep.equal([0, 0])
  })

  it('gets a failure back by what it has paid since it is open again', () => {
    const windows = noCodeWindows()
    close(windows, of, { nowMs: START_MS, ofSignature: true, isProven: false })
    credit(windows, of, quoteE18(5n), START_MS + 9_999)
    expect(windows.failed.get(keyOf(of))).to.include({ failures: 1, credit: 5n })
    credit(windows, of, quoteE18(5n), START_MS + 10_000)
    expect(windows.paid.get(keyOf(of))).to.include({ failures: 0, credit: 10n })
    expect([windows.failed.size, windows.signers.size]).to.deep.equal([0, 0])
  })

  it('counts what was proven of its failures, and a paid match takes one of those back as well', () => {
    const windows = noCodeWindows()
    let nowMs = START_MS
    for (const [isProven, proven] of [
      [false, 0],
      [true, 1],
      [false, 1],
      [true, 2],
    ] as const) {
      expect(close(windows, of, { nowMs, ofSignature: false, isProven })).to.include({ proven })
      nowMs = closedUntilMs(windows, of)
    }
    for (const [failures, proven] of [
      [3, 1],
      [2, 0],
      [1, 0],
    ]) {
      credit(windows, of, quoteE18(1n), nowMs)
      expect(windows.failed.get(keyOf(of))).to.include({ failures, proven })
    }
  })

  it('goes out of a full table only without failures, and a table full of failures holds newcomers (COD-016)', () => {
    const windows = noCodeWindows()
    const pair = (no: number) => ({ signer: address(no), owner: address(no) })
    close(windows, of, { nowMs: START_MS, ofSignature: false, isProven: true })
    for (let no = 10; no < CODE_WINDOWS_MAX + 20; no += 1) {
      credit(windows, pair(no), quoteE18(7n), START_MS)
    }
    expect(windows.failed.size + windows.paid.size).to.equal(CODE_WINDOWS_MAX)
    expect(closedUntilMs(windows, of), 'still closed').to.equal(START_MS + 10_000)
    expect(creditOf(windows, pair(10)), 'fresh again').to.equal(0n)
    expect(creditOf(windows, pair(CODE_WINDOWS_MAX + 19))).to.equal(7n)
    expect(hasRecord(windows, pair(5))).to.equal(true)
    for (let no = 10; no < CODE_WINDOWS_MAX + 20 && hasRecord(windows, pair(5)); no += 1) {
      close(windows, pair(no), { nowMs: START_MS, ofSignature: true, isProven: false })
    }
    expect(hasRecord(windows, pair(5)), 'a newcomer').to.equal(false)
    expect(hasRecord(windows, of), 'one that is kept').to.equal(true)
    expect(hasRecord(windows, pair(CODE_WINDOWS_MAX + 19)), 'one that has paid').to.equal(true)
    expect(windows.failed.size + windows.paid.size).to.equal(CODE_WINDOWS_MAX)
    // Keys that turn code while their match is in flight have asked nothing.
    for (let no = 100_000; no < 100_010; no += 1) {
      close(windows, pair(no), { nowMs: START_MS, ofSignature: true, isProven: true })
    }
    const { failed, paid, signers } = windows
    expect([failed.size, paid.size]).to.deep.equal([CODE_WINDOWS_MAX, 0])
    expect(signers.size).to.equal(CODE_WINDOWS_MAX)
    expect(closedUntilMs(windows, of), 'still closed').to.equal(START_MS + 10_000)
    forgetOldFailures(windows, START_MS + WINDOW_FORGOTTEN_MS)
    expect(hasRecord(windows, pair(5))).to.equal(true)
  })

  it('of which nothing is known shares 600 points an hour of market time (COD-005)', () => {
    const windows = noCodeWindows()
    addPoints(windows, START_MS, 590)
    expect(hasBudget(windows, START_MS)).to.equal(true)
    addPoints(windows, START_MS, 1)
    expect(hasBudget(windows, START_MS)).to.equal(false)
    expect(hasBudget(windows, START_MS + 3_600_000)).to.equal(true)
  })
})

const plain = (no: number) => ({ signer: no, owner: no })
const code = (no: number) => ({ signer: no, owner: no, byCode: true })

/** Trades so often with one that pays, until the window has grown to the size. */
function grow(market: CodeMarket, trader: ReturnType<typeof code>, size: number): void {
  while (market.windowOf(trader).size < size) {
    market.place(trader, 'sell', { size: 2 })
    market.place(plain(9), 'buy', { size: 2 })
    market.settle(market.pending().at(-1) ?? '')
  }
}

describe('orders that code has signed', () => {
  it('have one match in flight, then as many as they have paid for (COD-001)', () => {
    const market = codeMarket()
    const { place, pending, holdOf, settle, windowOf } = market
    const asks = [1, 2, 3].map(() => place(code(1), 'sell').orderId)
    const bids = [1, 2, 3].map(() => place(plain(2), 'buy').orderId)
    expect(pending()).to.have.length(1)
    expect(asks.slice(1).map(holdOf)).to.deep.equal(['signer_waits', 'signer_waits'])
    expect(bids.map(holdOf), 'a plain key waits for none').to.deep.equal([, , ,])
    settle(pending()[0] ?? '')
    market.tick(1)
    expect(pending(), 'the next one').to.have.length(1)
    settle(pending()[0] ?? '')
    market.tick(1)
    settle(pending()[0] ?? '')
    // Three fees of 0.0025 less three gas costs of 0.001 are 0.0045: one more place for each 0.004.
    expect(windowOf(code(1)).size).to.equal(2)
  })

  it('take with IOC one match after the other, and whole with FOK no more than there is room for (COD-008)', () => {
    const market = codeMarket()
    const { place, pending, settle, holdOf, state } = market
    for (let no = 0; no < 3; no += 1) place(plain(2), 'sell')
    const fok = place(code(1), 'buy', { size: 2, fields: { timeInForce: 'FOK' } })
    expect(fok.changes.at(-1)).to.include({ status: 'cancelled', cancelReason: 'fok_unfillable' })
    expect(pending()).to.deep.equal([])
    expect(state.windows.inFlight.size, 'its trial leaves nothing').to.equal(0)
    const ioc = place(code(1), 'buy', { size: 3, fields: { timeInForce: 'IOC' } })
    expect(ioc.changes.at(-1)).to.include({ status: 'active', hold: 'signer_waits' })
    for (const left of [2, 1]) {
      expect(pending()).to.have.length(1)
      expect(state.orders.get(ioc.orderId)?.unmatched).to.equal(BigInt(left) * E18)
      settle(pending()[0] ?? '')
      market.tick(1)
    }
    expect(holdOf(ioc.orderId)).to.equal(undefined)
    settle(pending()[0] ?? '')
    expect(state.orders.has(ioc.orderId), 'filled').to.equal(false)
    const grown = codeMarket()
    grow(grown, code(1), 3)
    for (let no = 0; no < 3; no += 1) grown.place(plain(2), 'sell')
    const whole = grown.place(code(1), 'buy', { size: 3, fields: { timeInForce: 'FOK' } })
    expect(whole.changes.at(-1)).to.include({ status: 'matching' })
  })

  it('end as IOC orders where nothing but time can make room', () => {
    const market = codeMarket()
    const { place, pending, fail } = market
    place(plain(2), 'sell', { size: 5 })
    place(code(1), 'buy', { fields: { timeInForce: 'IOC' } })
    fail(pending()[0] ?? '')
    const { changes } = place(code(1), 'buy', { fields: { timeInForce: 'IOC' } })
    expect(changes).to.have.length(1)
    expect(changes[0]).to.include({ status: 'cancelled', cancelReason: 'signer_waits' })
  })

  it('of owners that are not trusted yet are twenty at most, and eight of all are in flight (COD-004, COD-006)', () => {
    const market = codeMarket()
    const { place, pending } = market
    for (let no = 0; no < UNGROWN_ORDERS_MAX; no += 1) place(code(1), 'sell')
    const refused = { kind: 'refused', code: 'signer_order_limit' }
    expect(place(code(1), 'sell').answer).to.deep.equal(refused)
    expect(place({ signer: 1, owner: 2, byCode: true }, 'sell').answer).to.include({
      kind: 'order',
    })
    for (let no = 10; no < 30; no += 1) place(code(no), 'sell')
    for (let no = 0; no < 30; no += 1) place(plain(5), 'buy')
    expect(pending()).to.have.length(TRIALS_MAX)
  })

  it('leave the book while they are closed, fifty at once and the others when they are met (COD-015)', () => {
    const market = codeMarket()
    const { place, pending, fail, state, holdOf } = market
    grow(market, code(1), 2)
    const first = place(code(1), 'sell').orderId
    const asks = Array.from({ length: 60 }, () => place(code(1), 'sell', { price: 2 }).orderId)
    place(plain(2), 'buy', { fields: { timeInForce: 'IOC' } })
    const changes = fail(pending()[0] ?? '')
    const held = changes.filter(({ kind }) => kind === 'OrderHeld')
    expect(held).to.have.length(REVIEWED_MAX_PER_STEP)
    expect(asks.filter((orderId) => holdOf(orderId) === undefined)).to.have.length(10)
    place(plain(3), 'buy', { size: 100, price: 2 })
    const waits = [first, ...asks].map(holdOf)
    expect(new Set(waits)).to.deep.equal(new Set(['signer_waits']))
    expect(state.matches.size).to.equal(0)
    market.tick(10)
    expect(state.matches.size, 'back at their place').to.be.at.least(1)
  })

  it('end with the third failure, those of this owner alone', () => {
    const market = codeMarket()
    const { place, pending, fail, state } = market
    const bad = { signer: 1, owner: 1, byCode: true }
    const good = { signer: 1, owner: 2, byCode: true }
    const kept = place(good, 'sell', { price: 5 }).orderId
    const own = Array.from({ length: 6 }, () => place(bad, 'sell').orderId)
    for (const waitSec of [10, 40, 0]) {
      place(plain(3), 'buy')
      expect(pending()).to.have.length(1)
      fail(pending()[0] ?? '', { guilty: 'maker' })
      market.tick(waitSec)
    }
    expect(own.filter((orderId) => state.orders.has(orderId))).to.deep.equal([])
    const reasons = own.map((id) => market.changes.findLast(({ orderId }) => orderId === id))
    for (const change of reasons) {
      expect(change).to.include({ status: 'cancelled', cancelReason: 'signer_unreliable' })
    }
    expect(state.orders.has(kept)).to.equal(true)
    const { answer } = place(bad, 'sell')
    expect(answer).to.deep.include({ kind: 'order' })
    expect(market.changes.at(-1)).to.include({ hold: 'signer_waits' })
  })

  it('never end without proof, and stay open where the other signer may have been code as well (COD-013)', () => {
    const market = codeMarket()
    const { place, pending, fail, state } = market
    const kept = place(code(1), 'sell', { size: 9 }).orderId
    for (let no = 0; no < 4; no += 1) {
      place(plain(20 + no), 'buy', { fields: { timeInForce: 'IOC' } })
      fail(pending()[0] ?? '', { isRead: false })
      expect(state.windows.failed.size, 'nothing is known').to.equal(0)
    }
    for (const waitSec of [10, 40, 160, 640]) {
      place(plain(30 + waitSec), 'buy', { fields: { timeInForce: 'IOC' } })
      fail(pending()[0] ?? '')
      expect(market.holdOf(kept)).to.equal('signer_waits')
      market.tick(waitSec)
    }
    expect(state.orders.get(kept)).to.include({ gone: undefined, hold: undefined })
  })

  it('end with the third failure that is proven, not with the third of any kind (COD-012)', () => {
    const market = codeMarket()
    const { place, pending, fail, state, tick } = market
    const kept = place(code(1), 'sell', { size: 9 }).orderId
    const other = place(code(1), 'sell', { price: 5 }).orderId
    const kinds = ['unclear', 'unclear', 'maker', 'maker', 'maker'] as const
    for (const [no, guilty] of kinds.entries()) {
      expect(state.orders.has(other), `after ${no}`).to.equal(true)
      const { orderId } = place(code(1), 'sell', { size: 0.5, price: 0.9 })
      place(plain(20 + no), 'buy', { fields: { timeInForce: 'IOC' } })
      fail(pending()[0] ?? '', { guilty })
      tick(10 * 4 ** no)
      expect(state.orders.has(orderId), `${no}`).to.equal(no < 4)
    }
    expect([state.orders.has(kept), state.orders.has(other)]).to.deep.equal([false, false])
  })

  it('lose no trust where the other side, or the venue, is to blame (COD-014)', () => {
    const market = codeMarket()
    const { place, pending, fail, state } = market
    for (const [no, failure] of [
      { guilty: 'taker' as const, revert: 'OV_InvalidSignature' },
      { guilty: 'unclear' as const, revert: 'NotTried' },
      { guilty: 'maker' as const, revert: 'WERC_CannotBeNegative', isMined: false },
    ].entries()) {
      place(code(10 + no), 'sell')
      place(plain(20 + no), 'buy', { fields: { timeInForce: 'IOC' } })
      fail(pending()[0] ?? '', failure)
      expect(state.windows.failed.size, failure.revert).to.equal(0)
    }
    expect(state.windows.trials.points).to.equal(0)
  })

  it('look again a hundred times a second in all, however many there are that have not paid (COD-007)', () => {
    const market = codeMarket()
    const { place, state } = market
    for (let no = 0; no < 400; no += 1) place(code(100 + no), 'sell', { price: 2 })
    place(code(1), 'sell')
    const waits = place(code(1), 'sell').orderId
    place(plain(2), 'buy', { size: 2 })
    expect(state.windows.orders).to.equal(402)
    expect(state.orders.get(waits)?.hold?.untilMs).to.equal(market.nowMs() + 4_020)
  })

  it('look again by the number of their own, not of those of other owners, once they have paid', () => {
    const market = codeMarket()
    const { place, state } = market
    grow(market, code(1), 2)
    for (let no = 0; no < 400; no += 1) place(code(100 + no), 'sell', { price: 2 })
    const asks = [1, 2, 3, 4].map(() => place(code(1), 'sell').orderId)
    place(plain(2), 'buy', { size: 4 })
    const waits = state.orders.get(asks.at(-1) ?? '')
    expect(waits?.hold?.untilMs).to.equal(market.nowMs() + 1_040)
  })
})

describe('two signers that are code whose match fails without proof', () => {
  /** What the failure of a match of the two takes from the first, who has grown. */
  function costOf(other: (market: CodeMarket) => void) {
    const market = codeMarket()
    const { state, windowOf } = market
    grow(market, code(1), 3)
    other(market)
    const before = creditOf(state.windows, windowOf(code(1)).of)
    market.place(code(3), 'sell')
    market.place(code(1), 'buy')
    market.fail(market.pending()[0] ?? '')
    const { failed, trials } = state.windows
    const cost = before - creditOf(state.windows, windowOf(code(1)).of)
    return { cost, closed: failed.size, points: trials.points }
  }

  it('stay open, and pay half of the gas each, rounded up, as far as the other can', () => {
    const toGrown = costOf((market) => grow(market, code(3), 3))
    expect(toGrown).to.deep.equal({ cost: (GAS + 1n) / 2n, closed: 0, points: 0 })
    const toFresh = costOf(() => undefined)
    expect(toFresh).to.deep.equal({ cost: 0n, closed: 0, points: 10 })
  })
})
