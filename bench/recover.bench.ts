import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startMatcher, type Matcher } from '../actors/matcher/matcher.js'
import { observeMatcher } from '../actors/matcher/observe.js'
import type { CheckpointSettings } from '../actors/matcher/settings.js'
import { encodeBlock } from '../bus-schemas/blocks.js'
import { checkpointsStream, commandsStream, commandsSubject } from '../bus-schemas/subjects.js'
import { applyMessage } from '../core/engine/apply-message.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import type { LoggedCommand } from '../core/model/command.js'
import { openingOf } from '../core/model/market-terms.js'
import type { Bus } from '../runtime/bus/bus.js'
import { listCheckpoints } from '../runtime/bus/checkpoint-store.js'
import { openMarketLog } from '../runtime/bus/market-log.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import { createLog } from '../runtime/process/log.js'
import { benchMarket, decodeCommands, encodeCommands } from './bench-market.js'
import { logged } from './bench-orders.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { startOwnBus } from './own-bus.js'
import { interleaved, ratio, took, type Took } from './rounds.js'
import { BATCH } from './walk-blocks.js'
import { createWalker, settleMatches } from './walk.js'

export const recover: Bench = {
  name: 'recover',
  title:
    'Restart of a killed matcher until it leads its market again, on a real bus: from the first command of its log, comparing its whole feed, and from a checkpoint.',
  versionsOf: ['nats-server', 'zod'],
  run,
}

/**
 * Commands that a cold start replays, and that a checkpoint covers in the other case; and those of the log of single ones. At full size
 * they are the history of a million orders, with their cancels and settlements.
 */
const COMMANDS = { tiny: 1_000, usual: 950_000, full: 1_840_000 }
const SINGLE = { tiny: 300, usual: 200_000, full: 400_000 }
/** Commands after the newest checkpoint when the matcher is killed: half of the most that can accumulate. */
const TAIL = { tiny: 500, usual: 50_000, full: 50_000 }
/** Commands on which the peer of a cold start is measured. */
const BARE = { tiny: 500, usual: 100_000, full: 100_000 }
const SEED = 3
const APPENDS_AT_ONCE = 32
const LOOK_EVERY_MS = 1
const READ_AT_ONCE = 64
const NEVER: CheckpointSettings = {
  everyCommands: Infinity,
  everyMs: Infinity,
  keepCommandsMs: Infinity,
}
const { market } = benchMarket()

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const commands = COMMANDS[size]
  const tail = TAIL[size]
  const grouped = await onBus(join(dir, 'grouped'), async (bus) => {
    const append = createLogWriter(bus, BATCH)
    const bare = (await append(commands)).slice(0, Math.ceil(BARE[size] / BATCH))
    await startAndStop(bus)
    say(`${commands} commands are in the log, and what comes of them in the feed`)
    const values = await inTurn(rounds, [() => startAndStop(bus), () => decodeStepEncode(bare)])
    await writeCheckpoint(bus)
    await append(tail)
    await startAndStop(bus)
    say(`a checkpoint is written, and ${tail} commands behind it`)
    const behind = await inTurn(rounds, [() => startAndStop(bus), () => readAndParse(bus)])
    return { cold: values, warm: behind, bareCommands: countCommands(bare) }
  })
  const single = await onBus(join(dir, 'single'), async (bus) => {
    await createLogWriter(bus, 1)(SINGLE[size])
    await startAndStop(bus)
    say(`${SINGLE[size]} commands are in a log with one in each message`)
    const [times] = await inTurn(rounds, [() => startAndStop(bus)])
    return times ?? []
  })
  return report({ commands, singles: SINGLE[size], tail, ...grouped, single })
}

