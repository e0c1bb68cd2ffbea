import { expect } from 'chai'
import fc from 'fast-check'
import type { Block, Change } from '../../../core/model/change.js'
import type { OrderStatus } from '../../../core/model/order.js'
import { amountE18 } from '../../../core/money.js'
import {
  FORGOTTEN_PER_CHANGE,
  RETENTION_MS,
  type StreamedBlock,
} from '../../../data/history/project.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { allRows, openHistory, streamed } from '../../support/history.js'
import { marketActs, START_MS, type MarketAct } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'

const SPOT = { market: 'cNGN-USDC', ordinal: 0 }
const DAY_SEC = 86_400
const place = (over: Partial<Extract<MarketAct, { act: 'place' }>> = {}): MarketAct => ({
  act: 'place',
  buy: true,
  price: 95,
  size: 1,
  trader: 1,
  livesSec: 400 * DAY_SEC,
  unchecked: false,
  ...over,
})
const wait = (sec: number): MarketAct => ({ act: 'wait', sec })
const cancel = (placed: number): MarketAct => ({ act: 'cancel', pick: placed - 1 })

/** The order ids that are left when these acts have been projected. */
const left = (acts: readonly MarketAct[]): string[] => leftOf([streamed(feedOf(SPOT, acts))])

/** The same for blocks in transactions. */
function leftOf(batches: readonly (readonly StreamedBlock[])[]): string[] {
  const history = openHistory([SPOT])
  try {
    for (const batch of batches) history.projection.applyBatch(batch)
    return history.db
      .prepare<[], string>('SELECT order_id FROM orders ORDER BY order_key')
      .pluck()
      .all()
      .map((id) => id.slice(SPOT.market.length + 1))
  } finally {
    history.remove()
  }
}

