import { expect } from 'chai'
import type { Matcher } from '../../../actors/matcher/matcher.js'
import { answerPings } from '../../../actors/matcher/measure.js'
import { observeMatcher, type MatcherObserver } from '../../../actors/matcher/observe.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { ChangeFacts } from '../../../core/model/change.js'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { Logger } from '../../../runtime/process/log.js'
import { aFill, anOrder } from '../../support/builders.js'
import { CHANGES_START_MS } from '../../support/changes.js'
import { eventually } from '../../support/eventually.js'
import { loggedPlacement as placement, resultOf } from './stage.js'

const placed: ChangeFacts = { kind: 'OrderPlaced', order: anOrder(), rank: 1 }

describe('the log of a matcher', () => {
  let lines: [level: string, fields: Record<string, unknown>][]
  let isDebugged: boolean
  let facts: MatcherObserver
  beforeEach(() => {
    lines = []
    isDebugged = true
    const at = (level: string) => (fields: Record<string, unknown>) =>
      void lines.push([level, fields])
    const log: Partial<Record<keyof Logger, unknown>> = {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      isLevelEnabled: (level: string) => isDebugged || level !== 'debug',
    }
    facts = observeMatcher(log as Partial<Logger> as Logger)
  })

  it('warns of a settlement without an outcome when that is late, not while it asks again', () => {
    // As at every start that comes before the executor's.
    facts.settlementUnknown('s-1', 'no answer: connect ECONNREFUSED')
    expect(lines.map(([level]) => level)).to.deep.equal(['info'])
    facts.settlementLate('s-1', 60_000)
    expect(lines[1]).to.deep.equal(['warn', { settlement_id: 's-1', age_ms: 60_000 }])
  })

  it('has a line for each fact, with what it is about', () => {
    const settlement_id = 'A:1'
    const why = 'silence'
    const error = new Error('lost')
    const stored = { commandSeq: 9, trailerSeq: 5, firstSeq: 3, storedAtMs: 0 }
    const who = { by: 'ada', reason: 'tariff' }
    const change = { kind: 'pause' } as const
    const proof = { key: 'U', issued_at_ms: 1, nonce: 'n', signature: 's' }
    facts.caughtUp({ command_seq: 1 }, 2)
    facts.restored(3)
    facts.leads({ term: 4, id: 'one' }, { feed_seq: 5 })
    facts.checkpointWritten(stored, 7)
    facts.checkpointFailed(error)
    facts.checkpointUnusable(stored, why)
    facts.commandsTrimmed(6)
    facts.appendUnknown('block', error)
    facts.settlementAsked(settlement_id)
    facts.settlementUnknown(settlement_id, why)
    facts.settled(settlement_id, 8)
    facts.lateSettled(settlement_id, 9)
    facts.reversalsUnread(why)
    facts.reversalWaits(settlement_id, why)
    facts.settlementRefused(settlement_id, why)
    facts.clockAhead(placement, CHANGES_START_MS - 10)
    facts.commandForeign(placement, 'commands.A')
    facts.operatorRefused({ ...who, request_id: 'r', change, proof }, why)
    facts.operatorRefused({ ...who, request_id: 'r', change }, why)
    facts.operatorAsks({ kind: 'MarketPaused', ...who })
    facts.engineSet(2, false)
    facts.engineWaits(2, why)
    facts.engineNotLowered(1, 2)
    expect(lines).to.deep.equal([
      ['info', { command_seq: 1, pending_matches: 2 }],
      ['info', { command_seq: 3 }],
      ['info', { term: 4, id: 'one', feed_seq: 5 }],
      ['info', { command_seq: 9, messages: 3, ms: 7 }],
      ['warn', { err: error }],
      ['error', { command_seq: 9, why }],
      ['info', { first_seq: 6 }],
      ['warn', { err: error, what: 'block' }],
      ['debug', { settlement_id }],
      ['info', { settlement_id, why }],
      ['debug', { settlement_id, age_ms: 8 }],
      ['warn', { settlement_id, age_ms: 9 }],
      ['warn', { why }],
      ['error', { settlement_id, why }],
      ['error', { settlement_id, why }],
      ['error', { source: 'intake', ahead_ms: 10 }],
      ['error', { source: 'intake', kind: 'PlaceOrder', subject: 'commands.A' }],
      ['warn', { ...who, change: 'pause', key: 'U', problem: why }],
      ['warn', { ...who, change: 'pause', key: undefined, problem: why }],
      ['info', { command: 'MarketPaused', ...who }],
      ['warn', { engine_version: 2 }],
      ['warn', { engine_version: 2, why }],
      ['warn', { asked: 1, engine_version: 2 }],
    ])
  })

  it('has a line for each change, those that the gateway logs too only when it is asked for', () => {
    const { settlementId, takerOrderId, tradeId, liquidity, txHash } = aFill()
    const result = resultOf(
      placed,
      { kind: 'OrderMatched', match: aFill() },
      { kind: 'OrderFilled', fill: aFill() },
      { kind: 'FillReversed', fill: aFill(), revert: 'TM_X' },
      { kind: 'MatchReverted', settlementId, revert: 'TM_Y' },
      { kind: 'OrderCancelled', cancelReason: 'asked' },
    )
    facts.applied(result)
    const base = { order_id: 'order-1', status: 'active', open: '5', request_id: undefined }
    const fill = {
      settlement_id: settlementId,
      trade_id: tradeId,
      liquidity,
      tx_hash: txHash,
    }
    const all = [
      ['debug', { ...base, seq: 1, request_id: 'r1' }],
      [
        'info',
        {
          ...base,
          seq: 2,
          settlement_id: settlementId,
          taker_order_id: takerOrderId,
          amount: '1000',
          price: '0.00065',
        },
      ],
      ['info', { ...base, seq: 3, ...fill }],
      ['info', { ...base, seq: 4, ...fill, revert: 'TM_X' }],
      ['info', { ...base, seq: 5, settlement_id: settlementId, revert: 'TM_Y' }],
      ['debug', { ...base, seq: 6 }],
    ]
    expect(lines).to.deep.equal(all)
    isDebugged = false
    lines = []
    facts.applied(result)
    expect(lines).to.deep.equal(all.slice(1, 5))
  })
})

