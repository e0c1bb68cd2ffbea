import { setTimeout as delay } from 'node:timers/promises'
import { type Matcher, startMatcher } from '../actors/matcher/matcher.js'
import type { CheckpointSettings } from '../actors/matcher/checkpointing.js'
import { observeMatcher } from '../actors/matcher/observe.js'
import type { Bus } from '../bus-schemas/bus.js'
import { listCheckpoints } from '../bus-schemas/checkpoint-store.js'
import { encodeCommands } from '../bus-schemas/command-message.js'
import { createLog } from '../bus-schemas/log.js'
import { connectNatsBus } from '../bus-schemas/nats-bus.js'
import { commandsStream, commandsSubject } from '../bus-schemas/subjects.js'
import type { LoggedCommand } from '../core/command.js'
import { emptyMatcherState } from '../core/matcher-state.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { benchMarket } from './bench-market.js'
import { logged } from './bench-orders.js'
import { startOwnBus } from './own-bus.js'
import { type Took, took } from './rounds.js'
import { BATCH } from './walk-blocks.js'
import { createWalker, settleMatches } from './walk.js'

export const recover: Bench = {
  name: 'recover',
  title:
    'A killed matcher until it leads its market again, on a real bus: from the first command of its log, comparing all of its feed, and from a checkpoint.',
  versionsOf: ['nats-server', 'zod'],
  run,
}

/** Commands that are replayed, and with a checkpoint behind them those that are not. */
const COMMANDS = { tiny: 1_000, usual: 950_000, full: 950_000 }
/** Commands behind the newest checkpoint when the matcher dies: half of what may gather there. */
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
    await bus.declareStream({
      stream: commandsStream(market),
      subject: commandsSubject(market),
      description: 'bench',
    })
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
      `From the start of the matcher until it leads and is live. The log has ${commands} commands, and ${commands + tail} with a checkpoint behind the first ${commands}: a walk with settlements, ${BATCH} in a message. The processor time is the matcher's; the server's is in the wall time.`,
    ],
  }
}

/** Goes on with one walk and its settlements wherever the last call ended. */
function createLogWriter(bus: Bus): (commands: number) => Promise<void> {
  const walker = createWalker(SEED)
  const state = emptyMatcherState(benchMarket())
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

/** So many starts; the one that wrote what they compare does not count. */
async function startOften(bus: Bus, rounds: number): Promise<Took[]> {
  const times: Took[] = []
  for (let round = 0; round < rounds; round += 1) times.push(await startAndStop(bus))
  return times
}

/** What it takes a matcher to lead its market and to be live. */
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

/** Lets a matcher write one where it stands. */
async function writeCheckpoint(bus: Bus): Promise<void> {
  const matcher = await start(bus, { ...NEVER, everyCommands: 1 })
  while ((await listCheckpoints(bus, market)).length === 0) await delay(10 * LOOK_EVERY_MS)
  await matcher.stop()
}

function start(bus: Bus, checkpoints: CheckpointSettings): Promise<Matcher> {
  return startMatcher({
    ...{ bus, market: benchMarket(), checkpoints, nowMs: Date.now, tickMs: 100 },
    ask: () => Promise.resolve({ kind: 'undecided', why: 'nobody is asked here' }),
    facts: observeMatcher(createLog('bench', 'silent')),
    onFatal: (error) => {
      throw error
    },
  })
}
