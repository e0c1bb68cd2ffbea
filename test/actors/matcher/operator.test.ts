import { expect } from 'chai'
import { checkOperator } from '../../../runtime/bus/check-operator.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import type { MatcherOptions } from '../../../actors/matcher/settings.js'
import {
  decodeMarketAnswer,
  encodeMarketRequest,
  type MarketAnswer,
  type MarketChange,
  type MarketRequest,
} from '../../../bus-schemas/markets.js'
import {
  askMarket,
  commandsStream,
  commandsSubject,
  OPERATOR_SOURCE,
} from '../../../bus-schemas/subjects.js'
import type { LoggedCommand } from '../../../core/model/command.js'
import { CANCELLED_MAX_PER_STEP } from '../../../core/model/limits.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { newSeed } from '../../../runtime/bus/nkeys.js'
import { operatorKeyOf } from '../../../runtime/bus/operator-key.js'
import { createLog } from '../../../runtime/process/log.js'
import { eventually } from '../../support/eventually.js'
import { decodeCommands, encodeCommands } from '../../support/spot-log.js'
import {
  appendCommands,
  changesOf,
  placeOrder,
  stageMarket,
  startOn,
  type StartedMatcher,
} from './stage.js'

const { market } = stageMarket
const newKey = () => operatorKeyOf(new TextEncoder().encode(newSeed()))
const ada = newKey()
const foreign = newKey()

type Words = Partial<Pick<MarketRequest, 'by' | 'reason'>>

