import { setTimeout as delay } from 'node:timers/promises'
import type { Market } from '../../core/model/market.js'
import { CannotStart } from '../../core/cannot-start.js'
import { BusUnavailable, type Bus } from '../../runtime/bus/bus.js'
import { marketsIn, readRegister } from '../../runtime/bus/market-register.js'
import type { BusPlace } from '../../runtime/bus/nats-access.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { changeReplicas } from '../../runtime/bus/nats-replicas.js'
import { provideUsers } from '../../runtime/bus/nats-users.js'
import { readOperatorKey } from '../../runtime/bus/operator-key.js'
import { acceptForeign } from './accept-foreign.js'
import { carryOut } from './change-market.js'
import { checkVenue, exitCodeOf, printChecks } from './check-venue.js'
import { deployBatchExecutor } from './deploy-batch-executor.js'
import { runBackup } from './backup/run-backup.js'
import { runRestore } from './backup/run-restore.js'
import type { MarketOrder, OperatorTask } from './command-line.js'
import {
  readBackupConfig,
  readBusPlace,
  readCheckConfig,
  readExecutorPlace,
  readOperatorConfig,
  readRestoreConfig,
  readRotationConfig,
  readVenuePlaces,
} from './config.js'
import { exportDay, type ExportTask } from './export/export-day.js'
import { inspect, isEmpty } from './inspect.js'
import { OperatorOrderRefused } from '../market-orders/order-refused.js'
import { printFields, printJson, printStatus } from './print.js'
import { wordFound } from './word-found.js'
import { concludeRotation, rotateKey } from './rotate-key.js'
import { readStatus } from './status.js'

/** A server of this machine, or of one nearby, has answered by then, also a busy one. */
const CONNECT_WITHIN_MS = 15_000

/** How long units are waited for. */
const KNOWN_WITHIN_MS = 2_000
const NOT_KNOWN = [CannotStart, OperatorOrderRefused, BusUnavailable] as const

/** What to print, and the exit code: 0 when all is well, 2 where only something could not be checked. */
export interface Outcome {
  readonly text: string
  readonly exitCode: 0 | 1 | 2
}

/** Carries out one command. Throws CannotStart, OperatorOrderRefused and MarketFileError, each with a message of one line. */
export async function runTask(task: OperatorTask): Promise<Outcome> {
  switch (task.kind) {
    case 'market':
      return changeMarkets(task.order)
    case 'status':
      return showStatus(task.json)
    case 'inspect':
      return showFound(task.subject, task.json)
    case 'bus-users':
      return makeBusUsers(task.dir)
    case 'rotate-key':
      return rotate(task)
    case 'accept-foreign':
      return { text: await acceptForeign(readExecutorPlace(), task.txHash), exitCode: 0 }
    case 'check-deployment':
      return showChecks(task)
    case 'deploy':
      return printed(deployBatchExecutor(await readCheckConfig(), task))
    case 'backup':
      return printed(
        runBackup(await readBackupConfig(), task, (kind, name) => tell(`captures ${kind} ${name}`)),
      )
    case 'restore':
      return printed(runRestore(readRestoreConfig(), task, tell))
    case 'bus-replicas':
      return replicate(task.replicas)
    case 'export':
      return printed(writeDay(task))
  }
}

const writeDay = async (task: ExportTask): Promise<readonly string[]> =>
  exportDay({ dataDir: (await readVenuePlaces()).dataDir, nowMs: Date.now() }, task)

const printed = async (lines: Promise<readonly string[]>): Promise<Outcome> => ({
  text: (await lines).join('\n'),
  exitCode: 0,
})

/** What takes long says where it is. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

async function changeMarkets(order: MarketOrder): Promise<Outcome> {
  const config = readOperatorConfig()
  const { operatorKeyFile: file } = config
  const operatorKey = file === undefined ? undefined : readOperatorKey(file)
  const bus = await connectWithin(config.place, CONNECT_WITHIN_MS)
  const lines = await carryOut({ ...config, operatorKey, bus, nowMs: Date.now }, order)
  await bus.close()
  return { text: lines.join('\n'), exitCode: 0 }
}

/** Throws OperatorOrderRefused when the bus does not answer in time. */
const connectWithin = (place: BusPlace, withinMs: number): Promise<Bus> =>
  Promise.race([
    connectNatsBus({ ...place, name: 'operator', user: 'operator' }),
    delay(withinMs).then(() => {
      throw new OperatorOrderRefused(
        `the bus at ${place.url} does not answer: is the venue running?`,
      )
    }),
  ])

async function replicate(replicas: number): Promise<Outcome> {
  const lines: string[] = []
  await changeReplicas(readBusPlace(), replicas, ({ stream, before, after }) => {
    lines.push(`${stream}: ${before === after ? `has ${after}` : `${before} to ${after}`}`)
  })
  return { text: [`servers of each stream, all up to date:`, ...lines].join('\n'), exitCode: 0 }
}

async function makeBusUsers(dir: string): Promise<Outcome> {
  const { file, keys } = await provideUsers(dir)
  const lines = [
    `${Object.keys(keys).length} seeds in ${dir}: give each process its own, and keep operator.nk apart`,
    `${file}: include it in the configuration of nats-server, then reload the server`,
    `OPERATOR_KEYS=operator=${keys.operator}`,
  ]
  return { text: lines.join('\n'), exitCode: 0 }
}

async function showStatus(json: boolean): Promise<Outcome> {
  const status = await readStatus({ ...(await readVenuePlaces()), nowMs: Date.now() })
  return {
    text: json ? printJson(status) : printStatus(status),
    exitCode: status.isWell ? 0 : 1,
  }
}

async function showFound(subject: string, json: boolean): Promise<Outcome> {
  const found = await inspect(await readVenuePlaces(), subject)
  if (isEmpty(found)) throw new OperatorOrderRefused(`nothing is known of ${subject}`)
  const text = json ? printJson(found) : printFields(wordFound(found, await knownMarkets()))
  return { text, exitCode: 0 }
}

/** The registered markets, whose units a person reads; none where the venue is down, whose databases can be read all the same. */
async function knownMarkets(): Promise<readonly Market[]> {
  try {
    const bus = await connectWithin(readBusPlace(), KNOWN_WITHIN_MS)
    const markets = marketsIn(await readRegister(bus))
    await bus.close()
    return markets
  } catch (error) {
    if (NOT_KNOWN.some((kind) => error instanceof kind)) return []
    throw error
  }
}

async function rotate({
  role,
  newKey,
}: Extract<OperatorTask, { kind: 'rotate-key' }>): Promise<Outcome> {
  const config = await readRotationConfig(role)
  return newKey === undefined ? concludeRotation(config) : rotateKey(config, newKey)
}

async function showChecks({
  senders,
  json,
}: Extract<OperatorTask, { kind: 'check-deployment' }>): Promise<Outcome> {
  const checks = await checkVenue(await readCheckConfig(), senders)
  return {
    text: json ? printJson(checks) : printChecks(checks),
    exitCode: exitCodeOf(checks),
  }
}
