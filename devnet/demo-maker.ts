import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { loadDeployment } from '../chain/reads/deployment.js'
import { createRestClient } from '../client/rest.js'
import { createSeenSeqs } from '../client/seen-seqs.js'
import { createSocketClient } from '../client/socket.js'
import { runProcess, type ProcessContext, type RunningProcess } from '../runtime/process/process.js'
import { readDemoMakerConfig, type DemoMakerConfig } from './demo-maker/config.js'
import { isPassing } from './demo-maker/desk.js'
import { openFlowCount, runFlow } from './demo-maker/flow.js'
import { pause } from './demo-maker/pause.js'
import { quoteMarket } from './demo-maker/quoted-market.js'
import { followMarkets, keepQuoted } from './demo-maker/venue-markets.js'

/** How often the list of markets is read: prices, and what is listed. */
const MARKETS_EVERY_MS = 2_000
/** Failures in a row that are no longer those of a restart. */
const WORTH_A_WARNING = 5
/** Deadline of the cancels on shutdown: less than the process has to end. */
const WITHDRAW_WITHIN_MS = 3_000

type AccountsByType = Readonly<Partial<Record<string, readonly [string, string?]>>>

/** Accounts by contract type. */
function accountsOf(config: DemoMakerConfig): AccountsByType {
  const pair = (ids: string | undefined): readonly [string, string?] | undefined => {
    const [quoting, taking] = ids?.split(',') ?? []
    if (quoting === undefined) return undefined
    return taking === undefined || !config.DEMO_FLOW ? [quoting] : [quoting, taking]
  }
  const spot = pair(config.DEMO_MAKER_SUBACCOUNT_ID)
  return { spot, future: spot, perpetual: pair(config.DEMO_MAKER_PERP_SUBACCOUNT_ID) }
}

/**
 * A small market maker for the development venue: a client without privileges that keeps quotes in every listed market, and
 * with second accounts takes some of them.
 */
async function start(
  config: DemoMakerConfig,
  { log, fail }: ProcessContext,
): Promise<RunningProcess> {
  const { chainId, matching } = await loadDeployment(config.DEPLOYMENT_FILE)
  const seen = createSeenSeqs()
  const rest = createRestClient(config.GATEWAY_URL, { seen })
  const url = new URL('/v1/ws', config.GATEWAY_URL.replace(/^http/, 'ws')).href
  const socket = createSocketClient({ url, WebSocket, seen })
  const signer = privateKeyToAccount(config.DEMO_MAKER_PRIVATE_KEY)
  const accounts = accountsOf(config)
  const markets = followMarkets(config.DEMO_SEED)
  const quoted = keepQuoted({
    open({ market, pricing }) {
      const subaccounts = accounts[market.contract_type]
      if (subaccounts === undefined) return undefined
      const around = () => markets.around(market.market, Date.now())
      const domain = { chainId, matching }
      const parts = { rest, socket, signer, domain, market, pricing, subaccounts, around, log }
      return quoteMarket(parts, fail)
    },
    onStopped(market, stopped) {
      log.info({ market }, 'no longer listed')
      stopped.catch(fail)
    },
  })
  const stopping = new AbortController()
  const { signal } = stopping

  async function followList(): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      try {
        markets.show(await rest.markets(), Date.now())
        quoted.update(markets.quotable())
        failures = 0
      } catch (error) {
        if (!isPassing(error)) throw error
        failures += 1
        const level = failures === WORTH_A_WARNING ? 'warn' : 'info'
        log[level]({ err: error }, 'the markets cannot be read; trying again')
      }
      await pause(MARKETS_EVERY_MS, signal)
    }
  }

  const flows = () => quoted.all().flatMap((one) => one.flow() ?? [])
  const flow = { markets: flows, count: openFlowCount(config.DATA_DIR), seed: config.DEMO_SEED }
  const running = [followList(), runFlow({ ...flow, signal, log })]
  for (const each of running) each.catch(fail)
  return {
    async stop() {
      stopping.abort()
      const ended = Promise.all(quoted.all().map((one) => one.stop()))
      await Promise.race([ended.catch(() => undefined), pause(WITHDRAW_WITHIN_MS)])
      socket.close()
    },
  }
}

const config = readDemoMakerConfig()
runProcess({
  name: 'demo-maker',
  level: config.LOG_LEVEL,
  start: (context) => start(config, context),
})
