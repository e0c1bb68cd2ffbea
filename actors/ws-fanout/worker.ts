import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { createFundsReader, type FundsReader } from '../../chain/contracts/funds-reader.js'
import { createChainClient } from '../../chain/reads/client.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { guardChain, type ChainGuardOptions } from '../../chain/reads/guard-chain.js'
import { findMarketByName } from '../../core/entry/find-market.js'
import { withArchive } from '../../data/archived-bus.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { connectVenueBus } from '../../runtime/bus/stream-versions.js'
import { allowedOrigins } from '../../runtime/http/origins.js'
import type { Metrics } from '../../runtime/metrics/metrics.js'
import { createOrderRate } from '../../runtime/process/order-rate.js'
import { answerPing, runProcess } from '../../runtime/process/process.js'
import type { WsFanoutConfig } from './config.js'
import { startFanOut, type FanOut, type FanOutOptions } from './fan-out.js'
import { SESSION_LIMITS } from './limits.js'

const PROCESS = 'ws-fanout'

/** Runs one process that follows every market and serves sockets: the whole fan-out, or one of its workers. */
export function runWorker(config: WsFanoutConfig): void {
  runProcess({
    name: PROCESS,
    level: config.LOG_LEVEL,
    ...(config.WS_FANOUT_WORKERS > 1 && { instance: `${PROCESS}-${config.WS_FANOUT_WORKER}` }),
    start: async ({ log, fail, metrics }) => {
      const show = metrics.gauge('venue_other_chain')
      const funds = await openFunds(config, { log, show, onFatal: fail })
      const bus = await connectVenueBus({
        versions: streamVersions([]),
        config,
        user: PROCESS,
        onWarning: (message) => log.warn(message),
      })
      const register = await openRegister({ bus, log, onError: fail })
      const { markets } = register
      const fanOut = await startFanOut({
        bus,
        feeds: withArchive(bus, config.FEED_ARCHIVE_DIR),
        markets,
        findMarket(name, markets) {
          const clock = { nowMs: Date.now(), aliasesUntilMs: config.ALIAS_CUTOFF }
          const found = findMarketByName(markets, name, clock)
          return 'market' in found ? found.market : undefined
        },
        port: config.WS_FANOUT_PORT,
        host: config.WS_FANOUT_HOST,
        trustedProxies: config.WS_FANOUT_TRUSTED_PROXIES,
        listensWhenReady: config.WS_FANOUT_WORKERS > 1,
        isAllowedOrigin: allowedOrigins(config),
        orderRate: createOrderRate({ perSec: config.GATEWAY_ORDERS_PER_SECOND_PER_OWNER }),
        limits: {
          ...SESSION_LIMITS,
          maxSockets: config.WS_MAX_SOCKETS,
          maxSocketsPerAddress: config.WS_MAX_SOCKETS_PER_ADDRESS,
        },
        words: { domain: config.AUTH_DOMAIN, product: config.AUTH_PRODUCT },
        funds,
        log,
        onFailure: fail,
        ...measureFrames(metrics),
      })
      sampleFanOut(metrics, fanOut)
      register.watch(({ market }) => fanOut.follow(market))
      const pings = await answerPing(bus, PROCESS, () => fanOut.standing())
      return {
        async stop() {
          await pings.stop()
          await register.stop()
          await fanOut.stop()
          await bus.close()
        },
      }
    },
  })
}

/** Reads of accounts; none without a node. */
async function openFunds(
  { RPC_URL: rpcUrl, DEPLOYMENT_FILE: file }: WsFanoutConfig,
  watched: Pick<ChainGuardOptions, 'log' | 'show' | 'onFatal'>,
): Promise<FundsReader | undefined> {
  if (rpcUrl === undefined) return undefined
  const deployment = await loadDeployment(file)
  await guardChain({ ...watched, rpcUrl, chainId: deployment.chainId })
  return createFundsReader({
    client: createChainClient(rpcUrl, 'read'),
    deployment,
    nowMs: Date.now,
  })
}

/** Measures how long the frames of a durable block take to the sockets. */
function measureFrames(metrics: Metrics): Pick<FanOutOptions, 'onFrames'> {
  const frames = metrics.histogram('venue_frame_seconds')
  return {
    onFrames: (market, storedAtMs) =>
      frames({ market }, Math.max(0, Date.now() - storedAtMs) / 1_000),
  }
}

/** Reads at each scrape how far the feeds are folded, and how many clients are connected. */
function sampleFanOut(
  metrics: Metrics,
  { standing, clients }: Pick<FanOut, 'standing' | 'clients'>,
): void {
  metrics.sample('venue_sockets', () => [[{}, clients()]])
  metrics.sample('venue_follower_seq', () =>
    Object.entries(standing().positions).map(([market, seq]) => [
      { follower: 'sockets', market },
      seq,
    ]),
  )
}
