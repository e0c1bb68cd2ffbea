import { expect } from 'chai'
import { measureMatchers, sampleMatchers } from '../../../actors/matcher/measure.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import { noteFailedPair, repeatedPairs } from '../../../core/engine/signer-pairs.js'
import type { MarketHolds } from '../../../core/engine/state.js'
import { PAIR_WAIT_MS } from '../../../core/model/limits.js'
import type { LiveOrder } from '../../../core/model/live-order.js'
import type { ChangeFacts } from '../../../core/model/change.js'
import { alongside, createMetrics } from '../../../runtime/metrics/metrics.js'
import { createLog } from '../../../runtime/process/log.js'
import { anOrder } from '../../support/builders.js'
import { CHANGES_START_MS } from '../../support/changes.js'
import { expectAlert } from '../../e2e/stage/metrics.js'
import { signerOf } from '../../support/market-commands.js'
import { testMatcher } from '../../support/matching.js'
import { resultOf } from './stage.js'

const placed: ChangeFacts = { kind: 'OrderPlaced', order: anOrder(), rank: 1 }

describe('metrics of a matcher', () => {
  const linesOf = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
    (await metrics.text()).body.split('\n').filter((line) => line.startsWith(name))

  it('show what holds the market, by cause and reason, and no text of an operator, also that its matcher stays down', async () => {
    const metrics = createMetrics()
    const holds: MarketHolds = new Map([
      ['facts', { reason: 'prices_stale' }],
      ['operator', { reason: 'a sentence of an operator' }],
    ])
    const standing = () => ({ ready: true, detail: 'live', positions: {} })
    const waitingPairs = () => []
    sampleMatchers(
      metrics,
      () => new Map([['A', { standing, holds: () => holds, waitingPairs, trades: () => 0 }]]),
      () => ['B'],
    )
    const shown = () => linesOf(metrics, 'venue_market_held')
    const stopped = 'venue_market_held{market="B",cause="matcher",reason="cannot_start"} 1'
    expect(await shown()).to.deep.equal([
      stopped,
      'venue_market_held{market="A",cause="facts",reason="prices_stale"} 1',
      'venue_market_held{market="A",cause="operator",reason=""} 1',
    ])
    holds.clear()
    expect(await shown()).to.deep.equal([stopped])
  })

  it('show where the matcher stands, and nothing that it does not know', async () => {
    const metrics = createMetrics()
    const positions: Record<string, number> = { feed_seq: 7, command_seq: 9 }
    let ready = true
    const standing = () => ({ ready, detail: '', positions })
    const waitingPairs = () => []
    sampleMatchers(
      metrics,
      () => new Map([['A', { standing, holds: () => new Map(), waitingPairs, trades: () => 5 }]]),
      () => [],
    )
    const shown = async () => {
      const names = [
        'market_seq',
        'market_trades',
        'command_seq',
        'pending',
        'oldest',
        'late',
        'matcher_ready',
      ]
      return (await Promise.all(names.map((name) => linesOf(metrics, `venue_${name}`)))).flat()
    }
    expect(await shown()).to.deep.equal([
      'venue_market_seq{market="A"} 7',
      'venue_market_trades{market="A"} 5',
      'venue_command_seq{market="A"} 9',
      'venue_matcher_ready{market="A"} 1',
    ])
    Object.assign(positions, {
      pending_settlements: 3,
      oldest_pending_settlement_s: 2,
      late_settlements: 1,
    })
    ready = false
    expect((await shown()).slice(3)).to.deep.equal([
      'venue_pending_settlements{market="A"} 3',
      'venue_oldest_pending_settlement_seconds{market="A"} 2',
      'venue_late_settlements{market="A"} 1',
      'venue_matcher_ready{market="A"} 0',
    ])
  })

  it('name the pairs of signers that failed twice without a reason, of which VenuePairWaits fires', async () => {
    const market = testMatcher()
    market.apply({ kind: 'Tick' })
    const fail = (one: number, other: number) => {
      const order = (no: number) => ({ order: { signer: signerOf(no) } }) as LiveOrder
      noteFailedPair(market.state, order(one), order(other))
    }
    const waitingPairs = () => repeatedPairs(market.state)
    const metrics = createMetrics()
    const standing = () => ({ ready: true, detail: 'live', positions: {} })
    sampleMatchers(
      metrics,
      () => new Map([['A', { standing, holds: () => new Map(), waitingPairs, trades: () => 0 }]]),
      () => [],
    )
    const shown = () => linesOf(metrics, 'venue_pair_wait_seconds')
    fail(1, 2)
    expect(await shown()).to.deep.equal([])
    expectAlert('VenuePairWaits', [], [])
    market.advance(PAIR_WAIT_MS)
    market.apply({ kind: 'Tick' })
    fail(2, 1)
    const labels = `{market="A",signer="${signerOf(1)}",other="${signerOf(2)}"}`
    expect(await shown()).to.deep.equal([`venue_pair_wait_seconds${labels} 60`])
    const sample = { series: `venue_pair_wait_seconds${labels}`, value: '60' }
    expectAlert('VenuePairWaits', [sample], [{ series: labels, value: '60' }])
    // However many there are, the five that wait longest are named.
    for (let no = 10; no < 20; no += 1) fail(no, 1)
    market.advance(PAIR_WAIT_MS)
    market.apply({ kind: 'Tick' })
    for (let no = 10; no < 20; no += 1) fail(no, 1)
    market.advance(2 * PAIR_WAIT_MS)
    market.apply({ kind: 'Tick' })
    for (let no = 15; no < 20; no += 1) fail(no, 1)
    expect((await shown()).map((line) => line.slice(-4))).to.deep.equal(Array(5).fill(' 120'))
  })

  it('count changes with their reasons, and take the time from the command to its changes', async () => {
    const metrics = createMetrics()
    let nowMs = CHANGES_START_MS + 1_500
    const facts = alongside(
      observeMatcher(createLog('matcher', 'silent')),
      measureMatchers(metrics, () => nowMs)('A'),
    )
    facts.applied(
      resultOf(
        placed,
        { ...placed, hold: 'settlement_refused' },
        { kind: 'OrderCancelled', cancelReason: 'asked' },
        { kind: 'OrderReleased', hold: 'continuing', cancelReason: 'both' },
        { kind: 'MatchReverted', settlementId: 'A:1', revert: 'out of gas', hold: 'continuing' },
      ),
    )
    // A clock that is ahead makes no negative time, and a command without changes is not counted.
    nowMs = CHANGES_START_MS - 5_000
    facts.applied(resultOf(placed))
    facts.applied(resultOf())
    const changes = (kind: string, reason: string, count: number) =>
      `venue_changes_total{market="A",kind="${kind}",reason="${reason}"} ${count}`
    expect(await linesOf(metrics, 'venue_changes_total')).to.deep.equal([
      changes('CommandRefused', '', 0),
      changes('OrderPlaced', '', 2),
      changes('OrderPlaced', 'settlement_refused', 1),
      changes('OrderCancelled', 'asked', 1),
      changes('OrderReleased', 'both', 1),
      changes('MatchReverted', 'OutOfGas', 1),
    ])
    expect(await linesOf(metrics, 'venue_order_matched_seconds_')).to.include.members([
      'venue_order_matched_seconds_sum{market="A"} 1.5',
      'venue_order_matched_seconds_count{market="A"} 2',
    ])
  })

  it('take the time of settlements, and know the newest checkpoint and each that failed', async () => {
    const metrics = createMetrics()
    let nowMs = 5_000
    const facts = alongside(
      observeMatcher(createLog('matcher', 'silent')),
      measureMatchers(metrics, () => nowMs)('A'),
    )
    const newest = async () => (await linesOf(metrics, 'venue_checkpoint_timestamp'))[0]
    const at = (seconds: number) => `venue_checkpoint_timestamp_seconds{market="A"} ${seconds}`
    expect(await newest()).to.equal(at(5))
    nowMs = 6_000
    facts.restored(3)
    expect(await newest()).to.equal(at(6))
    nowMs = 7_000
    facts.checkpointWritten({ commandSeq: 1, trailerSeq: 2, firstSeq: 1, storedAtMs: 0 }, 5)
    expect(await newest()).to.equal(at(7))
    nowMs = 8_000
    facts.checkpointFailed(new Error('no room'))
    expect(await newest()).to.equal(at(7))
    expect(await linesOf(metrics, 'venue_checkpoint_failures')).to.deep.equal([
      'venue_checkpoint_failures_total{market="A"} 1',
    ])
    facts.settled('A:1', 2_500)
    expect(await linesOf(metrics, 'venue_settlement_seconds_sum')).to.deep.equal([
      'venue_settlement_seconds_sum{market="A"} 2.5',
    ])
  })
})