/** Works on a bus of its own, in a directory of its own. */
async function onBus<T>(dir: string, work: (bus: Bus) => Promise<T>): Promise<T> {
  await mkdir(dir, { recursive: true })
  const server = await startOwnBus(dir)
  const bus = await connectNatsBus({ url: server.url, name: 'bench', onWarning: () => undefined })
  try {
    await openMarketLog(bus, benchMarket(), {
      writer: 'matcher',
      nowMs: Date.now,
      onRaised: () => undefined,
    })
    return await work(bus)
  } finally {
    await bus.close()
    await server.stop()
  }
}

/** Measures the pieces of work in turn, after a warm-up round; the times of each. */
async function inTurn(
  rounds: number,
  pieces: readonly (() => Promise<Took>)[],
): Promise<readonly Took[][]> {
  const named = Object.fromEntries(pieces.map((piece, at) => [`${at}`, piece]))
  const values = await interleaved(rounds, named)
  return pieces.map((_, at) => values[`${at}`] ?? [])
}

interface Measured {
  readonly commands: number
  readonly singles: number
  readonly tail: number
  /** Commands of the peer of a cold start. */
  readonly bareCommands: number
  /** A start, and its peer. */
  readonly cold: readonly Took[][]
  readonly warm: readonly Took[][]
  readonly single: readonly Took[]
}

function report(measured: Measured): Report {
  const { commands, singles, tail, bareCommands, single } = measured
  const [cold = [], bare = []] = measured.cold
  const [warm = [], parsed = []] = measured.warm
  const usOf = (times: readonly Took[], count: number): number[] =>
    times.map(({ cpuMs }) => (cpuMs * 1000) / count)
  const sec = (times: readonly Took[]): number[] => times.map(({ cpuMs }) => cpuMs / 1000)
  const coldUs = usOf(cold, commands)
  const singleUs = usOf(single, singles)
  const bareUs = usOf(bare, bareCommands)
  const behind = `restart behind a checkpoint, ${tail} commands after it`
  return {
    rows: [
      { what: 'cold replay: processor time of a command', unit: 'µs', values: coldUs },
      { what: 'decode, step, encode alone', unit: 'µs', values: bareUs },
      ratio('cold replay / decode, step, encode', [coldUs, bareUs], { atMost: 2 }),
      { what: 'cold replay, one command a message', unit: 'µs', values: singleUs },
      ratio(`one command a message / ${BATCH}`, [singleUs, coldUs], { atMost: 1.3 }),
      {
        what: 'cold replay',
        unit: 'commands/s',
        values: cold.map(({ wallMs }) => (commands * 1000) / wallMs),
      },
      { what: 'cold replay', unit: 's', values: cold.map(({ wallMs }) => wallMs / 1000) },
      { what: behind, unit: 's of processor time', values: sec(warm) },
      { what: 'the same read and parsed', unit: 's of processor time', values: sec(parsed) },
      ratio('restart / read and parsed', [sec(warm), sec(parsed)], { atMost: 2 }),
      { what: behind, unit: 's', values: warm.map(({ wallMs }) => wallMs / 1000) },
    ],
    notes: [
      `From the start of the matcher until it leads and is live. The log has ${commands} commands, and ${commands + tail} with a checkpoint behind the first ${commands}: a walk with settlements, ${BATCH} in a message. The log with one command in each message has ${singles}. Processor time is that of the process; the server's is part of the wall time. "Read and parsed" are the messages of the checkpoint and those behind it, from the server, by \`JSON.parse\`.`,
    ],
  }
}

/** Commands of messages as their matcher reads them, applied to an empty market, and the blocks as it writes them. */
function decodeStepEncode(messages: readonly Uint8Array[]): Promise<Took> {
  return took(() => {
    const state = emptyMatcherState(openingOf(benchMarket()))
    for (const [index, data] of messages.entries()) {
      for (const { block } of applyMessage(state, index + 1, decodeCommands(data))) {
        if (block !== undefined) encodeBlock(block)
      }
    }
  })
}

const countCommands = (messages: readonly Uint8Array[]): number =>
  messages.reduce((sum, data) => sum + decodeCommands(data).length, 0)

