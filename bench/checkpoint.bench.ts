import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { startMatcher } from '../actors/matcher/matcher.js'
import { observeMatcher, type MatcherObserver } from '../actors/matcher/observe.js'
import type { CheckpointSettings } from '../actors/matcher/settings.js'
import { decodeBlock } from '../bus-schemas/blocks.js'
import { commandsSubject, feedStream } from '../bus-schemas/subjects.js'
import type { Command, LoggedCommand } from '../core/model/command.js'
import { LIVE_ORDERS_MAX } from '../core/model/limits.js'
import type { Order } from '../core/model/order.js'
import { AppendUnknown, type Bus } from '../runtime/bus/bus.js'
import { openMarketLog } from '../runtime/bus/market-log.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import { createLog } from '../runtime/process/log.js'
import { benchMarket, encodeCommands } from './bench-market.js'
import { cancelling, logged, placing, restingOrder } from './bench-orders.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { startOwnBus } from './own-bus.js'
import { percentile, ratio } from './rounds.js'

export const checkpoint: Bench = {
  name: 'checkpoint',
  title:
    'Orders while a matcher writes a checkpoint of a full market, compared with orders while it does not.',
  versionsOf: ['nats-server'],
  run,
}

/** Live orders; the warm-up round and each measured one place and cancel some beside them. */
const LIVE = { tiny: 500, usual: LIVE_ORDERS_MAX - 10_000, full: LIVE_ORDERS_MAX - 10_000 }
const BATCH = 64
const APPENDS_AT_ONCE = 32
/** Commands per second. */
const PACE = 400
/** A window without a checkpoint lasts as long as the one with it before; the first has this length. */
const FIRST_WINDOW_MS = { tiny: 100, usual: 4_000, full: 8_000 }
const TURN_RESOLUTION_MS = 1
const SETTLED_MS = 500
const { market } = benchMarket()

interface Window {
  readonly latenciesMs: readonly number[]
  /** The longest turn of the event loop. */
  readonly turnMs: number
  readonly lastedMs: number
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const server = await startOwnBus(dir)
  const bus = await connectNatsBus({ url: server.url, name: 'bench', onWarning: () => undefined })
  try {
    await openMarketLog(bus, benchMarket(), {
      writer: 'matcher',
      nowMs: Date.now,
      onRaised: () => undefined,
    })
    await fill(bus, LIVE[size])
    const settings = { everyCommands: Infinity, everyMs: Infinity, keepCommandsMs: Infinity }
    const written = createSignal()
    const matcher = await start(bus, settings, written.raise)
    while (!matcher.isLive()) await delay(10)
    say(`${LIVE[size]} orders rest`)
    const orders = await createOrders(bus, LIVE[size])
    const without: Window[] = []
    const across: Window[] = []
    let lastsMs = FIRST_WINDOW_MS[size]
    for (let round = 0; round <= rounds; round += 1) {
      await collectGarbage()
      const quiet = await observed(orders, delay(lastsMs))
      await collectGarbage()
      const writing = written.next()
      settings.everyCommands = 1
      const busy = await observed(orders, writing)
      settings.everyCommands = Infinity
      lastsMs = busy.lastedMs
      if (round === 0) continue
      without.push(quiet)
      across.push(busy)
    }
    await orders.stop()
    await matcher.stop()
    return report(LIVE[size], without, across)
  } finally {
    await bus.close()
    await server.stop()
  }
}

function report(live: number, without: readonly Window[], across: readonly Window[]): Report {
  const share = (windows: readonly Window[], part: number): number[] =>
    windows.map(({ latenciesMs }) => percentile(latenciesMs, part))
  const turns = (windows: readonly Window[]): number[] => windows.map(({ turnMs }) => turnMs)
  const samples = Math.min(...across.map(({ latenciesMs }) => latenciesMs.length))
  return {
    rows: [
      { what: 'order, p50 without a checkpoint', unit: 'ms', values: share(without, 0.5) },
      { what: 'order, p50 across one', unit: 'ms', values: share(across, 0.5) },
      { what: 'order, p99 without a checkpoint', unit: 'ms', values: share(without, 0.99) },
      { what: 'order, p99 across one', unit: 'ms', values: share(across, 0.99) },
      ratio('p99 across / without', [share(across, 0.99), share(without, 0.99)], { atMost: 1.5 }),
      { what: 'longest turn of the event loop without', unit: 'ms', values: turns(without) },
      {
        what: 'longest turn of the event loop across one',
        unit: 'ms',
        values: turns(across),
        goal: { atMost: 20 },
      },
      {
        what: 'a checkpoint, from its capture until it is durable',
        unit: 'ms',
        values: across.map(({ lastedMs }) => lastedMs),
      },
    ],
    notes: [
      `${live} orders rest. ${PACE} commands per second are timed from when they are due until their block is delivered; a window with a checkpoint lasts from its capture until it is durable and has at least ${samples} of them. Bench and matcher are one process, so that a turn includes the work of both.`,
    ],
  }
}

