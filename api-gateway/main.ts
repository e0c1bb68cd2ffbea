import { streamVersions } from '../bus-schemas/stream-versions.js'
import { createMarketList } from '../core/entry/find-market.js'
import { historyPath } from '../data/history/project.js'
import { fileIdentity, noteDamage } from '../data/open.js'
import { openRegister } from '../runtime/bus/market-register.js'
import { connectVenueBus } from '../runtime/bus/stream-versions.js'
import { closeServer, createHttpServer, listen } from '../runtime/http/server.js'
import { orExit } from '../runtime/process/cannot-start.js'
import { runProcess } from '../runtime/process/process.js'
import { createApp, measureGateway } from './app.js'
import { openBooks } from './books/render-thread.js'
import { openChainReads } from './chain-markets.js'
import { connectionLimits, readGatewayConfig, relayed, seriesOf, wordsOf } from './config.js'
import { createReadiness, readFeedHeads } from './health.js'
import { createIndexGate } from './index-lag.js'
import { measureSeries } from './measure-series.js'
import { createMarketRefresh, createOwnWrites, openReadModelWhenCreated } from './reads.js'
import { relayUpgrades } from './ws-upgrade.js'

/** Longer than an order waits for its outcome, shorter than the deadline of a stop. */
const STOP_GRACE_MS = 3_500
const config = orExit(readGatewayConfig)

/** The projector may have made the file anew since. */
let opened: string | undefined

runProcess({
  name: 'gateway',
  level: config.LOG_LEVEL,
  onDamage: () => noteDamage(historyPath(config.DATA_DIR), opened),
  start: async ({ log, fail, metrics }) => {
    const show = metrics.gauge('venue_other_chain')
    const chainReads = await openChainReads(config, { log, show, onFatal: fail })
    const path = historyPath(config.DATA_DIR)
    const readModel = await openReadModelWhenCreated(path, log)
    opened = fileIdentity(path)
    const bus = await connectVenueBus({
      config,
      user: 'gateway',
      versions: streamVersions([]),
      onWarning: (message) => log.warn(message),
    })
    const register = await openRegister({ bus, log, onError: fail })
    const list = createMarketList(register.markets)
    const books = openBooks(path, readModel, log)
    measureSeries(metrics, { ...seriesOf(config), markets: list.markets })
    const parts = { bus, readModel, markets: list.markets }
    const app = createApp({
      bus,
      markets: list.markets,
      refreshMarkets: createMarketRefresh(list, readModel),
      readModel,
      books,
      indexLimit: createIndexGate(bus),
      ownWrites: createOwnWrites({ readModel, readHead: readFeedHeads(bus) }),
      ...chainReads,
      readiness: createReadiness({ ...parts, executorUrls: config.EXECUTOR_URL }),
      ...wordsOf(config),
      nowMs: Date.now,
      log,
      ...measureGateway(metrics),
    })
    const server = createHttpServer(app.callback(), connectionLimits(config))
    const relay = relayUpgrades({ server, ...relayed(config), log })
    const host = config.GATEWAY_HOST
    log.info({ port: await listen(server, config.GATEWAY_PORT, host), host }, 'listening')
    register.watch(({ market }) => list.add(market))
    return {
      stop: async () => {
        await register.stop()
        await Promise.all([closeServer(server, STOP_GRACE_MS), relay.stop()])
        await Promise.all([bus.close(), books.stop()])
        readModel.close()
      },
    }
  },
})
