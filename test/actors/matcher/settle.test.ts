import { expect } from 'chai'
import {
  SETTLEMENTS_MAX_IN_FLIGHT,
  type AskExecutor,
  type ExecutorAnswer,
} from '../../../actors/matcher/ask-executor.js'
import {
  createSettler,
  createUnanswered,
  SettlementConflict,
  type Settler,
  type SettlerOptions,
} from '../../../actors/matcher/settle.js'
import type { SettlementOutcome } from '../../../core/model/command.js'
import type { ExecuteRequest } from '../../../interface/execute.js'
import { aFill } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'

const payload = { market: 'cNGN-USDC' } as ExecuteRequest
const match = (n: number) => aFill({ settlementId: `m:${n}` })
const success: ExecutorAnswer = { kind: 'success', txHash: '0xab', blockNumber: 3n }
const undecided: ExecutorAnswer = { kind: 'undecided', why: 'time-out' }

describe('settling matches', () => {
  let elapsedMs: number
  let asked: string[]
  let told: unknown[][]
  let reported: [string, SettlementOutcome][]
  let fatal: unknown[]
  const running: Settler[] = []
  beforeEach(() => {
    elapsedMs = 0
    ;[asked, told, reported, fatal] = [[], [], [], []]
  })
  afterEach(() => Promise.all(running.splice(0).map((settler) => settler.stop())))

  const tell =
    (what: string) =>
    (...args: readonly unknown[]): void =>
      void told.push([what, ...args])

  function settlerWith(ask: AskExecutor, options: Partial<SettlerOptions> = {}): Settler {
    const settler = createSettler({
      ask: (settlementId, ...rest) => {
        asked.push(settlementId)
        return ask(settlementId, ...rest)
      },
      payloadOf: () => payload,
      report: (settlementId, outcome) => {
        reported.push([settlementId, outcome])
        return Promise.resolve()
      },
      noteCode: (signer) => {
        told.push(['code', signer, reported.length])
        return Promise.resolve()
      },
      facts: {
        settlementAsked: () => undefined,
        settlementUnknown: tell('unknown'),
        settlementRefused: tell('refused'),
        settlementLate: tell('late'),
        settled: tell('settled'),
        lateSettled: tell('late settled'),
      },
      unanswered: createUnanswered({ lateAfterMs: 60_000, elapsedMs: () => elapsedMs }),
      onFatal: (error) => fatal.push(error),
      ...options,
    })
    running.push(settler)
    return settler
  }

  it('puts signers that a failure has shown to be code into the log before the failure', async () => {
    const reverted = { kind: 'reverted', revert: 'OV_InvalidSignature', guilty: 'unclear' } as const
    const codeSigners = [`0x${'ab'.repeat(20)}`] as const
    settlerWith(() => Promise.resolve({ ...reverted, codeSigners })).add(match(1))
    await eventually(() => reported.length === 1)
    expect(told).to.deep.include(['code', codeSigners[0], 0])
    expect(reported).to.deep.equal([['m:1', { ...reverted, signersRead: true }]])
  })

  it('says whether the code of the signers was read, also where none is code', async () => {
    const reverted = { kind: 'reverted', revert: 'OV_InvalidSignature', guilty: 'unclear' } as const
    const of = (settlementId: string) => (settlementId === 'm:1' ? { codeSigners: [] } : {})
    const settler = settlerWith((id) => Promise.resolve({ ...reverted, ...of(id) }))
    for (const no of [1, 2]) settler.add(match(no))
    await eventually(() => reported.length === 2)
    expect(reported).to.deep.include(['m:1', { ...reverted, signersRead: true }])
    expect(reported).to.deep.include(['m:2', reverted])
  })

  it('reports the outcome as the executor gave it, and how long it took', async () => {
    const reverted: ExecutorAnswer = {
      kind: 'reverted',
      revert: 'TM_X',
      guilty: 'taker',
      txHash: '0xcd',
    }
    const settler = settlerWith((settlementId, sent) => {
      expect(sent).to.equal(payload)
      elapsedMs += 1_500
      return Promise.resolve(settlementId === 'm:1' ? success : reverted)
    })
    settler.add(match(1))
    await eventually(() => told.length === 1)
    settler.add(match(2))
    await eventually(() => told.length === 2)
    expect(reported).to.deep.equal([
      ['m:1', success],
      ['m:2', reverted],
    ])
    expect(told).to.deep.equal([
      ['settled', 'm:1', 1_500],
      ['settled', 'm:2', 1_500],
    ])
  })

  for (const guilty of ['both', 'venue'] as const)
    it(`of a payload that the executor refuses, blames ${guilty} as it says, and tells why`, async () => {
      const settler = settlerWith(() => Promise.resolve({ kind: 'malformed', why: 'bad', guilty }))
      settler.add(match(1))
      await eventually(() => told.length === 2)
      expect(reported).to.deep.equal([
        ['m:1', { kind: 'reverted', revert: 'executor_refused', guilty }],
      ])
      expect(told[0]).to.deep.equal(['refused', 'm:1', 'bad'])
      expect(asked).to.deep.equal(['m:1'])
    })

  it('is not over before the outcome is durable in the log', async () => {
    let durable = (): void => undefined
    const settler = settlerWith(() => Promise.resolve(success), {
      report: () => new Promise((resolve) => (durable = resolve)),
    })
    settler.add(match(1))
    await eventually(() => asked.length === 1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(told).to.deep.equal([])
    durable()
    await eventually(() => told.length === 1)
  })

  it('reports nothing and stops the matcher when the key belongs to another call', async () => {
    const settler = settlerWith(() => Promise.resolve({ kind: 'conflict', why: 'used' }))
    settler.add(match(1))
    await eventually(() => fatal.length === 1)
    expect(fatal[0]).to.be.instanceOf(SettlementConflict)
    expect([...reported, ...told]).to.deep.equal([])
  })

  it('stops the matcher when an outcome cannot be reported', async () => {
    const lost = new Error('the log is gone')
    const settler = settlerWith(() => Promise.resolve(success), {
      report: () => Promise.reject(lost),
    })
    settler.add(match(1))
    await eventually(() => fatal.length === 1)
    expect(fatal).to.deep.equal([lost])
    expect(told).to.deep.equal([])
  })

  it('asks again after a pause that doubles, and tells why each time (SET-009)', async () => {
    const times: number[] = []
    const settler = settlerWith(() => {
      times.push(performance.now())
      return Promise.resolve(times.length < 3 ? undecided : success)
    })
    settler.add(match(1))
    await eventually(() => reported.length === 1)
    expect(told.slice(0, 2)).to.deep.equal([
      ['unknown', 'm:1', 'time-out'],
      ['unknown', 'm:1', 'time-out'],
    ])
    const [first = 0, second = 0, third = 0] = times
    expect(second - first).to.be.greaterThan(240)
    expect(third - second).to.be.greaterThan(480)
  })

  it('asks about so many at once, and about the next when one has its outcome, in order', async () => {
    const answers: ((answer: ExecutorAnswer) => void)[] = []
    const settler = settlerWith(() => new Promise((resolve) => void answers.push(resolve)))
    for (let n = 0; n < SETTLEMENTS_MAX_IN_FLIGHT + 2; n += 1) settler.add(match(n))
    expect(asked).to.have.length(SETTLEMENTS_MAX_IN_FLIGHT)
    answers[5]?.(success)
    await eventually(() => asked.length > SETTLEMENTS_MAX_IN_FLIGHT)
    expect(asked.slice(SETTLEMENTS_MAX_IN_FLIGHT)).to.deep.equal([`m:${SETTLEMENTS_MAX_IN_FLIGHT}`])
    expect(asked.slice(0, 3)).to.deep.equal(['m:0', 'm:1', 'm:2'])
    for (const answer of answers.splice(0)) answer(success)
    await eventually(() => reported.length === SETTLEMENTS_MAX_IN_FLIGHT + 1)
    expect(asked.at(-1)).to.equal(`m:${SETTLEMENTS_MAX_IN_FLIGHT + 1}`)
    for (const answer of answers) answer(success)
  })

  it('tells each one that is late once, and when that has its outcome', async () => {
    let answer: (answer: ExecutorAnswer) => void = () => undefined
    const settler = settlerWith(() => new Promise((resolve) => (answer = resolve)))
    settler.add(match(1))
    elapsedMs = 60_000
    await eventually(() => told.length > 0)
    expect(told).to.deep.equal([['late', 'm:1', 60_000]])
    elapsedMs = 61_000
    answer(success)
    await eventually(() => told.length === 3)
    expect(told.slice(1)).to.deep.equal([
      ['settled', 'm:1', 61_000],
      ['late settled', 'm:1', 61_000],
    ])
  })

  it('ends with a stop: nothing more is asked, and what breaks off is not a failure', async () => {
    const settler = settlerWith(
      (_, __, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('broken off')))
        }),
    )
    settler.add(match(1))
    await settler.stop()
    settler.add(match(2))
    expect(asked).to.deep.equal(['m:1'])
    expect([...fatal, ...reported, ...told]).to.deep.equal([])
  })

  it('ends with a stop also during a pause, and not before a report is through', async () => {
    let durable = (): void => undefined
    const settler = settlerWith(
      (settlementId) => Promise.resolve(settlementId === 'm:1' ? success : undecided),
      { report: () => new Promise((resolve) => (durable = resolve)) },
    )
    settler.add(match(1))
    settler.add(match(2))
    await eventually(() => told.length === 1)
    let isOver = false
    const stopping = settler.stop().then(() => (isOver = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isOver).to.equal(false)
    durable()
    await stopping
    expect(asked).to.deep.equal(['m:1', 'm:2'])
    expect(fatal).to.deep.equal([])
  })
})