describe('pings of a matcher', () => {
  const NAME = 'matcher-A'
  const standing = () => ({ ready: false, detail: 'standing by', positions: { feed_seq: 3 } })
  let bus: MemoryBus
  let errors: unknown[]
  beforeEach(() => {
    bus = createMemoryBus()
    errors = []
  })

  /** The processes that answer. */
  async function answering(): Promise<string[]> {
    const found: string[] = []
    for (const name of [NAME, `${NAME}-standby`]) {
      const answer = await bus.ask(askPing(name), new Uint8Array(), 1_000).catch(() => undefined)
      if (answer !== undefined) found.push(decodePingAnswer(answer).process)
    }
    return found
  }
  const answer = (standby: boolean, whenLeading: Promise<void>) => {
    const matcher: Partial<Matcher> = { whenLeading, standing }
    const onError = (error: unknown) => errors.push(error)
    return answerPings(bus, { process: NAME, standby, onError }, matcher as Matcher)
  }

  it('are answered under its name', async () => {
    const pings = await answer(false, new Promise(() => undefined))
    expect(await answering()).to.deep.equal([NAME])
    await pings.stop()
    expect(await answering()).to.deep.equal([])
  })

  it('are answered under the name of a standby, and under both names once it leads', async () => {
    let lead = (): void => undefined
    const pings = await answer(true, new Promise((resolve) => (lead = resolve)))
    expect(await answering()).to.deep.equal([`${NAME}-standby`])
    lead()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await answering()).to.deep.equal([NAME, `${NAME}-standby`])
    await pings.stop()
    expect(await answering()).to.deep.equal([])
  })

  it('say why a standby that leads cannot answer under both names', async () => {
    let lead = (): void => undefined
    const pings = await answer(true, new Promise((resolve) => (lead = resolve)))
    await bus.close()
    lead()
    await eventually(() => expect(errors).to.have.length(1))
    expect(errors[0]).to.be.instanceOf(BusUnavailable)
    await pings.stop()
  })

  it('end with a standby that never led', async () => {
    const pings = await answer(true, new Promise(() => undefined))
    await pings.stop()
    expect(await answering()).to.deep.equal([])
  })
})
