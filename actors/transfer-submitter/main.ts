import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { guardChain } from '../../chain/reads/guard-chain.js'
import { keyEvents, openSigners } from '../../chain/signing/open-signers.js'
import { connectVenueBus } from '../../runtime/bus/stream-versions.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess, type RunningProcess } from '../../runtime/process/process.js'
import { readSubmitterConfig } from './config.js'
import { createDepositRules } from './deposit-rules.js'
import { sampleWallet } from '../sending/measure.js'
import { openSubmitter, serveOff, type RunningSubmitter } from './open-submitter.js'
import { createWithdrawalRules } from './withdrawal-rules.js'

/** deposit-submitter or withdrawal-submitter, as TRANSFER_KIND says. */
const config = orExit(readSubmitterConfig)
const name = `${config.kind}-submitter` as const

runProcess({
  name,
  level: config.LOG_LEVEL,
  start: async ({ log, fail, end, metrics }) => {
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const { kind, key, reserveWei, hourBudgetWei, answerWithinMs } = config
    const { RPC_URL: rpcUrl } = config
    if (key !== undefined)
      await guardChain({
        rpcUrl,
        chainId: deployment.chainId,
        log,
        show: metrics.gauge('venue_other_chain'),
        onFatal: fail,
      })
    const bus = await connectVenueBus({
      versions: streamVersions([]),
      config,
      user: name,
      onWarning: (message) => log.warn(message),
    })
    const { perpManager } = deployment
    const open = async (): Promise<RunningProcess | RunningSubmitter> => {
      if (key === undefined) return serveOff(bus, kind, 'no key')
      const { DATA_DIR: dataDir } = config
      const signers = openSigners(key, deployment.chainId, keyEvents(log, end))
      const options = {
        bus,
        rpcUrl,
        signers,
        deployment,
        dataDir,
        log,
        onFatal: fail,
        reserveWei,
        hourBudgetWei,
        answerWithinMs,
      }
      if (kind === 'withdrawal') {
        return openSubmitter({
          ...options,
          kind,
          createRules: (chain) => createWithdrawalRules({ ...chain, deployment }),
        })
      }
      if (perpManager === undefined) return serveOff(bus, kind, 'no perp manager')
      return openSubmitter({
        ...options,
        kind,
        createRules: (chain) => createDepositRules({ ...chain, deployment, perpManager }),
      })
    }
    const submitter = await open()
    if ('gasStanding' in submitter) sampleWallet(metrics, name, submitter.gasStanding)
    return {
      stop: async () => {
        await submitter.stop()
        await bus.close()
      },
    }
  },
})