/** Reads the newest checkpoint and the commands after it. */
function readAndParse(bus: Bus): Promise<Took> {
  return took(async () => {
    const [newest] = await listCheckpoints(bus, market)
    if (newest === undefined) throw new Error('there is no checkpoint')
    const { firstSeq, trailerSeq, commandSeq } = newest
    await parseAll(bus, checkpointsStream(market), { from: firstSeq, to: trailerSeq })
    const { lastSeq: to } = await bus.streamState(commandsStream(market))
    await parseAll(bus, commandsStream(market), { from: commandSeq + 1, to })
  })
}

async function parseAll(
  bus: Bus,
  stream: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  for (let seq = from; seq <= to;) {
    const messages = await bus.read(stream, seq, Math.min(READ_AT_ONCE, to - seq + 1))
    for (const { data } of messages) {
      // The last line of a checkpoint is a digest.
      const lines = Buffer.from(data).toString('utf8').split('\n')
      for (const line of lines) if (/^[[{]/.test(line)) JSON.parse(line)
    }
    seq += messages.length
  }
}

/** Messages that a writer returns. */
const RETURNED_MAX = 2_000

/** Continues one walk with its settlements after the last call; returns the first of the messages that it wrote. */
function createLogWriter(
  bus: Bus,
  batch: number,
): (commands: number) => Promise<readonly Uint8Array[]> {
  const walker = createWalker(SEED)
  const state = emptyMatcherState(openingOf(benchMarket()))
  let written = 0
  return async (commands) => {
    const pending = new Set<Promise<unknown>>()
    const messages: Uint8Array[] = []
    const waiting: LoggedCommand[] = []
    const send = async (some: readonly LoggedCommand[]): Promise<void> => {
      const data = encodeCommands(some)
      if (messages.length < RETURNED_MAX) messages.push(data)
      const appending = bus.append(commandsSubject(market), data)
      const done = appending.finally(() => pending.delete(done))
      pending.add(done)
      if (pending.size >= APPENDS_AT_ONCE) await Promise.race(pending)
    }
    const end = written + commands
    while (written < end) {
      const next = logged(walker.next(state).command, written + 1)
      waiting.push(next, ...settleMatches(state, next, written + 2))
      written = Math.max(written + 1, waiting.at(-1)?.sourceNo ?? 0)
      while (waiting.length >= batch)
        await send(waiting.splice(0, batch === 1 ? 1 : waiting.length))
    }
    if (waiting.length > 0) await send(waiting)
    await Promise.all(pending)
    return messages
  }
}

/** Cost of a matcher's start until it leads its market and is live. */
async function startAndStop(bus: Bus): Promise<Took> {
  globalThis.gc?.()
  let matcher: Matcher | undefined
  const time = await took(async () => {
    matcher = await start(bus, NEVER)
    while (!matcher.isLive()) await delay(LOOK_EVERY_MS)
  })
  await matcher?.stop()
  return time
}

/** Makes a matcher write a checkpoint at its current position. */
async function writeCheckpoint(bus: Bus): Promise<void> {
  const matcher = await start(bus, { ...NEVER, everyCommands: 1 })
  while ((await listCheckpoints(bus, market)).length === 0) await delay(10 * LOOK_EVERY_MS)
  await matcher.stop()
}

/** So far ahead of the bus, which does not believe it, that a tick is always due: it brings the checkpoint. */
const aheadOfTicks = (): number => Date.now() + 3_600_000

function start(bus: Bus, checkpoints: CheckpointSettings): Promise<Matcher> {
  return startMatcher({
    bus,
    market: benchMarket(),
    checkpoints,
    nowMs: aheadOfTicks,
    tickMs: 100,
    ask: () => Promise.resolve({ kind: 'undecided', why: 'no chain is asked in this bench' }),
    facts: observeMatcher(createLog('bench', 'silent')),
    onFatal: (error) => {
      throw error
    },
  })
}