describe('orders that leave the read model', () => {
  it('have been cancelled without a fill for thirty days, to the millisecond (REA-030)', () => {
    const cancelled = [place(), wait(5), cancel(1)]
    expect(left([...cancelled, wait(30 * DAY_SEC - 1), place()])).to.deep.equal(['o1', 'o2'])
    expect(left([...cancelled, wait(30 * DAY_SEC), place()])).to.deep.equal(['o2'])
  })

  it('have expired without a fill, counted from then and not from their creation (REA-030)', () => {
    const expired = [place({ livesSec: 10 * DAY_SEC }), wait(10 * DAY_SEC)]
    expect(left([...expired, wait(30 * DAY_SEC - 1), place()])).to.deep.equal(['o1', 'o2'])
    expect(left([...expired, wait(30 * DAY_SEC), place()])).to.deep.equal(['o2'])
  })

  it('leave with the match that kept them, when it is undone long after their end', () => {
    const ended: MarketAct[] = [
      place({ size: 5 }),
      place({ buy: false, size: 2, trader: 2 }),
      cancel(1),
      wait(31 * DAY_SEC),
    ]
    const later = [place({ price: 94 }), place({ price: 93 })]
    expect(left([...ended, ...later])).to.deep.equal(['o1', 'o2', 'o3', 'o4'])
    const undone: MarketAct = { act: 'settle', pick: 0, outcome: 'maker' }
    const blocks = streamed(feedOf(SPOT, [...ended, ...later, undone]))
    for (let grouped = 1; grouped <= blocks.length; grouped++) {
      expect(leftOf([blocks.slice(0, -grouped), blocks.slice(-grouped)])).to.not.include('o1')
    }
  })

  it('are never those that traded, still live, or were filled (REA-031)', () => {
    const traded: MarketAct[] = [
      place({ size: 5 }),
      place({ buy: false, size: 2, trader: 2 }),
      { act: 'settle', pick: 0, outcome: 'success' },
      cancel(1),
      place({ price: 94 }),
    ]
    expect(left([...traded, wait(300 * DAY_SEC), place()])).to.deep.equal(['o1', 'o2', 'o3', 'o4'])
  })

  it('are gone for every read, while the book and the others stay', () => {
    const history = openHistory([SPOT])
    const reads = openReadModel(history.path)
    try {
      const acts = [place(), cancel(1), place({ price: 94 }), wait(31 * DAY_SEC), place()]
      history.projection.applyBatch(streamed(feedOf(SPOT, acts)))
      const [second] = reads.openOrders(SPOT.market)
      expect(reads.order(`${SPOT.market}/o1`)).to.equal(undefined)
      expect(reads.orderHistory(second?.order.owner ?? '0x', { limit: 9 })).to.have.length(2)
      expect(reads.openOrders(SPOT.market)).to.have.length(2)
    } finally {
      reads.close()
      history.remove()
    }
  })

  it('wait for what is pending, which may yet make them an order that traded', () => {
    const history = openHistory([SPOT])
    try {
      const acts: MarketAct[] = [
        place({ size: 5 }),
        place({ buy: false, size: 2, trader: 2 }),
        cancel(1),
        wait(31 * DAY_SEC),
        place(),
        { act: 'settle', pick: 0, outcome: 'success' },
        wait(31 * DAY_SEC),
        place(),
      ]
      history.projection.applyBatch(streamed(feedOf(SPOT, acts)))
      expect(history.db.prepare('SELECT count(*) FROM orders').pluck().get()).to.equal(4n)
    } finally {
      history.remove()
    }
  })

  it('leave a few at a time, so that no block has much to do', () => {
    const history = openHistory([SPOT])
    try {
      const many = 50
      const acts = Array.from({ length: many }, (_, index) => [place(), cancel(index + 1)]).flat()
      const blocks = feedOf(SPOT, [...acts, wait(31 * DAY_SEC), place(), place(), place()])
      const count = (): unknown => history.db.prepare('SELECT count(*) FROM orders').pluck().get()
      const steps = streamed(blocks)
      history.projection.applyBatch(steps.slice(0, -3))
      const counts = steps.slice(-3).map((step) => {
        history.projection.applyBatch([step])
        return Number(count())
      })
      const perBlock = 1 - FORGOTTEN_PER_CHANGE
      expect(counts).to.deep.equal(
        [1, 2, 3].map((blocksApplied) => many + blocksApplied * perBlock),
      )
    } finally {
      history.remove()
    }
  })

  it('are the same however blocks are grouped, and exactly those that a naive rule names', () => {
    const anyMonths = fc.tuple(marketActs(120), fc.integer({ min: 1, max: 9 }))
    fc.assert(
      fc.property(anyMonths, ([acts, size]) => {
        // Each second of waiting becomes a day, so that months pass. No chain takes a match back after months.
        const slow = acts
          .filter(({ act }) => act !== 'reverse')
          .map((act) => (act.act === 'wait' ? wait(act.sec * DAY_SEC) : act))
        const blocks = feedOf(SPOT, slow)
        const once = openHistory([SPOT])
        const stepwise = openHistory([SPOT])
        try {
          const messages = streamed(blocks)
          once.projection.applyBatch(messages)
          for (let at = 0; at < messages.length; at += size) {
            stepwise.projection.applyBatch(messages.slice(at, at + size))
          }
          expect(allRows(stepwise.db)).to.deep.equal(allRows(once.db))
          const kept = once.db.prepare<[], string>('SELECT order_id FROM orders').pluck().all()
          for (const id of staying(blocks)) expect(kept).to.include(id)
        } finally {
          once.remove()
          stepwise.remove()
        }
      }),
      { numRuns: runs(20) },
    )
  })
})

/** Orders that must not have left: alive, pending, traded, or ended within thirty days of the last change. */
function staying(blocks: readonly Block[]): string[] {
  const last = new Map<
    string,
    { status: OrderStatus; pending: bigint; endMs?: number; traded: boolean }
  >()
  const changes = blocks.flatMap((block): readonly Change[] => block.changes)
  for (const { orderId, status, pending, atMs, kind } of changes) {
    const known = last.get(orderId)
    const ended =
      status === 'cancelled' || status === 'expired' ? (known?.endMs ?? atMs) : undefined
    const traded = (known?.traded ?? false) || kind === 'OrderFilled'
    last.set(orderId, { status, pending, traded, ...(ended === undefined ? {} : { endMs: ended }) })
  }
  const nowMs = changes.at(-1)?.atMs ?? START_MS
  return [...last]
    .filter(
      ([, { pending, endMs, traded }]) =>
        traded || pending > amountE18(0n) || endMs === undefined || endMs > nowMs - RETENTION_MS,
    )
    .map(([orderId]) => orderId)
}
