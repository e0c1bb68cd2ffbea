import { setTimeout as delay } from 'node:timers/promises'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { ChainUnreachable, createChainClient } from '../../chain/reads/client.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { loadDeployedMarkets, MarketFileError } from '../../data/markets.js'
import { BusUnavailable } from '../../runtime/bus/bus.js'
import { exitIfCannotStart, orExit } from '../../runtime/process/cannot-start.js'
import { readCommandLine } from '../../runtime/process/command-line.js'
import { answerPing, runProcess } from '../../runtime/process/process.js'
import { audit, ChainMoved, keepAuditing, type AuditOptions } from './audit.js'
import { readAuditorConfig, USAGE } from './config.js'
import { wordVerdicts } from './verdicts.js'

const PROCESS = 'auditor'
/** A server that has just started has loaded its streams by then. */
const CONNECT_WITHIN_MS = 5_000
/** Exit code of an audit that was not made; a difference is 1. */
const NOT_MADE_CODE = 2
/** What keeps an audit from being made while the program is right, in one line. */
const NOT_MADE = [BusUnavailable, ChainUnreachable, ChainMoved, MarketFileError] as const

readCommandLine(USAGE, { options: {} })
const config = orExit(readAuditorConfig)

async function open(onWarning: (message: string) => void): Promise<AuditOptions> {
  const { markets } = loadDeployedMarkets(config)
  return {
    bus: await connectArchivedBus({
      archiveDir: config.FEED_ARCHIVE_DIR,
      ...{ config, user: PROCESS, versions: streamVersions(markets), onWarning },
    }),
    client: createChainClient(config.RPC_URL, 'read'),
    markets,
    dataDir: config.DATA_DIR,
    fromBlock: config.AUDIT_FROM_BLOCK,
    feesKept: config.AUDIT_FEES_KEPT === '1',
  }
}

/** One audit: prints its verdicts and exits with 1 when anything differs. */
async function once(): Promise<void> {
  const options = await Promise.race([
    open(() => undefined),
    delay(CONNECT_WITHIN_MS).then(() => {
      throw new BusUnavailable(
        `the bus at ${config.NATS_URL} does not answer: is the venue running?`,
      )
    }),
  ])
  const verdicts = await audit(options)
  process.stdout.write(`${wordVerdicts(verdicts)}\n`)
  if (verdicts.some(({ result }) => result === 'failed')) process.exitCode = 1
  await options.bus.close()
}

function exitNotMade(error: unknown): never {
  if (!NOT_MADE.some((kind) => error instanceof kind)) exitIfCannotStart(error)
  const { message, cause } = error as Error
  const deeper = cause instanceof Error ? ` (${cause.message})` : ''
  process.stderr.write(`venue: the audit was not made: ${message}${deeper}\n`)
  process.exit(NOT_MADE_CODE)
}

if (config.AUDIT_EVERY_S === 0) await once().catch(exitNotMade)
else
  runProcess({
    name: PROCESS,
    level: config.LOG_LEVEL,
    start: async ({ log }) => {
      const options = await open((message) => log.warn(message))
      const everyMs = config.AUDIT_EVERY_S * 1_000
      const auditing = keepAuditing({ audit: () => audit(options), everyMs, log })
      const pings = await answerPing(options.bus, PROCESS, () => auditing.standing())
      return {
        async stop() {
          auditing.stop()
          await pings.stop()
          await options.bus.close()
        },
      }
    },
  })
