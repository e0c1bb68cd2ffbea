import { connect } from 'nats'
import { join } from 'node:path'
import { createCommandLog, type LogEntry } from '../actors/order-intake/command-log.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../bus-schemas/subjects.js'
import { createNumbering, type LoggedCommand } from '../core/model/command.js'
import { openClaimThread } from '../data/claim-thread.js'
import { openIntakeRegistry } from '../data/intake-registry.js'
import type { Bus } from '../runtime/bus/bus.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import { createGroupCommit } from '../runtime/process/group-commit.js'
import { createLog } from '../runtime/process/log.js'
import { benchMarket } from './bench-market.js'
import { benchOrder, logged, placing } from './bench-orders.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { startOwnBus } from './own-bus.js'
import { interleaved, ratio, took } from './rounds.js'
import { encodeCommandGroup, encodeCommands } from './bench-market.js'

export const append: Bench = {
  name: 'append',
  title:
    'Orders made durable in a command log with `sync_interval: always`, grouped as the intake does it, compared with a window of `js.publish` with one order each. No caller is answered before the acknowledgement.',
  versionsOf: ['nats', 'nats-server'],
  run,
}

const ORDERS = { tiny: 200, usual: 20_000, full: 40_000 }
/** The peer gets fewer orders, because it is much slower. */
const PEER_ORDERS = { tiny: 100, usual: 3_000, full: 10_000 }
/** Concurrent callers; each submits its next order when the last is acknowledged. */
const CALLERS = 256
const MAX_GROUP = 128

/** Makes the order with this number durable. */
type Submit = (number: number) => Promise<unknown>
export interface Figures {
  readonly perSecond: number
  readonly cpuUs: number
}

async function run({ size, rounds, dir }: BenchContext): Promise<Report> {
  const market = benchMarket()
  const server = await startOwnBus(dir)
  const bus = await connectNatsBus({ url: server.url, name: 'bench', onWarning: () => undefined })
  const connection = await connect({ servers: server.url })
  try {
    const subject = commandsSubject(market.market)
    const stream = commandsStream(market.market)
    const subjects = commandsSubjects(market.market)
    await bus.declareStream({ stream, subject: subjects, description: 'bench' })
    const commands = placements(ORDERS[size])
    const whole = await intakeLog(bus, dir, commands)
    const js = connection.jetstream()
    const submitOne: Submit = (number) =>
      js.publish(subject, encodeCommands([commands[number] as LoggedCommand]))
    const results = await interleaved(rounds, {
      venue: () => drive(ORDERS[size], groupedAppend(bus, subject, commands)),
      whole: () => drive(ORDERS[size], whole.submit),
      peer: () => drive(PEER_ORDERS[size], submitOne),
    })
    await whole.stop()
    return report(results)
  } finally {
    await connection.close()
    await bus.close()
    await server.stop()
  }
}

function report(results: Record<'venue' | 'whole' | 'peer', readonly Figures[]>): Report {
  const rates = (name: keyof typeof results) => results[name].map(({ perSecond }) => perSecond)
  const cpu = (name: keyof typeof results) => results[name].map(({ cpuUs }) => cpuUs)
  return {
    rows: [
      { what: 'venue: grouped append', unit: 'orders/s', values: rates('venue') },
      { what: 'venue: with the claims in the registry', unit: 'orders/s', values: rates('whole') },
      { what: 'window of js.publish', unit: 'orders/s', values: rates('peer') },
      ratio('grouped append / js.publish', [rates('venue'), rates('peer')]),
      ratio('with the registry / js.publish', [rates('whole'), rates('peer')], { atLeast: 6 }),
      { what: 'venue: processor time of an order', unit: 'µs', values: cpu('venue') },
      { what: 'venue: with the registry', unit: 'µs', values: cpu('whole') },
      { what: 'js.publish', unit: 'µs', values: cpu('peer') },
      ratio('processor time, with the registry / js.publish', [cpu('whole'), cpu('peer')], {
        atMost: 0.35,
      }),
      ratio('processor time, grouped / js.publish', [cpu('venue'), cpu('peer')]),
    ],
    notes: [
      `${CALLERS} concurrent callers, each with its next order when the last is acknowledged. Both encode orders into messages of the log, which is most of the venue's cost. The registry is SQLite with FULL durability and stores each order's id and nonce permanently; the peer would need one too, and has none.`,
    ],
  }
}

