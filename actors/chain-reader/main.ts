import { randomUUID } from 'node:crypto'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { guardChain } from '../../chain/reads/guard-chain.js'
import { createHangUp } from '../../chain/reads/hang-up.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { ACCOUNTS_FILE } from '../../data/account-index.js'
import { connectArchivedBus } from '../../data/archived-bus.js'
import { noteDamage } from '../../data/open.js'
import { databasePath } from '../../data/places.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess } from '../../runtime/process/process.js'
import { readChainReaderConfig } from './config.js'
import { sampleChain } from './measure.js'
import { openChainSource } from './chain-source.js'
import { openAccounts } from './serve-accounts.js'
import { PROCESS_NAME, untilReaderLeadership } from './stand-by.js'
import { startChainReader } from './start.js'

const config = orExit(readChainReaderConfig)

runProcess({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  background: true,
  onDamage: () => {
    if (config.DATA_DIR !== undefined) noteDamage(databasePath(config.DATA_DIR, ACCOUNTS_FILE))
  },
  start: async ({ log, fail, metrics }) => {
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    await guardChain({
      rpcUrl: config.RPC_URL,
      chainId: deployment.chainId,
      log,
      show: metrics.gauge('venue_other_chain'),
      onFatal: fail,
    })
    const bus = await connectArchivedBus({
      archiveDir: config.FEED_ARCHIVE_DIR,
      versions: streamVersions([]),
      config,
      user: PROCESS_NAME,
      onWarning: (message) => log.warn(message),
    })
    const id = randomUUID()
    const standby = config.STANDBY === '1'
    const lastNumbers = await untilReaderLeadership({ bus, log, id, standby })
    const register = await openRegister({ bus, log, onError: fail })
    const isRead = (market: Market) => chainContractOf(market) !== undefined
    const list = createMarketList(register.markets.filter(isRead))
    const { markets } = list
    const hangUp = createHangUp()
    const node = { rpcUrl: config.RPC_URL, deployment, markets, hangUp }
    const { indexed, ...source } = openChainSource(node)
    const common = { bus, log, onFatal: fail }
    const own = { ...common, markets, id, lastNumbers, nowMs: Date.now }
    const reader = await startChainReader({ ...own, ...source })
    const indexing = { ...common, chain: indexed }
    const accounts = await openAccounts(config.DATA_DIR, deployment, indexing)
    sampleChain(metrics, reader)
    register.watch(async ({ market, isNew }) => {
      if (!isRead(market)) return
      list.add(market)
      if (isNew) await reader.follow(market)
    })
    return {
      async stop() {
        hangUp.soon()
        await register.stop()
        await accounts?.stop()
        await reader.stop()
        await bus.close()
      },
    }
  },
})
