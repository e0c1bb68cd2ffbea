import { expect } from 'chai'
import { decodeCancelsAnswer } from '../../../bus-schemas/cancels.js'
import { decodeMarketAnswer } from '../../../bus-schemas/markets.js'
import { decodeOrderAnswer } from '../../../bus-schemas/orders.js'
import { feedStream } from '../../../bus-schemas/subjects.js'
import { LEASE_MAX_SEC } from '../../../core/limits.js'
import type { Command } from '../../../core/model/command.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import {
  aheadOfTicks,
  appendCommands,
  placeOrder,
  stageMarket,
  startOn,
  type StartedMatcher,
} from './stage.js'

const owner = `0x${'a'.repeat(40)}` as const
const reason = 'asked'
const answered = { kind: 'refused' } as const

/** What a caller gets for its command, from the log to the words. */
describe('the answers of a matcher', () => {
  let bus: MemoryBus
  let started: StartedMatcher
  let elapsedMs: number
  let replies: [to: string, data: Uint8Array][]
  let looks: number

  beforeEach(async () => {
    bus = createMemoryBus()
    elapsedMs = 0
    replies = []
    looks = 0
    const own: Bus = {
      ...bus.connect(),
      reply: (to, data) => void replies.push([to, data]),
      lastMessage: (stream) => {
        if (stream === feedStream(stageMarket.market)) looks += 1
        return bus.lastMessage(stream)
      },
    }
    started = await startOn(own, { elapsedMs: () => elapsedMs, nowMs: aheadOfTicks })
  })
  afterEach(async () => {
    await started.matcher.stop()
    expect(started.fatal).to.deep.equal([])
  })

  async function ask(command: Command): Promise<Uint8Array> {
    const before = replies.length
    await appendCommands(bus, [command], { replyTo: 'caller' })
    await eventually(() => replies.length > before)
    const [to, data = new Uint8Array()] = replies.at(-1) ?? []
    expect(to).to.equal('caller')
    return data
  }
  const asked = async (command: Command) => decodeOrderAnswer(await ask(command))
  const askedForMany = async (command: Command) => decodeCancelsAnswer(await ask(command))
  const place = (orderId: string, nonce: bigint) =>
    asked(placeOrder({ orderId, nonce, side: 'buy', owner }))

  it('show the order, its market and the seq that a read must show', async () => {
    const answer = await place('o', 1n)
    expect(answer).to.deep.nested.include({
      kind: 'order',
      feed_seq: 1,
      market: stageMarket.market,
      'order.orderId': 'o',
      'progress.status': 'active',
    })
    expect(await asked({ kind: 'CancelOrder', owner, nonce: 1n, reason })).to.deep.nested.include({
      kind: 'order',
      feed_seq: 2,
      'progress.status': 'cancelled',
    })
  })

  it('refuse in the form that the caller of the command reads, with why the step cannot carry it out', async () => {
    const rules = { tickSize: priceE18(0n) }
    const set = await ask({ kind: 'MarketRulesSet', rules, by: 'ada', reason })
    expect(decodeMarketAnswer(set)).to.deep.equal({
      ...answered,
      message: 'a step is not more than 0',
    })
    const tooLong = { kind: 'SetLease', owner, seconds: LEASE_MAX_SEC + 1, opens: true } as const
    expect(await askedForMany(tooLong)).to.have.nested.include({
      ...answered,
      'refusal.code': 'command_refused',
    })
  })

  it('say of a reduction that is not possible what would be', async () => {
    await place('o', 1n)
    const reduce = { kind: 'ReduceOrder', owner, nonce: 1n, reason } as const
    const answer = await asked({ ...reduce, desired: amountE18(11n * E18) })
    expect(answer).to.deep.nested.include({
      ...answered,
      'refusal.code': 'reduction_not_smaller',
      'refusal.status': 422,
      'refusal.message': 'desired_amount must be at most 10, which the order asks for now',
    })
    await asked(
      placeOrder({
        orderId: 's',
        side: 'sell',
        subaccountId: 2n,
        desiredAmount: amountE18(4n * E18),
      }),
    )
    expect(await asked({ ...reduce, desired: amountE18(E18) })).to.deep.nested.include({
      ...answered,
      'refusal.code': 'reduction_too_small',
      'refusal.message': 'desired_amount must be 0 or at least 4, which is filled or pending',
    })
  })

  it('name the order that a repeat has repeated, and no other refusal names one', async () => {
    await place('o', 1n)
    for (const [by, code] of [
      ['order_id', 'duplicate_order_id'],
      ['nonce', 'duplicate_nonce'],
    ] as const) {
      expect(await asked({ kind: 'RepeatOrder', orderId: 'o', by })).to.deep.nested.include({
        ...answered,
        'refusal.code': code,
        'refusal.existingOrderId': 'o',
      })
    }
    const none = await asked({ kind: 'CancelOrder', owner, nonce: 9n, reason })
    expect(none).to.have.nested.property('refusal.code', 'active_order_not_found')
    expect(none).not.to.have.nested.property('refusal.existingOrderId')
  })

  it('tell of each order that was to be cancelled, and when a lease ends', async () => {
    await place('o', 1n)
    const cancels = await askedForMany({
      kind: 'CancelOrders',
      owner,
      orderIds: ['o', 'none'],
      reason,
    })
    expect(cancels).to.deep.include({ kind: 'cancels', feed_seq: 2, left: 0 })
    expect(cancels.kind === 'cancels' && cancels.outcomes.map(({ kind }) => kind)).to.deep.equal([
      'cancelled',
      'not_cancelled',
    ])
    const lease = { kind: 'SetLease', owner, leaseId: 'l', seconds: 60 } as const
    const set = await askedForMany({ ...lease, opens: true })
    expect(set.kind === 'lease' && set.ends_at_ms).to.be.greaterThan(Date.now())
    expect(await askedForMany({ ...lease, leaseId: 'other', opens: false })).to.deep.nested.include(
      {
        ...answered,
        'refusal.code': 'lease_ended',
      },
    )
  })

  it('follow a look at the feed only where a caller waits and no block was made lately', async () => {
    elapsedMs = 60_000
    const before = looks
    const { command_seq } = started.matcher.positions()
    // Ticks change nothing here, and no caller waits for them.
    await eventually(() => started.matcher.positions().command_seq > command_seq + 3)
    await appendCommands(bus, [{ kind: 'CancelOrder', owner, nonce: 9n, reason }])
    const { command_seq: behind } = started.matcher.positions()
    await eventually(() => started.matcher.positions().command_seq > behind + 1)
    expect(looks).to.equal(before)
    await asked({ kind: 'CancelOrder', owner, nonce: 9n, reason })
    expect(looks).to.equal(before + 1)
    // The look is proof for a while.
    await asked({ kind: 'CancelOrder', owner, nonce: 9n, reason })
    expect(looks).to.equal(before + 1)
  })
})
