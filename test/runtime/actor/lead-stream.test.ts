import { expect } from 'chai'
import { startChainReader } from '../../../actors/chain-reader/start.js'
import { decodeLead } from '../../../bus-schemas/leads.js'
import {
  commandsStream,
  commandsSubject,
  commandsSubjects,
  leadStream,
  leadSubject,
} from '../../../bus-schemas/subjects.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { applyCommand } from '../../../core/engine/apply-command.js'
import { emptyMatcherState } from '../../../core/engine/empty-state.js'
import { ENGINE_VERSION, FIRST_ENGINE_VERSION } from '../../../core/engine/engine-version.js'
import { createNumbering, termOf, type LoggedCommand } from '../../../core/model/command.js'
import { createLastNumbers } from '../../../runtime/actor/last-numbers.js'
import {
  leadStreamActor,
  takeNextTerm,
  untilLeadership,
} from '../../../runtime/actor/lead-stream.js'
import { Fenced, type LeadershipTerm } from '../../../runtime/actor/leadership.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { declareCheckpoints, writeCheckpoint } from '../../../runtime/bus/checkpoint-store.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { fakeChain } from '../../actors/chain-reader/fake-chain.js'
import { aMarket, openedState } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { anIntakeStage, silentLog, type IntakeStage } from '../../support/intake-stage.js'
import { takeSnapshot } from '../../support/snapshots.js'
import { decodeCommands, encodeCommands } from '../../support/spot-log.js'
import { rejectionOf } from '../bus/probes.js'

const row = aMarket()
const { market } = row
const SOURCES = { 'order-intake': 'intake', 'chain-reader': 'chain-reader' } as const

/** A server on which one stream is gone, or holds again what it held before: everything else is as it was. */
function without(bus: MemoryBus, stream: string, other: MemoryBus): Bus {
  const at = (name: string): MemoryBus => (name === stream ? other : bus)
  return {
    ...bus,
    declareStream: (spec) => at(spec.stream).declareStream(spec),
    append: (subject, ...rest) =>
      (subject === leadSubject('order-intake') || subject === leadSubject('chain-reader')
        ? at(stream)
        : bus
      ).append(subject, ...rest),
    streamState: (name) => at(name).streamState(name),
    streamVersion: (name) => at(name).streamVersion(name),
    raiseStreamVersion: (name, version) => at(name).raiseStreamVersion(name, version),
    lastMessage: (name) => at(name).lastMessage(name),
    read: (name, ...rest) => at(name).read(name, ...rest),
  }
}

