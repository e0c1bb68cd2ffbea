import { setTimeout as delay } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import type { Logger } from '../bus-schemas/log.js'
import { runProcess, type Running } from '../bus-schemas/process.js'
import { loadDeployment } from '../chain/deployment.js'
import {
  OutcomeUnknown,
  VenueRefused,
  createLocalBook,
  createRestClient,
  createSocketClient,
  type MarketRecord,
  type RestClient,
} from '../client/index.js'
import { readDemoMakerConfig, type DemoMakerConfig } from './demo-maker/config.js'
import { createDesk } from './demo-maker/desk.js'
import { createMaker, type Maker } from './demo-maker/maker.js'

const ROUND_EVERY_MS = 1_000
/** A venue that is being restarted is asked this often; longer waits would leave the book empty. */
const RETRY_EVERY_MS = 2_000
/** What a stop may spend on cancelling: less than the process has to end. */
const WITHDRAW_WITHIN_MS = 3_000

/** A small market maker for the development venue: an ordinary client that keeps the book alive. */
async function start(config: DemoMakerConfig, log: Logger): Promise<Running> {
  const { chainId, matching } = await loadDeployment(config.DEPLOYMENT_FILE)
  const rest = createRestClient(config.GATEWAY_URL)
  const url = new URL('/v1/ws', config.GATEWAY_URL.replace(/^http/, 'ws')).href
  const socket = createSocketClient({ url, WebSocket })
  const book = createLocalBook()
  const stopping = new AbortController()
  let maker: Maker | undefined
  socket.subscribe('book', config.DEMO_MAKER_MARKET, {
    onSnapshot: (data, seq) => book.reset(data, seq),
    onUpdate: (data, seq) => book.apply(data, seq),
  })

  async function open(): Promise<Maker> {
    const signer = privateKeyToAccount(config.DEMO_MAKER_PRIVATE_KEY)
    const desk = createDesk({
      rest,
      market: await findMarket(rest, config.DEMO_MAKER_MARKET),
      signer,
      domain: { chainId, matching },
      subaccountId: config.DEMO_MAKER_SUBACCOUNT_ID,
      nowMs: Date.now,
      log,
    })
    await desk.clear()
    log.info({ market: config.DEMO_MAKER_MARKET, owner: signer.address }, 'quoting')
    return createMaker({ desk, book, nowMs: Date.now })
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let waitMs = ROUND_EVERY_MS
      try {
        maker ??= await open()
        await maker.refresh()
      } catch (error) {
        if (!(error instanceof OutcomeUnknown || error instanceof VenueRefused)) throw error
        waitMs = RETRY_EVERY_MS
        log.warn({ err: error }, 'the venue does not answer; trying again')
      }
      await pause(waitMs, stopping.signal)
    }
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      const withdrawn = running.then(() => maker?.withdraw())
      await Promise.race([withdrawn, pause(WITHDRAW_WITHIN_MS)])
      socket.close()
    },
  }
}

async function findMarket(rest: RestClient, name: string): Promise<MarketRecord> {
  const market = (await rest.markets()).find((one) => one.market === name)
  if (market === undefined) throw new Error(`the venue does not list ${name}`)
  return market
}

/** Resolves after a while, or as soon as the signal is given. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
}

const config = readDemoMakerConfig()
runProcess({
  name: 'demo-maker',
  level: config.LOG_LEVEL,
  start: (log) => start(config, log),
})
