import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { createChainClient } from '../../chain/reads/client.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { guardChain, type ChainGuardOptions } from '../../chain/reads/guard-chain.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { registeredMarkets } from '../../runtime/bus/market-register.js'
import { exitIfCannotStart, orExit } from '../../runtime/process/cannot-start.js'
import { readCommandLine } from '../../runtime/process/command-line.js'
import { answerPing, runProcess } from '../../runtime/process/process.js'
import { audit, keepAuditing, type AuditOptions } from './audit.js'
import { auditOnce, type WithinTime } from './audit-once.js'
import { readAuditorConfig, USAGE } from './config.js'
import { makePrivate } from '../../runtime/process/private-files.js'

makePrivate()

const PROCESS = 'auditor'

readCommandLine(USAGE, { options: {} })
const config = orExit(readAuditorConfig)

type Watched = Pick<ChainGuardOptions, 'log' | 'show' | 'onFatal'>

/** Without a deployment file the chain of the node is not known to be the right one: no other setting names it. */
async function open(
  onWarning: (message: string) => void,
  watched: Watched,
  withinTime: WithinTime = (opened) => opened,
): Promise<Omit<AuditOptions, 'markets'>> {
  const { RPC_URL: rpcUrl, DEPLOYMENT_FILE: file } = config
  if (file !== undefined) {
    const { chainId } = await loadDeployment(file)
    await guardChain({ ...watched, rpcUrl, chainId })
  }
  return {
    bus: await withinTime(
      connectArchivedBus({
        archiveDir: config.FEED_ARCHIVE_DIR,
        config,
        user: PROCESS,
        versions: streamVersions([]),
        onWarning,
      }),
    ),
    client: createChainClient(rpcUrl, 'read'),
    dataDir: config.DATA_DIR,
    fromBlock: config.AUDIT_FROM_BLOCK,
    feesKept: config.AUDIT_FEES_KEPT === '1',
  }
}

/** One audit says at its end what it could not read. */
const unwatched: Watched = {
  log: { error: () => undefined, info: () => undefined },
  show: () => undefined,
  onFatal: exitIfCannotStart,
}

/** For one audit, of the markets that are registered by then. */
const withMarkets = async (opened: Awaited<ReturnType<typeof open>>): Promise<AuditOptions> => ({
  ...opened,
  markets: await registeredMarkets(opened.bus),
})

if (config.AUDIT_EVERY_S === 0)
  await auditOnce(async (withinTime) => {
    const opened = await open(() => undefined, unwatched, withinTime)
    return withinTime(withMarkets(opened))
  }, config.NATS_URL)
else
  runProcess({
    name: PROCESS,
    level: config.LOG_LEVEL,
    start: async ({ log, fail, metrics }) => {
      const opened = await open((message) => log.warn(message), {
        log,
        show: metrics.gauge('venue_other_chain'),
        onFatal: fail,
      })
      const everyMs = config.AUDIT_EVERY_S * 1_000
      const once = async () => audit(await withMarkets(opened))
      const auditing = keepAuditing({ audit: once, everyMs, log })
      const pings = await answerPing(opened.bus, PROCESS, () => auditing.standing())
      return {
        async stop() {
          auditing.stop()
          await pings.stop()
          await opened.bus.close()
        },
      }
    },
  })