describe('a leader whose operator asks for something', () => {
  let bus: MemoryBus
  let refused: string[]
  let started: StartedMatcher | undefined
  let nonces = 0
  beforeEach(() => {
    bus = createMemoryBus()
    refused = []
  })
  afterEach(async () => {
    await started?.matcher.stop()
    started = undefined
  })

  async function start(options: Partial<MatcherOptions> = {}, on: Bus = bus): Promise<void> {
    started = await startOn(on, {
      operators: checkOperator({ keys: new Map([[ada.publicKey, 'ada']]), nowMs: Date.now }),
      facts: {
        ...observeMatcher(createLog('matcher', 'silent')),
        operatorRefused: (_, problem) => void refused.push(problem),
      },
      ...options,
    })
  }

  async function ask(change: MarketChange, words: Words = {}, key = ada): Promise<MarketAnswer> {
    nonces += 1
    const request = { request_id: 'r1', by: 'root', reason: 'tariff', ...words, change }
    const issued = { issuedAtMs: Date.now(), nonce: nonces.toString(16).padStart(32, '0') }
    const signed = encodeMarketRequest(key.sign(market, request, issued))
    return decodeMarketAnswer(await bus.ask(askMarket(market), signed, 10_000))
  }
  const problemOf = async (...asked: Parameters<typeof ask>): Promise<string> => {
    const answer = await ask(...asked)
    return answer.kind === 'refused' ? answer.message : `taken: ${JSON.stringify(answer.feed_seq)}`
  }

  async function ordered(): Promise<LoggedCommand[]> {
    const messages = await bus.read(commandsStream(market), 1, 10_000)
    return messages
      .flatMap(({ data }) => decodeCommands(data))
      .filter(({ source }) => source === OPERATOR_SOURCE)
  }

  it('shows the terms and the seq that has them, without a signature, and changes nothing', async () => {
    await start()
    await appendCommands(bus, [placeOrder({ orderId: 'o', side: 'buy' })])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(1))
    const question = { request_id: 'r', by: '', reason: '', change: { kind: 'show' as const } }
    const data = await bus.ask(askMarket(market), encodeMarketRequest(question), 10_000)
    const answer = decodeMarketAnswer(data)
    expect(answer).to.include({ kind: 'terms', feed_seq: 1 })
    expect(answer).to.have.nested.property('terms.enabled', true)
    expect(answer).to.have.nested.property('terms.identity.market', market)
    expect(answer).to.have.nested.property('terms.standing.status', 'open')
    expect(await ordered()).to.deep.equal([])
  })

  it('puts a change into the log with who, why and the request, and answers with the new terms (OPE-002)', async () => {
    await start()
    const answer = await ask({ kind: 'set', fields: { taker_fee_bps: '30' } })
    expect(answer).to.have.nested.property('terms.rules.takerFeeBps', 30)
    const [logged] = await ordered()
    expect(logged).to.deep.include({
      requestId: 'r1',
      command: {
        kind: 'MarketRulesSet',
        rules: { takerFeeBps: 30 },
        by: 'ada (root)',
        reason: 'tariff',
      },
    })
  })

  it('pauses and resumes, disables and enables', async () => {
    await start()
    for (const [kind, enabled, status] of [
      ['pause', true, 'paused'],
      ['resume', true, 'open'],
      ['disable', false, 'open'],
      ['enable', true, 'open'],
    ] as const) {
      const answer = await ask({ kind })
      expect(answer, kind).to.have.nested.property('terms.enabled', enabled)
      expect(answer, kind).to.have.nested.property('terms.standing.status', status)
    }
    const who = { by: 'ada (root)', reason: 'tariff' }
    expect((await ordered()).map(({ command }) => command)).to.deep.equal([
      { kind: 'MarketPaused', ...who },
      { kind: 'MarketResumed', ...who },
      { kind: 'MarketDisabled', ...who },
      { kind: 'MarketEnabled', ...who },
    ])
  })

  it('accepts the gap of a restored market, once', async () => {
    await start()
    expect(await problemOf({ kind: 'accept-gap' })).to.equal(`${market} has no gap to accept`)
    const restored = { kind: 'MarketRestored', by: 'ada', reason: 'backup' } as const
    const envelope = { source: 'restore', sourceNo: 1, atMs: Date.now() }
    await bus.append(commandsSubject(market), encodeCommands([{ ...envelope, command: restored }]))
    await eventually(() => started?.matcher.holds().has('restored'))
    const answer = await ask({ kind: 'accept-gap' })
    expect(answer).to.have.nested.property('terms.standing.status', 'open')
    expect(await problemOf({ kind: 'accept-gap' })).to.equal(`${market} has no gap to accept`)
    expect((await ordered()).map(({ command }) => command.kind)).to.deep.equal(['GapAccepted'])
  })

  it('refuses what changes nothing or breaks a rule, and leaves the log as it is', async () => {
    await start()
    expect(await problemOf({ kind: 'resume' })).to.equal(`${market} is not paused`)
    expect(await problemOf({ kind: 'enable' })).to.equal(`${market} is enabled already`)
    expect(await problemOf({ kind: 'set', fields: { ordinal: '3' } })).to.contain('cannot be set')
    expect(await ordered()).to.deep.equal([])
    await ask({ kind: 'disable' })
    expect(await problemOf({ kind: 'disable' })).to.equal(`${market} is disabled already`)
    expect(await ordered()).to.have.length(1)
  })

  it('refuses to enable a market that is still cancelling its orders', async () => {
    const own = commandsSubject(market, 'matcher')
    let isMute = false
    let end = (): void => undefined
    const over = new Promise<number>((resolve) => (end = () => resolve(0)))
    const append: Bus['append'] = (subject, ...rest) =>
      isMute && subject === own ? over : bus.append(subject, ...rest)
    await start({}, { ...bus, append })
    const many = Array.from({ length: CANCELLED_MAX_PER_STEP + 1 }, (_, n) =>
      placeOrder({ orderId: `o${n}`, side: 'buy' }),
    )
    await appendCommands(bus, many)
    await eventually(() => started?.matcher.positions().feed_seq === many.length)
    // The tick that would cancel the last one never arrives.
    isMute = true
    const disabled = { kind: 'MarketDisabled', by: 'ada', reason: 'end' } as const
    const envelope = { source: 'operator', sourceNo: 2 ** 40, atMs: Date.now() }
    const data = encodeCommands([{ ...envelope, command: disabled }])
    await bus.append(own, data)
    await eventually(() => (started?.matcher.positions().feed_seq ?? 0) > many.length)
    const problem = await problemOf({ kind: 'enable' })
    end()
    expect(problem).to.equal(`${market} is still cancelling its orders`)
  })

  it('takes a name and a reason of one line each, of 1 to 200 characters (OPE-004)', async () => {
    await start()
    for (const text of ['', 'two\nlines', 'x'.repeat(201), '\ud800']) {
      const line = 'reason must be one line of 1 to 200 characters'
      expect(await problemOf({ kind: 'pause' }, { reason: text })).to.equal(line)
    }
    // The name of the key and brackets stand around it.
    const longest = 200 - 'ada ()'.length
    expect(await problemOf({ kind: 'pause' }, { by: 'x'.repeat(longest + 1) })).to.equal(
      'by must be one line of 1 to 200 characters',
    )
    expect(await ordered()).to.deep.equal([])
    const words = { by: 'x'.repeat(longest), reason: 'ü'.repeat(200) }
    expect((await ask({ kind: 'pause' }, words)).kind).to.equal('terms')
  })

  it('refuses what none of its operators has signed, and tells of it', async () => {
    await start()
    const problem = await problemOf({ kind: 'pause' }, {}, foreign)
    expect(problem).to.equal(`${foreign.publicKey} is not one of OPERATOR_KEYS`)
    expect(refused).to.deep.equal([problem])
    expect(await ordered()).to.deep.equal([])
  })

  it('answers no more once it is stopped', async () => {
    await start()
    await started?.matcher.stop()
    const failure = await ask({ kind: 'show' }).catch((error: unknown) => error)
    expect(failure).to.have.property('name', 'NoAnswer')
  })

  it('stops when it cannot judge who asks', async () => {
    const lost = new Error('no verdict')
    await start({
      operators: { open: () => Promise.resolve(), verdict: () => Promise.reject(lost) },
    })
    void ask({ kind: 'pause' }).catch(() => undefined)
    await eventually(() => expect(started?.fatal).to.deep.equal([lost]))
  })

  it('ends the questions to the executor when it stops, also where it could not listen to operators', async () => {
    const lost = new Error('no claims')
    const signals: AbortSignal[] = []
    const ask = (signal: AbortSignal) => {
      signals.push(signal)
      return Promise.resolve({})
    }
    await start({
      operators: { open: () => Promise.reject(lost), verdict: () => Promise.reject(lost) },
      faults: { ask, everyMs: 1 },
    })
    await eventually(() => {
      expect(started?.fatal).to.deep.equal([lost])
      expect(signals).to.have.property('length').at.least(1)
    })
    await started?.matcher.stop()
    expect(signals.every(({ aborted }) => aborted)).to.equal(true)
  })
})