export function placements(count: number): LoggedCommand[] {
  return Array.from({ length: count }, (_, index) => {
    const order = benchOrder({ number: index + 1, side: 'buy', price: 6_400, lots: 5 })
    return logged(placing(order), index + 1)
  })
}

/** The append alone: commands that wait during an append share the next one. */
export function groupedAppend(
  bus: Bus,
  subject: string,
  commands: readonly LoggedCommand[],
): Submit {
  const committer = createGroupCommit<LoggedCommand>({
    maxItems: MAX_GROUP,
    maxQueue: 2 * CALLERS,
    flush: async (group) => {
      const { data, count } = encodeCommandGroup(group)
      if (count !== group.length) throw new Error('the group does not fit a message')
      await bus.append(subject, data)
    },
  })
  return (number) => committer.submit(commands[number] as LoggedCommand)
}

/** Everything that the intake does with an order after its checks. */
async function intakeLog(bus: Bus, dir: string, commands: readonly LoggedCommand[]) {
  const path = join(dir, 'intake.db')
  const registry = openIntakeRegistry(path, openClaimThread(path))
  const commandLog = createCommandLog({
    market: benchMarket().market,
    contractType: benchMarket().contractType,
    bus,
    registry,
    nowMs: Date.now,
    log: createLog('bench', 'silent'),
    claimOf: () => {
      throw new Error('nothing is read from the log')
    },
  })
  await commandLog.begin({ numbers: createNumbering(1), id: 'bench' })
  let submitted = 0
  return {
    submit: async (number: number) => {
      submitted += 1
      const outcome = await commandLog.submit(entryOf(commands[number] as LoggedCommand, submitted))
      if (outcome.kind !== 'logged') throw new Error(`order ${number} is ${outcome.kind}`)
    },
    stop: async () => {
      await commandLog.stop()
      await registry.close()
    },
  }
}

/** The order with a unique id and nonce, because the registry accepts none twice. */
function entryOf({ command, replyTo, requestId }: LoggedCommand, unique: number): LogEntry {
  if (command.kind !== 'PlaceOrder') throw new Error('not an order')
  const { owner } = command.order
  const orderId = `order-${unique}`
  const nonce = BigInt(unique)
  const order = { ...command.order, orderId, nonce }
  return {
    command: { ...command, order },
    claim: { orderId, owner, nonce, fingerprint: fingerprintOf(unique) },
    ...(replyTo !== undefined && { replyTo }),
    ...(requestId !== undefined && { requestId }),
  }
}

function fingerprintOf(unique: number): Uint8Array {
  const fingerprint = Buffer.alloc(32)
  fingerprint.writeUInt32BE(unique)
  return fingerprint
}

/** Runs the callers until they have submitted `count` orders, and returns the rate. */
export async function drive(orders: number, submit: Submit): Promise<Figures> {
  let next = 0
  let acknowledged = 0
  const caller = async (): Promise<void> => {
    while (next < orders) {
      next += 1
      await submit(next - 1)
      acknowledged += 1
    }
  }
  const { wallMs, cpuMs } = await took(async () => {
    await Promise.all(Array.from({ length: CALLERS }, caller))
  })
  if (acknowledged !== orders) throw new Error(`${acknowledged} of ${orders} are acknowledged`)
  return { perSecond: (orders * 1000) / wallMs, cpuUs: (cpuMs * 1000) / orders }
}
