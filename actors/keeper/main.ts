import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { guardChain } from '../../chain/reads/guard-chain.js'
import { keyEvents, openSigners } from '../../chain/signing/open-signers.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { readProcessKey } from '../../runtime/bus/operator-key.js'
import { connectVenueBus } from '../../runtime/bus/stream-versions.js'
import { alongside } from '../../runtime/metrics/metrics.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess } from '../../runtime/process/process.js'
import { sampleWallet } from '../sending/measure.js'
import { readKeeperConfig } from './config.js'
import { seriesOrders } from './list-series.js'
import { measureKeeper, observeKeeper, sampleLate } from './observe.js'
import { openKeeper, serveOff } from './open-keeper.js'

const config = orExit(readKeeperConfig)
const name = 'keeper'

runProcess({
  name,
  level: config.LOG_LEVEL,
  start: async ({ log, fail: onFatal, end, metrics }) => {
    const { key, NATS_CREDENTIALS: seed } = config
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    if (key !== undefined)
      await guardChain({
        rpcUrl: config.RPC_URL,
        chainId: deployment.chainId,
        log,
        show: metrics.gauge('venue_other_chain'),
        onFatal,
      })
    const bus = await connectVenueBus({
      config,
      user: name,
      versions: streamVersions([]),
      onWarning: (message) => log.warn(message),
    })
    if (key === undefined) {
      const off = await serveOff(bus)
      return { stop: () => off.stop().then(() => bus.close()) }
    }
    const register = await openRegister({ bus, log, onError: onFatal })
    const list = createMarketList(register.markets)
    register.watch(({ market }) => list.add(market))
    const keeper = await openKeeper({
      bus,
      deployment,
      log,
      onFatal,
      rpcUrl: config.RPC_URL,
      dataDir: config.DATA_DIR,
      signers: openSigners(key, deployment.chainId, keyEvents(log, end)),
      markets: () => list.markets,
      rescue: config.rescue,
      calendar: config.FUTURES_CALENDAR,
      orders: seriesOrders({
        bus,
        deploymentFile: config.DEPLOYMENT_FILE,
        user: name,
        nowMs: Date.now,
        operatorKey: seed === undefined ? undefined : readProcessKey(seed, name),
      }),
      reserveWei: config.KEEPER_GAS_RESERVE_WEI,
      hourBudgetWei: config.KEEPER_GAS_BUDGET_WEI_PER_HOUR,
      facts: alongside(observeKeeper(log), measureKeeper(metrics)),
    })
    sampleWallet(metrics, name, keeper.gasStanding)
    sampleLate(metrics, keeper.late)
    return {
      stop: async () => {
        await Promise.all([register.stop(), keeper.stop()])
        await bus.close()
      },
    }
  },
})
