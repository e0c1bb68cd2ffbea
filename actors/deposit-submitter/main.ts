import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { loadDeployment } from '../../chain/deployment.js'
import { runActor } from '../run-actor.js'
import { openSubmitter } from '../submitter/open-submitter.js'
import { serveOff } from '../submitter/serve-off.js'
import { readDepositSubmitterConfig } from './config.js'
import { createDepositRules } from './deposit-rules.js'

const NAME = 'deposit-submitter'
const config = readDepositSubmitterConfig()

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
    const { DEPOSIT_SUBMITTER_PRIVATE_KEY: privateKey } = config
    const { perpManager } = deployment
    const open = async () => {
      if (privateKey === undefined) return serveOff(bus, 'deposit', 'no key')
      if (perpManager === undefined) return serveOff(bus, 'deposit', 'no perp manager')
      return openSubmitter({
        ...{ kind: 'deposit', bus, privateKey, deployment, log, onFatal: fail },
        createRules: (chain) => createDepositRules({ ...chain, deployment, perpManager }),
        rpcUrl: config.RPC_URL,
        dataDir: config.DATA_DIR,
        reserveWei: config.DEPOSIT_GAS_RESERVE_WEI,
        hourBudgetWei: config.DEPOSIT_GAS_BUDGET_WEI_PER_HOUR,
        answerWithinMs: config.DEPOSIT_WAIT_MS,
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
