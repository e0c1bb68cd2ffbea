import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { createChainClient } from '../../chain/reads/client.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { loadDeployedMarkets } from '../../data/markets.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { readCommandLine } from '../../runtime/process/command-line.js'
import { answerPing, runProcess } from '../../runtime/process/process.js'
import { audit, keepAuditing, type AuditOptions } from './audit.js'
import { auditOnce } from './audit-once.js'
import { readAuditorConfig, USAGE } from './config.js'
import { makePrivate } from '../../runtime/process/private-files.js'

makePrivate()

const PROCESS = 'auditor'

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

if (config.AUDIT_EVERY_S === 0) await auditOnce(() => open(() => undefined), config.NATS_URL)
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
