import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { loadDeployment } from '../../chain/deployment.js'
import { runActor } from '../run-actor.js'
import { openSubmitter } from '../submitter/open-submitter.js'
import { serveOff } from '../submitter/serve-off.js'
import { readWithdrawalSubmitterConfig } from './config.js'
import { createWithdrawalRules } from './withdrawal-rules.js'

const NAME = 'withdrawal-submitter'
const config = readWithdrawalSubmitterConfig()

runActor({
  name: NAME,
  level: config.LOG_LEVEL,
  start: async ({ log, fail }) => {
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: NAME,
      monitorUrl: config.NATS_MONITOR_URL,
      onWarning: (message) => log.warn(message),
    })
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const { WITHDRAWAL_SUBMITTER_PRIVATE_KEY: privateKey } = config
    const open = async () => {
      if (privateKey === undefined) return serveOff(bus, 'withdrawal', 'no key')
      return openSubmitter({
        ...{ kind: 'withdrawal', bus, privateKey, deployment, log, onFatal: fail },
        createRules: (chain) => createWithdrawalRules({ ...chain, deployment }),
        rpcUrl: config.RPC_URL,
        dataDir: config.DATA_DIR,
        reserveWei: config.WITHDRAWAL_GAS_RESERVE_WEI,
        hourBudgetWei: config.WITHDRAWAL_GAS_BUDGET_WEI_PER_HOUR,
        answerWithinMs: config.WITHDRAWAL_WAIT_MS,
      })
    }
    const submitter = await open()
    return {
      stop: async () => {
        await submitter.stop()
        await bus.close()
      },
    }
  },
})