describe('a process that leads by a stream of terms', () => {
  let bus: MemoryBus
  const running: RunningProcess[] = []
  const stages: IntakeStage[] = []
  const leads: LeadershipTerm[] = []
  beforeEach(() => (bus = createMemoryBus()))
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop()
    for (const lead of leads.splice(0)) await lead.stop()
    for (const stage of stages.splice(0)) stage.close()
  })

  const start = async (name: keyof typeof SOURCES, on: Bus, fatal: unknown[] = []) => {
    const onFatal = (error: unknown): void => void fatal.push(error)
    if (name === 'order-intake') {
      const stage = anIntakeStage()
      stages.push(stage)
      return stage.start(on, { onFatal })
    }
    const chain = fakeChain()
    return startChainReader({
      bus: on,
      chain,
      markets: [row],
      nowMs: Date.now,
      log: silentLog,
      onFatal,
      observe: () => Promise.reject(new Error('no account is live')),
    })
  }
  const logged = async (): Promise<readonly LoggedCommand[]> =>
    (await bus.read(commandsStream(market), 1, 1_000)).flatMap(({ data }) => decodeCommands(data))
  const termsIn = async (source: string) =>
    (await logged()).filter((each) => each.source === source).map((each) => termOf(each.sourceNo))
  const takes = (on: Bus, id: string, above = 0) =>
    takeNextTerm(leadStreamActor({ bus: on, name: 'chain-reader', id, log: silentLog }), {
      above,
      onFenced: () => undefined,
    }).then((lead) => {
      leads.push(lead)
      return lead
    })

  for (const name of ['order-intake', 'chain-reader'] as const) {
    describe(name, () => {
      it('numbers its commands in its term, and begins it in the log', async () => {
        for (const term of [1, 2, 3]) {
          const process = await start(name, bus)
          await process.stop()
          expect(await termsIn(SOURCES[name])).to.include(term)
        }
        const end = await bus.lastMessage(leadStream(name))
        expect(decodeLead(end?.data ?? new Uint8Array()).term).to.equal(3)
      })

      it('does not start while another one leads, and names it', async () => {
        running.push(await start(name, bus))
        const before = await logged()
        expect(String(await rejectionOf(start(name, bus)))).to.match(
          new RegExp(`^Fenced: .* of term 1 leads ${name} already; STANDBY=1 would follow it$`),
        )
        expect(await logged()).to.deep.equal(before)
      })

      it('is not skipped after its stream was deleted or rolled back', async () => {
        const kept = createMemoryBus()
        const names = { stream: leadStream(name), subject: leadSubject(name), description: 'lead' }
        for (const isRolledBack of [false, true]) {
          for (let starts = 0; starts < 3; starts += 1) await (await start(name, bus)).stop()
          const other = isRolledBack ? kept : createMemoryBus()
          if (isRolledBack) {
            await kept.declareStream(names)
            const [first] = await bus.read(leadStream(name), 1, 1)
            await kept.append(leadSubject(name), first?.data ?? new Uint8Array())
          }
          const before = await termsIn(SOURCES[name])
          await (await start(name, without(bus, leadStream(name), other))).stop()
          const after = await termsIn(SOURCES[name])
          expect(after.length).to.be.greaterThan(before.length)
          expect(after.at(-1)).to.equal(Math.max(...before) + 1)
        }
        // A market takes every command of it.
        const state = emptyMatcherState(openingOf(row))
        for (const each of await logged()) {
          const { source, sourceNo } = each
          expect(sourceNo).to.be.greaterThan(state.lastSourceNo.get(source) ?? 0)
          applyCommand(state, each)
        }
      })

      it('ends when its stream is deleted under it', async () => {
        const fatal: unknown[] = []
        let now = bus
        const reads = { streamState: (stream: string) => now.streamState(stream) }
        running.push(await start(name, { ...bus, ...reads }, fatal))
        now = createMemoryBus()
        await eventually(() => fatal.length > 0)
        now = bus
        expect(fatal[0]).to.be.instanceOf(Fenced)
      })
    })
  }

  it('waits as a standby, and takes the term after the one that is gone', async () => {
    const first = await takes(bus, 'first')
    const standby = leadStreamActor({
      bus,
      name: 'chain-reader',
      id: 'second',
      log: silentLog,
      silenceMs: 100,
    })
    let isOver = false
    let looks = 0
    const leadership = untilLeadership(standby, {
      standby: true,
      meanwhile: () => Promise.resolve((looks += 1) > 0),
    }).then(() => (isOver = true))
    await eventually(() => looks > 3)
    expect(isOver).to.equal(false)
    await first.stop()
    await leadership
    expect((await takes(bus, 'second')).term).to.equal(2)
  })

  it('is refused at once without STANDBY, where another one leads', async () => {
    await takes(bus, 'first')
    const second = leadStreamActor({ bus, name: 'chain-reader', id: 'second', log: silentLog })
    const meanwhile = () => Promise.resolve(true)
    const refused = untilLeadership(second, { standby: false, meanwhile })
    expect(await rejectionOf(refused)).to.be.instanceOf(Fenced)
  })

  const declareLog = () =>
    bus.declareStream({
      stream: commandsStream(market),
      subject: commandsSubjects(market),
      description: 'log',
    })
  const write = (source: string, ...numbers: number[]) =>
    bus.append(
      commandsSubject(market, source),
      encodeCommands(
        numbers.map((sourceNo) => ({ source, sourceNo, atMs: 1, command: { kind: 'Tick' } })),
      ),
    )

  it('is not misled by what an earlier leader appended after the newest checkpoint', async () => {
    await declareLog()
    const newest = createNumbering(9).next()
    const commandSeq = await write('chain-reader', newest)
    const state = openedState()
    state.lastSourceNo.set('chain-reader', newest)
    await declareCheckpoints(bus, market)
    const feed = { messageSeq: 1, sha256: 'ab'.repeat(32) }
    const checkpoint = { market, commandSeq, feed, term: 1, state: takeSnapshot(state) }
    await writeCheckpoint(bus, checkpoint, () => false)
    await write('chain-reader', createNumbering(6).next())
    await bus.trim(commandsStream(market), commandSeq + 1)
    const last = createLastNumbers(bus, 'chain-reader')
    expect(await last.read(row)).to.equal(newest)
    expect(last.engineVersion(market)).to.equal(state.engineVersion)
  })

  it('reads the last number of each log once, and what came since', async () => {
    await declareLog()
    const last = createLastNumbers(bus, 'chain-reader')
    expect([await last.read(row), last.term()]).to.deep.equal([0, 0])
    expect(last.engineVersion(market)).to.equal(FIRST_ENGINE_VERSION)
    const number = createNumbering(7).next()
    await write('matcher', createNumbering(9).next())
    await write('chain-reader', number, number + 1)
    // What an earlier reader appends late is skipped by the market, and does not count here.
    await write('chain-reader', createNumbering(6).next())
    expect([await last.read(row), last.term()]).to.deep.equal([number + 1, 7])
    let reads = 0
    const read: Bus['read'] = (...given) => {
      reads += 1
      return bus.read(...given)
    }
    const again = createLastNumbers({ ...bus, read }, 'chain-reader')
    expect(await again.read(row)).to.equal(number + 1)
    const before = reads
    expect(await again.read(row)).to.equal(number + 1)
    expect(reads).to.equal(before)
    const command = { kind: 'EngineVersionSet', version: ENGINE_VERSION } as const
    const set = { source: 'matcher', sourceNo: createNumbering(10).next(), atMs: 1, command }
    await bus.append(commandsSubject(market), encodeCommands([set]))
    await again.read(row)
    expect(again.engineVersion(market)).to.equal(ENGINE_VERSION)
  })

  it('reads a long log on in parts, where it is asked to', async () => {
    await declareLog()
    const last = createLastNumbers(bus, 'chain-reader')
    await last.read(row)
    const first = createNumbering(7).next()
    const numbers = Array.from({ length: 600 }, (_, i) => first + i)
    for (const number of numbers) await write('chain-reader', number)
    const read = [await last.read(row, 1), await last.read(row, 1), await last.read(row, 1)]
    expect(read[0]).to.be.below(first + 300)
    expect(read[1]).to.be.below(first + 599)
    expect(read[2]).to.equal(first + 599)
  })
})
