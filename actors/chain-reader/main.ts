import { randomUUID } from 'node:crypto'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import type { Market } from '../../core/contracts/market.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { openMarketFile } from '../../data/market-file.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess } from '../../runtime/process/process.js'
import { takeTurn } from '../../runtime/process/standby.js'
import { readChainReaderConfig } from './config.js'
import { sampleChain } from './measure.js'
import { hears, openChainSource, PROCESS_NAME, startChainReader } from './start.js'

const config = orExit(readChainReaderConfig)

runProcess({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  background: true,
  start: async ({ log, fail, end, metrics }) => {
    const file = openMarketFile(config)
    const isRead = (market: Market) => chainContractOf(market) !== undefined
    const list = createMarketList(file.markets.filter(isRead))
    const { markets } = list
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const bus = await connectArchivedBus({
      archiveDir: config.FEED_ARCHIVE_DIR,
      versions: streamVersions(markets),
      ...{ config, user: PROCESS_NAME },
      onWarning: (message) => log.warn(message),
    })
    const turn = await takeTurn({
      ...{ bus, name: PROCESS_NAME, id: randomUUID(), nowMs: Date.now, log, onOutdone: end },
      standby: config.STANDBY === '1',
      meanwhile: () => hears(bus, markets),
    })
    const source = openChainSource({ rpcUrl: config.RPC_URL, deployment, markets })
    const reader = await startChainReader({
      ...{ bus, markets, log, nowMs: Date.now, onFatal: fail },
      ...source,
    })
    sampleChain(metrics, reader)
    const watch = file.watch(async (row) => {
      if (!isRead(row)) return
      list.add(row)
      await reader.follow(row)
    }, fail)
    return {
      async stop() {
        await turn.stop()
        await watch.stop()
        await reader.stop()
        await bus.close()
      },
    }
  },
})