/** Logs orders at prices that never cross, BATCH in a message. */
async function fill(bus: Bus, count: number): Promise<void> {
  const pending = new Set<Promise<unknown>>()
  for (let from = 1; from <= count; from += BATCH) {
    const commands: LoggedCommand[] = []
    for (let number = from; number < from + BATCH && number <= count; number += 1) {
      commands.push(logged(placing(restingOrder(number)), number))
    }
    const appending = bus.append(commandsSubject(market), encodeCommands(commands))
    const done = appending.finally(() => pending.delete(done))
    pending.add(done)
    if (pending.size >= APPENDS_AT_ONCE) await Promise.race(pending)
  }
  await Promise.all(pending)
}

interface Orders {
  /** Latencies of the commands sent from now on. */
  readonly measure: () => number[]
  readonly stop: () => Promise<void>
}

/** Sends an order and its cancel in turn at an even pace. */
async function createOrders(bus: Bus, firstNo: number): Promise<Orders> {
  const sentAt = new Map<number, readonly number[]>()
  let latencies: number[] = []
  const { lastSeq } = await bus.streamState(feedStream(market))
  const following = await bus.follow({
    stream: feedStream(market),
    fromSeq: lastSeq + 1,
    onMessage: ({ data }) => {
      const { commandSeq } = decodeBlock(data)
      const dueAt = sentAt.get(commandSeq) ?? []
      sentAt.delete(commandSeq)
      for (const at of dueAt) latencies.push(performance.now() - at)
    },
    onError: (error) => {
      throw error
    },
  })
  let no = firstNo
  let resting: Order | undefined
  const next = (): Command => {
    if (resting !== undefined) {
      const cancel = cancelling(resting)
      resting = undefined
      return cancel
    }
    resting = restingOrder(no)
    return placing(resting)
  }
  const startedAt = performance.now()
  let sent = 0
  /** What is due goes into one message when the one before is acknowledged, as the intake does it. */
  const send = async (): Promise<void> => {
    const dueAt: number[] = []
    const commands: LoggedCommand[] = []
    const due = ((performance.now() - startedAt) * PACE) / 1000
    for (; sent < due && commands.length < BATCH; sent += 1) {
      no += 1
      commands.push(logged(next(), no))
      dueAt.push(startedAt + (sent * 1000) / PACE)
    }
    if (commands.length === 0) return
    try {
      sentAt.set(await bus.append(commandsSubject(market), encodeCommands(commands)), dueAt)
    } catch (error) {
      // On a disk that stalls for seconds some orders may go uncounted.
      if (!(error instanceof AppendUnknown)) throw error
    }
  }
  let stopped = false
  const sending = (async () => {
    for (; !stopped; await delay(1)) await send()
  })()
  return {
    measure: () => (latencies = []),
    stop: async () => {
      stopped = true
      await sending
      await following.stop()
    },
  }
}

/** Ends when the commands are answered that a collection has held up. */
async function collectGarbage(): Promise<void> {
  globalThis.gc?.()
  await delay(SETTLED_MS)
}

/** The orders during some work. */
async function observed(orders: Orders, work: Promise<void>): Promise<Window> {
  const turns = monitorEventLoopDelay({ resolution: TURN_RESOLUTION_MS })
  const measured = orders.measure()
  const startedAt = performance.now()
  turns.enable()
  await work
  turns.disable()
  // A copy: what is answered later has waited for the next collection of garbage.
  const latenciesMs = [...measured]
  return { latenciesMs, turnMs: turns.max / 1e6, lastedMs: performance.now() - startedAt }
}

function createSignal() {
  let wake: (() => void) | undefined
  return {
    raise: () => wake?.(),
    next: () => new Promise<void>((resolve) => (wake = resolve)),
  }
}

function start(bus: Bus, checkpoints: CheckpointSettings, onWritten: () => void) {
  const facts: MatcherObserver = {
    ...observeMatcher(createLog('bench', 'silent')),
    checkpointWritten: onWritten,
    checkpointFailed: (error) => {
      throw error
    },
  }
  return startMatcher({
    bus,
    market: benchMarket(),
    checkpoints,
    nowMs: Date.now,
    tickMs: 1_000,
    facts,
    ask: () => Promise.resolve({ kind: 'undecided', why: 'no chain is asked in this bench' }),
    onFatal: (error) => {
      throw error
    },
  })
}
