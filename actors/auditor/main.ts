import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { createChainClient } from '../../chain/client.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { answerPing } from '../answer-ping.js'
import { runActor } from '../run-actor.js'
import { audit, type AuditOptions } from './audit.js'
import { readAuditorConfig } from './config.js'
import { keepAuditing } from './keep-auditing.js'
import { wordVerdicts } from './verdicts.js'

const PROCESS = 'auditor'
const config = readAuditorConfig()

async function open(onWarning: (message: string) => void): Promise<AuditOptions> {
  const url = config.NATS_URL
  const monitorUrl = config.NATS_MONITOR_URL
  return {
    bus: await connectNatsBus({ url, name: PROCESS, monitorUrl, onWarning }),
    client: createChainClient(config.RPC_URL, 'read'),
    markets: loadDeployedMarkets(config.DEPLOYMENT_FILE),
    dataDir: config.DATA_DIR,
    fromBlock: config.AUDIT_FROM_BLOCK,
    feesKept: config.AUDIT_FEES_KEPT === '1',
  }
}

/** One audit for a person or a script: prints its verdicts, and ends with 1 when anything differs. */
async function once(): Promise<void> {
  const options = await open(() => undefined)
  const verdicts = await audit(options)
  process.stdout.write(`${wordVerdicts(verdicts)}\n`)
  if (verdicts.some(({ result }) => result === 'failed')) process.exitCode = 1
  await options.bus.close()
}

if (config.AUDIT_EVERY_S === 0) await once()
else
  runActor({
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
