import { setTimeout as delay } from 'node:timers/promises'
import type { CheckpointSettings } from '../actors/matcher/checkpoints.js'
import { startMatcher, type Matcher } from '../actors/matcher/matcher.js'
import { observeMatcher } from '../actors/matcher/observe.js'
import { commandsSubject } from '../bus-schemas/subjects.js'
import type { LoggedCommand } from '../core/engine/command.js'
import { openingOf } from '../core/contracts/market-terms.js'
import { emptyMatcherState } from '../core/engine/state.js'
import type { Bus } from '../runtime/bus/bus.js'
import { listCheckpoints } from '../runtime/bus/checkpoint-store.js'
import { openMarketLog } from '../runtime/bus/market-log.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import { createLog } from '../runtime/process/log.js'
import { benchMarket } from './bench-market.js'
import { logged } from './bench-orders.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { startOwnBus } from './own-bus.js'
import { took, type Took } from './rounds.js'
import { BATCH } from './walk-blocks.js'
import { createWalker, settleMatches } from './walk.js'
import { encodeCommands } from './bench-market.js'

export const recover: Bench = {
  name: 'recover',
  title:
    'Restart of a killed matcher until it leads its market again, on a real bus: from the first command of its log, comparing its whole feed, and from a checkpoint.',
  versionsOf: ['nats-server', 'zod'],
  run,
}

/** Commands that a cold start replays, and that a checkpoint covers in the other case. */
const COMMANDS = { tiny: 1_000, usual: 950_000, full: 950_000 }
/** Commands after the newest checkpoint when the matcher is killed: half of the most that can accumulate. */
const TAIL = { tiny: 500, usual: 50_000, full: 50_000 }
const SEED = 3
const APPENDS_AT_ONCE = 32
const LOOK_EVERY_MS = 1
const NEVER: CheckpointSettings = {
  everyCommands: Infinity,
  everyMs: Infinity,
  keepCommandsMs: Infinity,
}
const { market } = benchMarket()

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const server = await startOwnBus(dir)
  const bus = await connectNatsBus({ url: server.url, name: 'bench', onWarning: () => undefined })
  try {
    const [commands, tail] = [COMMANDS[size], TAIL[size]]
    await openMarketLog(bus, benchMarket(), { nowMs: Date.now, onRaised: () => undefined })
    const append = createLogWriter(bus)
    await append(commands)
    await startAndStop(bus)
    say(`${commands} commands are in the log, and what comes of them in the feed`)
    const cold = await startOften(bus, rounds)
    await writeCheckpoint(bus)
    await append(tail)
    await startAndStop(bus)
    say(`a checkpoint is written, and ${tail} commands behind it`)
    const warm = await startOften(bus, rounds)
    return report({ commands, tail, cold, warm })
  } finally {
    await bus.close()
    await server.stop()
  }
}

interface Measured {
  readonly commands: number
  readonly tail: number
  readonly cold: readonly Took[]
  readonly warm: readonly Took[]
}

function report({ commands, tail, cold, warm }: Measured): Report {
  const rate = (ms: number): number => (commands * 1000) / ms
  return {
    rows: [
      {
        what: 'cold replay',
        unit: 'commands per second of processor time',
        values: cold.map(({ cpuMs }) => rate(cpuMs)),
        goal: { atLeast: 100_000 },
      },
      { what: 'cold replay', unit: 'commands/s', values: cold.map(({ wallMs }) => rate(wallMs)) },
      {
        what: `restart behind a checkpoint, ${tail} commands after it`,
        unit: 's of processor time',
        values: warm.map(({ cpuMs }) => cpuMs / 1000),
        goal: { atMost: 2 },
      },
      {
        what: `restart behind a checkpoint, ${tail} commands after it`,
        unit: 's',
        values: warm.map(({ wallMs }) => wallMs / 1000),
      },
    ],
    notes: [
      `From the start of the matcher until it leads and is live. The log has ${commands} commands, and ${commands + tail} with a checkpoint behind the first ${commands}: a walk with settlements, ${BATCH} in a message. Processor time is the matcher's; the server's is part of the wall time.`,
    ],
  }
}

/** Continues one walk with its settlements after the last call. */
function createLogWriter(bus: Bus): (commands: number) => Promise<void> {
  const walker = createWalker(SEED)
  const state = emptyMatcherState(openingOf(benchMarket()))
  let written = 0
  return async (commands) => {
    const pending = new Set<Promise<unknown>>()
    let message: LoggedCommand[] = []
    const send = async (): Promise<void> => {
      const appending = bus.append(commandsSubject(market), encodeCommands(message))
      const done = appending.finally(() => pending.delete(done))
      pending.add(done)
      message = []
      if (pending.size >= APPENDS_AT_ONCE) await Promise.race(pending)
    }
    const end = written + commands
    while (written < end) {
      const next = logged(walker.next(state).command, written + 1)
      message.push(next, ...settleMatches(state, next, written + 2))
      written = Math.max(written + 1, message.at(-1)?.sourceNo ?? 0)
      if (message.length >= BATCH) await send()
    }
    if (message.length > 0) await send()
    await Promise.all(pending)
  }
}

/** Measures `count` starts; the one that wrote the compared feed is not included. */
async function startOften(bus: Bus, rounds: number): Promise<Took[]> {
  const times: Took[] = []
  for (let round = 0; round < rounds; round += 1) times.push(await startAndStop(bus))
  return times
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

function start(bus: Bus, checkpoints: CheckpointSettings): Promise<Matcher> {
  return startMatcher({
    ...{ bus, market: benchMarket(), checkpoints, nowMs: Date.now, tickMs: 100 },
    ask: () => Promise.resolve({ kind: 'undecided', why: 'no chain is asked in this bench' }),
    facts: observeMatcher(createLog('bench', 'silent')),
    onFatal: (error) => {
      throw error
    },
  })
}
