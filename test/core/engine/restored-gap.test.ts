import { expect } from 'chai'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import type { Block } from '../../../core/model/change.js'
import type { Command, ObservedGap } from '../../../core/model/command.js'
import { RESTORED_SEQ_JUMP } from '../../../core/model/limits.js'
import { amountE18, E18 } from '../../../core/money.js'
import { openedState } from '../../support/builders.js'
import { matcherOrder, START_MS, testMatcher, type OrderFields } from '../../support/matching.js'

const BY = { by: 'ada', reason: 'restored' }
const NONE: ObservedGap = { filled: [], used: [], fills: [] }
const units = (whole: bigint) => amountE18(whole * E18)
const place = (fields: OrderFields): Command => ({
  kind: 'PlaceOrder',
  order: matcherOrder({ subaccountId: fields.side === 'buy' ? 1n : 2n, ...fields }),
})
const restored: Command = { kind: 'MarketRestored', ...BY }
const observed = (gap: Partial<ObservedGap>, more = false): Command => ({
  kind: 'GapObserved',
  gap: { ...NONE, ...gap },
  more,
})

describe('a market that is restored with a gap', () => {
  it('goes on behind the jump, cancels what was open with what the chain has filled, and matches nothing (OPE-025)', () => {
    const market = testMatcher()
    market.apply(place({ orderId: 'quiet', side: 'sell' }))
    market.apply(place({ orderId: 'partly', side: 'sell' }))
    market.apply(place({ orderId: 'wholly', side: 'sell' }))
    const before = market.state.seq
    expect(market.apply(restored).terms?.standing).to.deep.equal({
      status: 'held',
      reason: 'restored',
    })
    market.apply(observed({ filled: [{ orderId: 'partly', filled: units(4n) }] }, true))
    expect(market.state.orders.has('quiet')).to.equal(true)
    market.apply(observed({ filled: [{ orderId: 'wholly', filled: units(10n) }] }))
    market.apply({ kind: 'Tick' })
    const cancelled = market.changes.slice(3)
    expect(
      cancelled.map((change) => [change.seq - before - RESTORED_SEQ_JUMP, change.orderId]),
    ).to.deep.equal([
      [1, 'partly'],
      [2, 'wholly'],
      [3, 'quiet'],
    ])
    for (const change of cancelled)
      expect(change).to.include({ kind: 'OrderCancelled', cancelReason: 'restored', open: 0n })
    expect(cancelled.map(({ filled }) => filled)).to.deep.equal([units(4n), units(10n), 0n])

    market.apply(place({ orderId: 'ask', side: 'sell' }))
    expect(market.apply(place({ orderId: 'bid', side: 'buy' })).changes).to.have.length(1)
    const { terms } = market.apply({ kind: 'GapAccepted', ...BY })
    expect(terms?.standing).to.deep.equal({ status: 'open' })
    const kinds = market.apply({ kind: 'Tick' }).changes.map(({ kind }) => kind)
    expect(kinds).to.deep.equal(['OrderMatched', 'OrderReleased'])
  })

  it('takes back nothing of a match that fails after it, and counts one that was settled', () => {
    for (const outcome of [
      { kind: 'success', txHash: '0x01', blockNumber: 1n },
      { kind: 'reverted', revert: 'not_carried_out', guilty: 'unclear' },
    ] as const) {
      const market = testMatcher()
      market.apply(place({ orderId: 'ask', side: 'sell' }))
      market.apply(place({ orderId: 'bid', side: 'buy' }))
      const [settlementId = ''] = market.state.matches.keys()
      for (const command of [restored, observed({})]) market.apply(command)
      market.apply({ kind: 'SettlementReported', settlementId, outcome })
      market.apply({ kind: 'Tick' })
      expect(market.state.orders.size).to.equal(0)
      expect(market.changes.slice(-2).map(({ status }) => status)).to.deep.equal(
        outcome.kind === 'success' ? ['filled', 'filled'] : ['cancelled', 'cancelled'],
      )
    }
  })

  it('never counts more than an order asks for, nor less than the log knows', () => {
    const market = testMatcher()
    market.apply(place({ orderId: 'ask', side: 'sell' }))
    market.apply(place({ orderId: 'bid', side: 'buy', desiredAmount: units(4n) }))
    market.apply(restored)
    market.apply(observed({ filled: [{ orderId: 'ask', filled: units(11n) }] }))
    expect(market.changes.at(-1)).to.include({ orderId: 'ask', filled: units(6n) })
  })

  it('passes over orders that it does not know, or that have ended, and what it has counted', () => {
    const market = testMatcher()
    market.apply(place({ orderId: 'ask', side: 'sell', nonce: 1n }))
    market.apply(place({ orderId: 'bid', side: 'buy', desiredAmount: units(4n) }))
    const [settlementId = ''] = market.state.matches.keys()
    const outcome = { kind: 'success', txHash: '0x01', blockNumber: 1n } as const
    market.apply(place({ orderId: 'other', side: 'buy', desiredAmount: units(1n) }))
    market.apply({ kind: 'SettlementReported', settlementId, outcome })
    const { orderId: ended, order } = market.state.orders.get('ask') ?? { orderId: '' }
    market.apply(restored)
    const before = market.changes.length
    const filled = [
      { orderId: 'unknown', filled: units(5n) },
      { orderId: ended, filled: units(4n) },
      { orderId: ended, filled: units(3n) },
    ]
    market.apply(observed({ filled }, true))
    expect(market.changes).to.have.length(before)
    const { owner = '0x', nonce = 0n } = order ?? {}
    market.apply({ kind: 'CancelOrder', owner, nonce, reason: 'user' })
    market.apply(observed({ filled: [{ orderId: ended, filled: units(9n) }] }, true))
    expect(market.changes.slice(before).map(({ kind }) => kind)).to.deep.equal(['OrderCancelled'])
    expect(market.state.orders.get('ask')?.filled).to.equal(units(4n))
  })

  it('gives blocks whose first change is far beyond the one before, and no block holds both', () => {
    const state = openedState({ ordinal: 1, contractType: 'spot', takerFeeBps: 25 })
    const logged = [
      place({ orderId: 'ends', side: 'sell', goodUntilSec: START_MS / 1000 + 30 }),
      place({ orderId: 'stays', side: 'sell' }),
      restored,
      observed({}),
      { kind: 'Tick' } as const,
    ].map((command, i) => ({
      source: 'test',
      sourceNo: i + 1,
      command,
      // The first order ends by its time in the very step of the restore.
      atMs: START_MS + (i < 2 ? 0 : 40_000),
    }))
    const blocks = [...applyMessage(state, 9, logged)].flatMap(({ block }): Block[] =>
      block === undefined ? [] : [block],
    )
    expect(blocks.map(({ firstSeq, changes }) => [firstSeq, changes.length])).to.deep.equal([
      [1, 2],
      [RESTORED_SEQ_JUMP + 3, 2],
    ])
    expect(blocks.map((block) => decodeBlock(encodeBlock(block)))).to.deep.equal(blocks)
  })
})
