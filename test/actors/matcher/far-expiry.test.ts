import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { commandMessages } from '../../../bus-schemas/commands.js'
import {
  checkpointsStream,
  checkpointsSubject,
  commandsStream,
  commandsSubject,
  commandsSubjects,
  feedStream,
  feedSubject,
} from '../../../bus-schemas/subjects.js'
import type { Market } from '../../../core/contracts/market.js'
import { withIdentity } from '../../../core/contracts/market-terms.js'
import { INTAKE_SOURCE } from '../../../core/engine/command.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { listCheckpoints } from '../../../runtime/bus/checkpoint-store.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { encodeCommands } from '../../support/spot-log.js'
import { appendCommands, changesOf, stageMarket, startOn, type StartedMatcher } from './stage.js'

/**
 * The streams of a market as a venue of commit 4f9474e, the last that multiplied any expiry by 1,000, left them: orders that
 * end at 9007199254751 and later, one of them cancelled at once, one that traded. Its matcher started on them no more.
 */
const FOLDER = inProject('test/actors/matcher/far-expiry')

interface Recorded {
  readonly subject: string
  readonly storedAtMs: number
  readonly data: string
}

const recorded = (stream: string): Recorded[] =>
  readFileSync(`${FOLDER}/${stream}.jsonl`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded)

const { market: name } = stageMarket
const SETTINGS = { everyCommands: 10, everyMs: 3_600_000, keepCommandsMs: 3_600_000 }

/** A bus with the recorded streams; their first checkpoints alone, where so many are stated. */
async function restored(checkpointMessages = Infinity): Promise<MemoryBus> {
  let nowMs: number | undefined
  const bus = createMemoryBus({ nowMs: () => nowMs ?? Date.now() })
  for (const [stream, subject] of [
    [commandsStream(name), commandsSubjects(name)],
    [feedStream(name), feedSubject(name)],
    [checkpointsStream(name), checkpointsSubject(name)],
  ] as const) {
    await bus.declareStream({ stream, subject, description: '' })
    const most = stream === checkpointsStream(name) ? checkpointMessages : Infinity
    for (const message of recorded(stream).slice(0, most)) {
      nowMs = message.storedAtMs
      await bus.append(message.subject, Buffer.from(message.data))
    }
  }
  nowMs = undefined
  return bus
}

/** The market as its log opened it. */
function recordedMarket(): Market {
  const [first] = recorded(commandsStream(name))
  const [opened] = commandMessages(stageMarket).decode(Buffer.from(first?.data ?? ''))
  if (opened?.command.kind !== 'MarketOpened') throw new Error('the log does not begin')
  return withIdentity(stageMarket, opened.command.opening)
}

describe('a market of 0.2.0 with orders that end beyond every date', () => {
  const running: StartedMatcher[] = []
  afterEach(() => Promise.all(running.splice(0).map(({ matcher }) => matcher.stop())))
  const start = async (bus: MemoryBus) => {
    const started = await startOn(bus, { market: recordedMarket(), checkpoints: SETTINGS })
    running.push(started)
    expect(started.fatal).to.deep.equal([])
    return started
  }

  for (const [from, messages] of [
    ['its newest checkpoint, whose deadlines no number holds', Infinity],
    ['the checkpoint before those orders', 6],
    ['its log', 0],
  ] as const) {
    it(`goes on from ${from}, with the very blocks of its feed, and writes checkpoints again (MON-013)`, async () => {
      const bus = await restored(messages)
      const before = await changesOf(bus)
      const first = await start(bus)
      expect(first.unusable).to.deep.equal([])
      expect((await changesOf(bus)).slice(0, before.length)).to.deep.equal(before)
      const [{ commandSeq = 0 } = {}] = await listCheckpoints(bus, name)
      const ticks = Array.from({ length: 12 }, () => ({ kind: 'Tick' as const }))
      await appendCommands(bus, ticks)
      await eventually(async () => {
        expect((await listCheckpoints(bus, name))[0]?.commandSeq).to.be.greaterThan(commandSeq)
      })
      await first.matcher.stop()
      const second = await start(bus)
      expect(second.unusable).to.deep.equal([])
      const never = before.find(({ orderId }) => orderId === 'never')
      if (never?.kind !== 'OrderPlaced') throw new Error('the sample lacks an order')
      const { owner, nonce, goodUntilSec } = never.order
      expect(goodUntilSec).to.equal(Number.MAX_SAFE_INTEGER)
      const cancel = { kind: 'CancelOrder', owner, nonce, reason: 'done' } as const
      // Beyond the numbers that the recorded intake has used.
      const by = { source: INTAKE_SOURCE, sourceNo: 2 ** 40, atMs: Date.now() }
      await bus.append(commandsSubject(name), encodeCommands([{ ...by, command: cancel }]))
      await eventually(async () => {
        expect((await changesOf(bus)).at(-1)).to.include({ orderId: 'never', status: 'cancelled' })
      })
    })
  }
})
