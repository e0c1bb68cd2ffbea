import { expect } from 'chai'
import {
  createCheckpointer,
  type Checkpointer,
  type CheckpointerOptions,
  type CapturedCheckpoint,
} from '../../../actors/matcher/checkpoints.js'
import {
  checkpointsStream,
  commandsStream,
  commandsSubject,
} from '../../../bus-schemas/subjects.js'
import { captureState } from '../../../core/engine/capture.js'
import { addDeadline } from '../../../core/engine/deadlines.js'
import type { MatcherState } from '../../../core/engine/state.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import {
  declareCheckpoints,
  listCheckpoints,
  type StoredCheckpoint,
} from '../../../runtime/bus/checkpoint-store.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { openedState } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { stageMarket } from './stage.js'

const { market } = stageMarket
const SETTINGS = { everyCommands: 10, everyMs: 60_000, keepCommandsMs: 0 }

describe('the writer of checkpoints', () => {
  let bus: MemoryBus
  /** Of the bus, and of the process. */
  let nowMs: number
  let elapsedMs: number
  let state: MatcherState
  let commandSeq: number
  let captures: number
  let written: StoredCheckpoint[]
  let failures: unknown[]
  let trims: number[]
  /** Their commands. */
  let unusable: number[]
  let claims: number
  const running: Checkpointer[] = []

  beforeEach(async () => {
    ;[nowMs, elapsedMs, commandSeq, captures] = [1_000, 0, 0, 0]
    ;[written, failures, trims, claims] = [[], [], [], Number.MAX_SAFE_INTEGER]
    unusable = []
    bus = createMemoryBus({ nowMs: () => nowMs })
    state = openedState()
    await declareCheckpoints(bus, market)
    const stream = commandsStream(market)
    await bus.declareStream({ stream, subject: commandsSubject(market), description: '' })
  })
  afterEach(() => Promise.all(running.splice(0).map((writer) => writer.stop())))

  const optionsOf = (): CheckpointerOptions => ({
    bus,
    market,
    settings: SETTINGS,
    stored: [],
    sinceMs: 0,
    claimsStoredTo: () => Promise.resolve(claims),
    facts: {
      checkpointWritten: (stored) => written.push(stored),
      checkpointFailed: (error) => failures.push(error),
      checkpointUnusable: (stored) => unusable.push(stored.commandSeq),
      commandsTrimmed: (firstSeq) => trims.push(firstSeq),
    },
    elapsedMs: () => elapsedMs,
  })
  function writer(options: Partial<CheckpointerOptions> = {}): Checkpointer {
    const checkpointer = createCheckpointer({ ...optionsOf(), ...options })
    running.push(checkpointer)
    return checkpointer
  }
  const capture = (): CapturedCheckpoint => {
    captures += 1
    const { snapshot, release } = captureState(state)
    const feed = { messageSeq: 0, sha256: '' }
    return { checkpoint: { market, commandSeq, feed, term: 1, state: snapshot }, release }
  }
  const isFree = () => state.capture === undefined
  /** Writes one that includes the log up to there. */
  async function write(checkpointer: Checkpointer, upTo: number): Promise<void> {
    const before = written.length
    commandSeq = upTo
    checkpointer.applied(10, capture)
    await eventually(() => written.length > before && isFree())
  }
  const commandsFrom = async () => (await bus.streamState(commandsStream(market))).firstSeq
  /** One message a second, from the first second on. */
  async function log(messages: number): Promise<void> {
    for (let n = 1; n <= messages; n += 1) {
      nowMs = n * 1_000
      await bus.append(commandsSubject(market), new Uint8Array([n]))
    }
  }

  it('writes one after so many commands, and counts anew from there', async () => {
    const checkpointer = writer()
    checkpointer.applied(9, capture)
    expect(captures).to.equal(0)
    commandSeq = 7
    checkpointer.applied(1, capture)
    await eventually(() => written.length === 1 && isFree())
    expect(await listCheckpoints(bus, market)).to.deep.equal(written)
    expect(written[0]).to.include({ commandSeq: 7, firstSeq: 1, storedAtMs: 1_000 })
    checkpointer.applied(9, capture)
    expect(captures).to.equal(1)
    checkpointer.applied(1, capture)
    expect(captures).to.equal(2)
  })

  it('writes one after so long a time, and counts anew from there', async () => {
    const checkpointer = writer({ sinceMs: 5_000 })
    elapsedMs = 65_000
    checkpointer.applied(1, capture)
    await eventually(() => written.length === 1 && isFree())
    elapsedMs = 124_999
    checkpointer.applied(1, capture)
    expect(captures).to.equal(1)
    elapsedMs = 125_000
    checkpointer.applied(1, capture)
    expect(captures).to.equal(2)
  })

  it('writes the first ones of markets that were restored at once in their turn', () => {
    const held = { ...capture(), release: () => undefined }
    const silent = { ...bus, streamState: () => new Promise<never>(() => undefined) }
    const due = (atMs: number): number => {
      elapsedMs = atMs
      let count = 0
      for (let n = 0; n < 50; n += 1) {
        const checkpointer = createCheckpointer({
          ...optionsOf(),
          bus: silent,
          market: `market-${n}`,
        })
        checkpointer.applied(1, () => {
          count += 1
          return held
        })
      }
      return count
    }
    expect(due(29_999)).to.equal(0)
    for (const [atMs, least, most] of [
      [37_500, 3, 22],
      [45_000, 13, 37],
      [52_500, 28, 47],
    ] as const)
      expect(due(atMs), `at ${atMs} ms`).to.be.within(least, most)
    expect(due(60_000)).to.equal(50)
  })

  it('writes one at a time, and none once it is stopped', async () => {
    const acknowledge = bus.holdAppendAcks()
    const checkpointer = writer()
    checkpointer.applied(10, capture)
    checkpointer.applied(10, capture)
    expect(captures).to.equal(1)
    const stopping = checkpointer.stop()
    acknowledge()
    await stopping
    expect([written, failures, isFree()]).to.deep.equal([[], [], true])
    checkpointer.applied(100, capture)
    expect(captures).to.equal(1)
  })

  it('reports one that cannot be written, lets the state go, and writes the next when it is due', async () => {
    const full = new Error('no room')
    let isFull = true
    const append: Bus['append'] = (...given) =>
      isFull ? Promise.reject(full) : bus.append(...given)
    const checkpointer = writer({ bus: { ...bus, append } })
    checkpointer.applied(10, capture)
    await eventually(() => failures.length === 1 && isFree())
    expect(failures).to.deep.equal([full])
    isFull = false
    checkpointer.applied(9, capture)
    expect(captures).to.equal(1)
    await write(checkpointer, 3)
  })

  it('writes no trailer for one that cannot be read back, and keeps those before it', async () => {
    const checkpointer = writer()
    await write(checkpointer, 3)
    const [before] = written
    const damaging: Bus['read'] = async (...given) => {
      const read = await bus.read(...given)
      return read.map((message) => ({ ...message, data: message.data.slice(1) }))
    }
    let isDamaging = true
    const read: Bus['read'] = (...given) => (isDamaging ? damaging(...given) : bus.read(...given))
    const other = writer({ bus: { ...bus, read }, stored: [...written] })
    other.applied(10, capture)
    await eventually(() => failures.length === 1 && isFree())
    expect(String(failures[0])).to.match(/CheckpointUnusable: it cannot be decoded/)
    expect(await listCheckpoints(bus, market)).to.deep.equal([before])
    isDamaging = false
    await write(other, 5)
    expect(await listCheckpoints(bus, market)).to.deep.equal([written[1], before])
  })

  it('writes no number that no start could read', async () => {
    const checkpointer = writer()
    const far = { atMs: Number.MAX_SAFE_INTEGER + 1, rank: 1, orderId: 'o1' }
    addDeadline(state.deadlines, far)
    checkpointer.applied(10, capture)
    await eventually(() => failures.length === 1 && isFree())
    expect(String(failures[0])).to.include('atMs 9007199254740992 is not a whole number')
    expect(await listCheckpoints(bus, market)).to.deep.equal([])
  })

  it('says how long the writing took, in whole milliseconds', async () => {
    const took: number[] = []
    const checkpointWritten = (_: StoredCheckpoint, ms: number) => void took.push(ms)
    const checkpointFailed = (error: unknown) => failures.push(error)
    const checkpointUnusable = () => undefined
    const commandsTrimmed = () => undefined
    const facts = { checkpointWritten, checkpointFailed, checkpointUnusable, commandsTrimmed }
    const checkpointer = writer({ facts })
    const acknowledge = bus.holdAppendAcks()
    elapsedMs = 1_000.4
    checkpointer.applied(10, capture)
    elapsedMs = 1_250.9
    acknowledge()
    await eventually(() => took.length > 0)
    expect([took, failures]).to.deep.equal([[251], []])
  })

  it('says nothing of one that its stop breaks off', async () => {
    const append: Bus['append'] = () => Promise.reject(new Error('the bus is closed'))
    const checkpointer = writer({ bus: { ...bus, append } })
    checkpointer.applied(10, capture)
    await checkpointer.stop()
    expect(failures).to.deep.equal([])
  })

  it('deletes what is older than three of them, those of earlier processes among them', async () => {
    const first = writer()
    await log(9)
    for (const upTo of [2, 3, 4]) await write(first, upTo)
    const next = writer({ stored: await listCheckpoints(bus, market) })
    await write(next, 6)
    const kept = await listCheckpoints(bus, market)
    expect(kept.map((each) => each.commandSeq)).to.deep.equal([6, 4, 3])
    const { firstSeq } = await bus.streamState(checkpointsStream(market))
    expect(firstSeq).to.equal(kept[2]?.firstSeq)
    expect([await commandsFrom(), trims]).to.deep.equal([4, [3, 4]])
  })

  it('counts none of an earlier process that cannot be used, and deletes nothing for it', async () => {
    const first = writer()
    await log(9)
    await write(first, 2)
    await write(first, 3)
    const damaged = written[1] as StoredCheckpoint
    const read: Bus['read'] = async (stream, ...given) =>
      (await bus.read(stream, ...given)).map((message) => {
        const isDamaged = stream === checkpointsStream(market) && message.seq === damaged.firstSeq
        return isDamaged ? { ...message, data: message.data.slice(0, -1) } : message
      })
    const next = writer({ bus: { ...bus, read }, stored: await listCheckpoints(bus, market) })
    await write(next, 5)
    expect([unusable, trims]).to.deep.equal([[3], []])
    await write(next, 6)
    expect([unusable, trims, failures]).to.deep.equal([[3], [3], []])
    const { firstSeq } = await bus.streamState(checkpointsStream(market))
    expect(firstSeq).to.equal(written[0]?.firstSeq)
    // A start finds those that can be used also behind others.
    expect((await listCheckpoints(bus, market)).map((each) => each.commandSeq)).to.deep.equal([
      6, 5, 3, 2,
    ])
  })

  it('deletes no command while there are fewer than three', async () => {
    await log(9)
    const checkpointer = writer()
    for (const upTo of [3, 5]) await write(checkpointer, upTo)
    expect([await commandsFrom(), trims]).to.deep.equal([1, []])
  })

  it('keeps commands that are younger than is set, by the clock of the bus', async () => {
    await log(40)
    const checkpointer = writer({ settings: { ...SETTINGS, keepCommandsMs: 20_000 } })
    for (const upTo of [30, 31]) await write(checkpointer, upTo)
    expect(trims).to.deep.equal([])
    await write(checkpointer, 32)
    // Those of the last 20 seconds, and the one that is just as old.
    expect([await commandsFrom(), trims]).to.deep.equal([20, [20]])
    nowMs = 45_500
    await write(checkpointer, 33)
    expect(await commandsFrom()).to.equal(26)
    // Nothing more is old enough.
    await write(checkpointer, 34)
    expect(trims).to.deep.equal([20, 26])
    nowMs = 1_000_000
    await write(checkpointer, 36)
    expect(await commandsFrom()).to.equal(34)
  })

  it('keeps commands whose claims the intake has not stored', async () => {
    await log(9)
    claims = 3
    const checkpointer = writer()
    for (const upTo of [6, 7, 8]) {
      nowMs += 1_000
      await write(checkpointer, upTo)
    }
    expect([await commandsFrom(), trims]).to.deep.equal([4, [4]])
    claims = 0
    await write(checkpointer, 9)
    expect(await commandsFrom()).to.equal(4)
  })
})
