import { expect } from 'chai'
import {
  answerRegister,
  provideRegister,
  RegisterLost,
} from '../../../actors/order-intake/register.js'
import {
  decodeRegisterAnswer,
  decodeRegistration,
  encodeRegisterRequest,
  MAX_REGISTERED,
  type RegisterAnswer,
  type RegisterRequest,
} from '../../../bus-schemas/register.js'
import { askRegister, registerStream } from '../../../bus-schemas/subjects.js'
import { entryOf } from '../../../core/contracts/market-register.js'
import type { Market } from '../../../core/model/market.js'
import { armCrashPoints } from '../../../core/crash-point.js'
import { openIntakeRegistry, type IntakeRegistry } from '../../../data/intake-registry.js'
import { MarketFileError, type LoadedMarkets } from '../../../data/markets.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { openMarketLog } from '../../../runtime/bus/market-log.js'
import { marketsIn, openRegister, readRegister } from '../../../runtime/bus/market-register.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { anIntakeStage, silentLog } from '../../support/intake-stage.js'
import { anyOperator, registerMarkets, startRegister } from '../../support/registered.js'

const spot = aMarket()
const perp = aPerp()
const other = aMarket({ market: 'B', ordinal: 9, aliases: [], subId: 9n })
const file = (...markets: readonly Market[]): LoadedMarkets => ({
  markets,
  refused: [],
  absent: [],
})

describe('the import of a market file', () => {
  let bus: MemoryBus
  let stage: ReturnType<typeof anIntakeStage>
  let registry: IntakeRegistry
  beforeEach(() => {
    bus = createMemoryBus()
    stage = anIntakeStage()
    registry = stage.registry()
  })
  afterEach(() => {
    armCrashPoints(undefined)
    stage.close()
  })
  const provide = (loaded: LoadedMarkets) =>
    provideRegister({ bus, registry, log: silentLog, readFile: () => loaded })
  const problemOf = async (providing: Promise<void>): Promise<string> => {
    const error: unknown = await providing.catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(MarketFileError)
    return (error as Error).message
  }

  it('is one registration of all its markets, at the first start alone (OPE-041)', async () => {
    await provide(file(spot, perp))
    expect(marketsIn(await readRegister(bus))).to.deep.equal([spot, perp])
    expect((await bus.streamState(registerStream)).lastSeq).to.equal(1)
    await provide({
      ...file(aMarket({ aliases: ['edited'] }), other),
      refused: [{ row: 'X', problem: 'wrong' }],
    })
    expect(marketsIn(await readRegister(bus))).to.deep.equal([spot, perp])
  })

  it('is of all rows or of none (OPE-041)', async () => {
    const refused = [{ row: 'X', problem: 'tick_size must be positive decimal text' }]
    expect(await problemOf(provide({ ...file(spot), refused }))).to.equal(
      'the market file is not imported: X: tick_size must be positive decimal text',
    )
    expect(await problemOf(provide(file()))).to.include('it has no market of the deployment')
    const many = Array.from({ length: MAX_REGISTERED + 1 }, (_, ordinal) =>
      aMarket({ market: `M${ordinal}`, ordinal, aliases: [], subId: BigInt(ordinal) }),
    )
    expect(await problemOf(provide(file(...many)))).to.match(/257 markets at once, of at most 256$/)
    expect((await readRegister(bus)).seq).to.equal(0)
    await provide({ ...file(spot), absent: [{ market: 'P', lacks: ['asset'] }] })
    expect(marketsIn(await readRegister(bus))).to.deep.equal([spot])
  })

  it('keeps the identities of markets whose logs exist', async () => {
    const log = { writer: 'matcher', nowMs: Date.now, onRaised: () => undefined } as const
    await openMarketLog(bus, aMarket({ ordinal: 33, makerFeeBps: 4 }), log)
    await provide(file(spot, other))
    const markets = marketsIn(await readRegister(bus))
    expect(markets.map(({ market, ordinal }) => [market, ordinal])).to.deep.equal([
      [spot.market, 33],
      ['B', 9],
    ])
    expect(markets[0]).to.include({ makerFeeBps: 4 })
  })

  it('gives no ordinal to two markets', async () => {
    const clashing = { ...other, ordinal: perp.ordinal }
    expect(await problemOf(provide(file(spot, perp, clashing)))).to.include('the ordinal 1 is of')
  })

  it('is made by one of two intakes that start at once, also with other files', async () => {
    await Promise.all([
      provide(file(spot, perp)),
      provideRegister({
        bus: bus.connect(),
        registry,
        log: silentLog,
        readFile: () => file(spot),
      }),
    ])
    expect((await readRegister(bus)).seq).to.equal(1)
  })

  it('is done when the process crashed after it: the next start opens the logs', async () => {
    armCrashPoints((point) => {
      if (point === 'intake.after_registration') throw new Error('crashed')
    })
    const crashed = await provide(file(spot)).catch((error: unknown) => error)
    expect(String(crashed)).to.include('crashed')
    armCrashPoints(undefined)
    await provide(file(perp))
    const { markets } = await openRegister({ bus, log: silentLog, onError: () => undefined })
    expect(markets).to.deep.equal([spot])
    const intake = await stage.start(bus, { markets, registry })
    expect((await bus.streamState('COMMANDS_cNGN-USDC')).lastSeq).to.be.above(0)
    await intake.stop()
  })

  it('is not made where the register was deleted or rolled back: the start says what to restore (OPE-042)', async () => {
    registry.markRegisteredTo(3)
    const lost = async () => {
      const error: unknown = await provide(file(spot)).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(RegisterLost)
      return (error as Error).message
    }
    expect(await lost()).to.equal(
      'MARKETS ends at 0, and intake.db has read it up to 3: restore the stream from a backup (docs/BACKUP.md)',
    )
    await startRegister(bus).then((each) => each.stop())
    expect(await lost()).to.match(/^MARKETS ends at 0/)
    stage.reopen()
    expect(stage.registry().registeredTo()).to.equal(3)
    stage.registry().markRegisteredTo(2)
    expect(stage.registry().registeredTo()).to.equal(3)
    registry = openIntakeRegistry(`${stage.directory}/other.db`)
    await provide(file(spot))
    expect((await readRegister(bus)).seq).to.equal(1)
    await registry.close()
  })
})

