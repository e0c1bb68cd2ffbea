import { randomUUID } from 'node:crypto'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { guardChain } from '../../chain/reads/guard-chain.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { openClaimThread } from '../../data/claim-thread.js'
import { openIntakeRegistry } from '../../data/intake-registry.js'
import { loadDeployedMarkets } from '../../data/markets.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess } from '../../runtime/process/process.js'
import { roomOf, watchAdmission } from './admission.js'
import { openChain } from './chain-clients.js'
import { readOrderIntakeConfig, rulesOf } from './config.js'
import { sampleAdmission, sampleQueues } from './measure.js'
import { answerRegister, openOwnRegister } from './register.js'
import { untilIntakeLeadership } from './stand-by.js'
import { PROCESS_NAME, startOrderIntake } from './intake.js'
import { databasePath } from '../../data/places.js'

const config = orExit(readOrderIntakeConfig)

runProcess({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  start: async ({ log, fail, metrics }) => {
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const { RPC_URL: rpcUrl, EXECUTOR_ADDRESS: executor } = config
    await guardChain({
      rpcUrl,
      chainId: deployment.chainId,
      log,
      show: metrics.gauge('venue_other_chain'),
      onFatal: fail,
    })
    const id = randomUUID()
    const path = databasePath(config.DATA_DIR, 'intake.db')
    const registry = openIntakeRegistry(path, openClaimThread(path))
    const onWarning = (message: string) => log.warn(message)
    const bus = await connectArchivedBus({
      versions: streamVersions([]),
      archiveDir: config.FEED_ARCHIVE_DIR,
      config,
      user: PROCESS_NAME,
      onWarning,
    })
    await untilIntakeLeadership({ bus, registry, log }, { id, config })
    const parts = { bus, registry, log, onFatal: fail }
    const read = () => loadDeployedMarkets(config)
    const { markets, now, ...register } = await openOwnRegister({ ...parts, readFile: read })
    const names = markets.map(({ market }) => market)
    const chain = await openChain({ rpcUrl, ...(executor && { executor }) }, deployment, onWarning)
    const room = roomOf(config)
    const admission = watchAdmission({ bus, markets: names, ...room, log })
    sampleAdmission(metrics, { markets: names, admission, room })
    const intake = await startOrderIntake({
      ...parts,
      id,
      markets,
      admission,
      ...rulesOf(config),
      ...chain,
      nowMs: Date.now,
    })
    sampleQueues(metrics, intake)
    register.watch(async ({ market, isNew }) => {
      await intake.follow(market)
      if (isNew) names.push(market.market)
    })
    const registering = await answerRegister({ ...parts, now, ...rulesOf(config) }, PROCESS_NAME)
    return {
      stop: async () => {
        for (const part of [registering, register, admission, intake]) await part.stop()
        await bus.close()
        await registry.close()
      },
    }
  },
})
