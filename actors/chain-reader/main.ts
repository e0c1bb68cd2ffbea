import { randomUUID } from 'node:crypto'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import type { Market } from '../../core/contracts/market.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess } from '../../runtime/process/process.js'
import { readChainReaderConfig } from './config.js'
import { sampleChain } from './measure.js'
import { openChainSource } from './chain-source.js'
import { PROCESS_NAME, untilReaderTurn } from './stand-by.js'
import { startChainReader } from './start.js'

const config = orExit(readChainReaderConfig)

runProcess({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  background: true,
  start: async ({ log, fail, metrics }) => {
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const bus = await connectArchivedBus({
      archiveDir: config.FEED_ARCHIVE_DIR,
      versions: streamVersions([]),
      ...{ config, user: PROCESS_NAME },
      onWarning: (message) => log.warn(message),
    })
    const id = randomUUID()
    const standby = config.STANDBY === '1'
    const lastNumbers = await untilReaderTurn({ bus, log, id, standby })
    const register = await openRegister({ bus, log, onError: fail })
    const isRead = (market: Market) => chainContractOf(market) !== undefined
    const list = createMarketList(register.markets.filter(isRead))
    const { markets } = list
    const source = openChainSource({ rpcUrl: config.RPC_URL, deployment, markets })
    const reader = await startChainReader({
      ...{ bus, markets, log, id, lastNumbers, nowMs: Date.now, onFatal: fail },
      ...source,
    })
    sampleChain(metrics, reader)
    register.watch(async ({ market, isNew }) => {
      if (!isRead(market)) return
      list.add(market)
      if (isNew) await reader.follow(market)
    })
    return {
      async stop() {
        await register.stop()
        await reader.stop()
        await bus.close()
      },
    }
  },
})