describe('a registration by an operator', () => {
  let bus: MemoryBus
  let running: RunningProcess | undefined
  beforeEach(async () => {
    bus = createMemoryBus()
    running = await startRegister(bus)
  })
  afterEach(() => running?.stop())
  const ask = async (request: Partial<RegisterRequest> = {}): Promise<RegisterAnswer> => {
    const full = { by: 'ada', reason: 'more', entries: [entryOf(spot)], after_seq: 0, ...request }
    return decodeRegisterAnswer(await bus.ask(askRegister, encodeRegisterRequest(full), 5_000))
  }
  const after = (seq: number) => eventually(async () => (await readRegister(bus)).seq === seq)

  it('is durable before its answer, with when, who and why', async () => {
    const beforeMs = Date.now()
    expect(await ask()).to.deep.equal({ kind: 'registered', seq: 1 })
    const [message] = await bus.read(registerStream, 1, 1)
    const { atMs = 0, ...wanted } = decodeRegistration(message?.data ?? new Uint8Array())
    expect(wanted).to.deep.equal({ by: 'ada', reason: 'more', entries: [entryOf(spot)] })
    expect(atMs).to.be.within(beforeMs, Date.now())
  })

  it('counts from the end of the register alone, and is not made twice', async () => {
    expect(await ask({ after_seq: 1 })).to.deep.equal({ kind: 'stale' })
    expect(await ask()).to.deep.equal({ kind: 'registered', seq: 1 })
    await after(1)
    expect(await ask({ entries: [entryOf(perp)] })).to.deep.equal({ kind: 'stale' })
    // Of a repeat nothing is left to register.
    expect(await ask({ after_seq: 1 })).to.deep.equal({ kind: 'registered', seq: 1 })
    expect((await bus.streamState(registerStream)).lastSeq).to.equal(1)
    const reworded = entryOf(aMarket({ aliases: ['NEW'] }))
    expect(await ask({ after_seq: 1, entries: [reworded] })).to.deep.equal({
      kind: 'registered',
      seq: 2,
    })
  })

  it('is made when the intake crashed before its answer, and is not made again', async () => {
    await running?.stop()
    armCrashPoints((point) => {
      if (point === 'intake.after_registration') throw new Error('crashed')
    })
    const fatal: unknown[] = []
    const crashing = await startRegister(bus, anyOperator, (error) => fatal.push(error))
    ask().catch(() => undefined)
    await eventually(() => fatal.length === 1)
    await crashing.stop()
    armCrashPoints(undefined)
    running = await startRegister(bus)
    expect(await ask({ after_seq: 1 })).to.deep.equal({ kind: 'registered', seq: 1 })
    expect(marketsIn(await readRegister(bus))).to.deep.equal([spot])
  })

  it('is refused for what no row may say', async () => {
    const refusal = async (request: Partial<RegisterRequest>) => {
      const answer = await ask(request)
      return answer.kind === 'refused' ? answer.message : answer.kind
    }
    expect(await refusal({ reason: 'a\nb' })).to.match(/^reason must be one line/)
    const bad = (fields: Parameters<typeof aMarket>[0]) => ({ entries: [entryOf(aMarket(fields))] })
    expect(await refusal(bad({ market: 'a.b' }))).to.match(/^market /)
    expect(await refusal(bad({ takerFeeBps: 10_001 }))).to.match(/^taker_fee_bps /)
    expect(await refusal(bad({ ordinal: 65_536 }))).to.match(/^ordinal /)
    expect(await refusal(bad({ contractType: 'option' as never }))).to.match(/known contract type/)
    expect(await refusal({ entries: [entryOf(spot), entryOf({ ...other, ordinal: 0 })] })).to.equal(
      'B: the ordinal 0 is of cNGN-USDC',
    )
    expect((await bus.streamState(registerStream)).lastSeq).to.equal(0)
  })

  it('is of operators alone, whose verdict is theirs', async () => {
    await running?.stop()
    running = await startRegister(bus, {
      ...anyOperator,
      verdict: () => Promise.resolve({ problem: 'not one of OPERATOR_KEYS' }),
    })
    expect(await ask()).to.deep.equal({ kind: 'refused', message: 'not one of OPERATOR_KEYS' })
  })

  describe('while this process has not read on', () => {
    let fatal: unknown[]
    beforeEach(async () => {
      await running?.stop()
      fatal = []
      running = await answerRegister(
        {
          bus,
          log: silentLog,
          operators: anyOperator,
          now: () => ({ entries: new Map(), seq: 0 }),
          onFatal: (error) => fatal.push(error),
        },
        'order-intake',
      )
    })

    it('waits for what it has written itself', async () => {
      expect(await ask()).to.deep.equal({ kind: 'registered', seq: 1 })
      expect(await ask({ entries: [entryOf(perp)] })).to.deep.equal({ kind: 'stale' })
      expect(fatal).to.deep.equal([])
    })

    it('ends the process where another one has written the register', async () => {
      await registerMarkets(bus, [spot])
      ask({ entries: [entryOf(perp)] }).catch(() => undefined)
      await eventually(() => fatal.length === 1)
      expect(String(fatal[0])).to.match(/^AnotherWriter/)
    })
  })
})
