import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { createProjection } from '../../data/apply-block.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { HISTORY_FILE, historyPath } from '../../data/history-database.js'
import { openDatabase } from '../../data/open.js'
import { answerPing } from '../answer-ping.js'
import { runActor } from '../run-actor.js'
import { readProjectorConfig } from './config.js'
import { startProjector } from './project.js'

const PROCESS = 'projector'
const config = readProjectorConfig()

runActor({
  name: PROCESS,
  level: config.LOG_LEVEL,
  start: async ({ log, fail }) => {
    const markets = loadDeployedMarkets(config.DEPLOYMENT_FILE)
    const db = openDatabase({ path: historyPath(config.DATA_DIR), ...HISTORY_FILE })
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: PROCESS,
      monitorUrl: config.NATS_MONITOR_URL,
      onWarning: (message) => log.warn(message),
    })
    const projector = await startProjector({
      bus,
      projection: createProjection(db, markets),
      markets: markets.map(({ market }) => market),
      log,
      onFatal: fail,
    })
    const pings = await answerPing(bus, PROCESS, () => projector.standing())
    return {
      async stop() {
        await pings.stop()
        await projector.stop()
        await bus.close()
        db.close()
      },
    }
  },
})
