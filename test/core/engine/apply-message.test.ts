import { expect } from 'chai'
import fc from 'fast-check'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import type { Block } from '../../../core/model/change.js'
import type { Command, LoggedCommand } from '../../../core/model/command.js'
import { SWEEP_MAX_MATCHES } from '../../../core/model/limits.js'
import { amountE18, E18 } from '../../../core/money.js'
import { openedState } from '../../support/builders.js'
import { commandOf, ruledActs, type MarketAct } from '../../support/market-commands.js'
import { matcherOrder, START_MS, testMatcher } from '../../support/matching.js'
import { runs } from '../../support/property-runs.js'

/** A log of messages of a few commands each, as random acts on a live market would have written it. */
function recordLog(acts: readonly MarketAct[], perMessage: number): LoggedCommand[][] {
  const market = testMatcher()
  const settlementIds: string[] = []
  const log: LoggedCommand[][] = []
  let placed = 0
  for (const [index, act] of acts.entries()) {
    if (act.act === 'wait') market.advance(act.sec * 1000)
    const command = commandOf(act, { placed, nowMs: market.nowMs(), settlementIds })
    if (command.kind === 'PlaceOrder') placed += 1
    for (const change of market.apply(command).changes) {
      if (change.kind === 'OrderMatched') settlementIds.push(change.match.settlementId)
    }
    if (index % perMessage === 0) log.push([])
    log.at(-1)?.push({ source: 'test', sourceNo: index + 1, atMs: market.nowMs(), command })
  }
  return log
}

function replay(log: readonly LoggedCommand[][]): Block[] {
  const state = openedState({ ordinal: 1 })
  return log.flatMap((commands, index) =>
    [...applyMessage(state, index + 1, commands)].flatMap(({ block }) => block ?? []),
  )
}

const bytes = (blocks: readonly Block[]): string =>
  JSON.stringify(blocks, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))

const at = (sourceNo: number, command: Command): LoggedCommand => ({
  source: 'test',
  sourceNo,
  atMs: START_MS,
  command,
})

describe('apply-message', () => {
  it('gives the same blocks for the same log, and one contiguous run of seq (MAT-010, STR-001)', () => {
    fc.assert(
      fc.property(ruledActs(80), fc.integer({ min: 1, max: 7 }), (acts, perMessage) => {
        const log = recordLog(acts, perMessage)
        const blocks = replay(log)
        expect(bytes(replay(log))).to.equal(bytes(blocks))
        const seqs = blocks.flatMap((block) => block.changes.map((change) => change.seq))
        expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1))
        let next = 1
        for (const { firstSeq, changes } of blocks) {
          expect(firstSeq).to.equal(next)
          next += changes.length
        }
      }),
      { numRuns: runs(100) },
    )
  })

  it('a message delivered twice makes its changes once', () => {
    fc.assert(
      fc.property(ruledActs(40), (acts) => {
        const log = recordLog(acts, 3)
        const changes = (blocks: readonly Block[]) =>
          bytes(blocks.map((it) => ({ ...it, commandSeq: 0 })))
        expect(changes(replay(log.flatMap((message) => [message, message])))).to.equal(
          changes(replay(log)),
        )
      }),
      { numRuns: runs(50) },
    )
  })

  it('cuts a long message into blocks that the bus can carry, at the same places every time', () => {
    const longest = (index: number) => `${'€'.repeat(120)}${index}`
    const place = (index: number, side: 'buy' | 'sell', fields = {}) => {
      const terms = { orderId: longest(index), side, nonce: BigInt(index), ...fields }
      const order = matcherOrder(terms)
      const signature = `0x${'ab'.repeat(4_000)}` as const
      return at(index, { kind: 'PlaceOrder', order: { ...order, signature } })
    }
    const resting = Array.from({ length: 2 * SWEEP_MAX_MATCHES }, (_, index) =>
      place(index + 1, 'sell', { subaccountId: 2n }),
    )
    const sweep = { desiredAmount: amountE18(10_000n * E18) }
    const log = [resting.slice(0, 200), [...resting.slice(200), place(1_000, 'buy', sweep)]]
    const blocks = replay(log)
    expect(blocks.length).to.be.greaterThan(10)
    for (const block of blocks) expect(encodeBlock(block).length).to.be.below(700_000)
    expect(blocks.at(-1)?.changes.length).to.be.greaterThan(SWEEP_MAX_MATCHES)
    expect(bytes(replay(log))).to.equal(bytes(blocks))
  })

  it('closes a block at the same weight in every release: a log is cut as it was published', () => {
    const orders = Array.from({ length: 250 }, (_, n) =>
      matcherOrder({
        orderId: `${n}`.padEnd(100, '-'),
        side: 'sell',
        nonce: BigInt(n),
        signature: `0x${'ab'.repeat(399)}`,
      }),
    )
    const state = openedState({ ordinal: 1 })
    const cuts = (commandSeq: number, commands: readonly Command[]): number[] => {
      const logged = commands.map((command, n) => at(1_000 * commandSeq + n, command))
      return [...applyMessage(state, commandSeq, logged)].map(({ results }) => results.length)
    }
    const placed = orders.map((order): Command => ({ kind: 'PlaceOrder', order }))
    // 600 and 800 with an order, three for each sign of its id, its signature: 2,500 of 250,000.
    expect(cuts(1, placed)).to.deep.equal([100, 100, 50])
    const cancels = orders.map(({ owner, nonce }): Command => ({
      kind: 'CancelOrder',
      owner,
      nonce,
      reason: 'user',
    }))
    // 600, and three times three for each sign: 1,500.
    expect(cuts(2, cancels)).to.deep.equal([167, 83])
  })

  it('a message that changes nothing makes no block, but its answers', () => {
    const state = openedState({ ordinal: 1 })
    const cancel = at(1, { kind: 'CancelOrder', owner: '0x1', nonce: 1n, reason: 'x' })
    const [only, ...more] = [...applyMessage(state, 1, [cancel])]
    expect(more).to.deep.equal([])
    expect(only?.block).to.equal(undefined)
    expect(only?.results[0]?.applied.answer).to.deep.equal({
      kind: 'refused',
      code: 'active_order_not_found',
    })
  })

  it('a sweep stops at the limit, hidden, and goes on by ContinueOrder (MAT-011)', () => {
    const { apply, state } = testMatcher()
    for (let index = 0; index < SWEEP_MAX_MATCHES + 3; index++) {
      const order = matcherOrder({ orderId: `s${index}`, side: 'sell', subaccountId: 2n })
      apply({ kind: 'PlaceOrder', order })
    }
    const order = matcherOrder({
      orderId: 'sweep',
      side: 'buy',
      desiredAmount: amountE18(100_000n * E18),
    })
    const swept = apply({ kind: 'PlaceOrder', order })
    expect(swept.changes.length).to.equal(SWEEP_MAX_MATCHES + 1)
    expect(swept.continueOrderIds).to.deep.equal(['sweep'])
    expect(swept.changes.at(-1)).to.include({ kind: 'OrderPlaced', hold: 'continuing', open: 0n })
    const continued = apply({ kind: 'ContinueOrder', orderId: 'sweep' })
    expect(continued.changes.length).to.equal(4)
    expect(continued.continueOrderIds).to.deep.equal([])
    expect(state.book.sell.levels).to.deep.equal([])
  })
})
