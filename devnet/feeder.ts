import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Logger } from '../runtime/process/log.js'
import { runProcess, type RunningProcess } from '../runtime/process/process.js'
import { readFeederConfig, type FeederConfig } from './feeder/config.js'
import { createFeeder } from './feeder/feeder.js'
import { pricesFile, readPrices } from './feeder/prices.js'
import { createPublisher } from './feeder/publish.js'

/** How often the prices file is read, and how long an error waits to be tried again. */
const ROUND_EVERY_MS = 500
/** A publication in flight may be left unfinished: the next start publishes again. */
const STOP_WITHIN_MS = 1_000

const address = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{40}$/)])
const deploymentSchema = z.object({
  spot_feed: address,
  perp_feed: address,
  impact_bid_feed: address,
  impact_ask_feed: address,
  stable_feed: address,
  futures_index_feed: address,
})

/** Keeps the devnet's prices fresh. They come from `DATA_DIR/prices.json`. */
async function start(config: FeederConfig, log: Logger): Promise<RunningProcess> {
  const text = await readFile(config.DEPLOYMENT_FILE, 'utf8')
  const feeds = deploymentSchema.parse(JSON.parse(text))
  const { RPC_URL: rpcUrl, FEEDER_PRIVATE_KEY: privateKey } = config
  const futuresIndexFeed = feeds.futures_index_feed
  const file = pricesFile(config.DATA_DIR)
  const feeder = createFeeder({
    readPrices: () => readPrices(file),
    publisher: createPublisher({ rpcUrl, feeds, futuresIndexFeed, privateKey }),
    everyMs: config.FEEDER_EVERY_S * 1_000,
    nowMs: () => performance.now(),
  })
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined)
  const publish = async () => {
    while (!signal.aborted) {
      await feeder.round().catch((error: unknown) => {
        log.warn({ err: error }, 'prices not published; trying again')
      })
      await pause(ROUND_EVERY_MS)
    }
  }
  const running = publish()
  return {
    async stop() {
      stopping.abort()
      await Promise.race([running, delay(STOP_WITHIN_MS)])
    },
  }
}

const config = readFeederConfig()
runProcess({
  name: 'feeder',
  level: config.LOG_LEVEL,
  start: ({ log }) => start(config, log),
})
