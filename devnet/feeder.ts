import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Address } from '../core/action.js'
import { accessOf } from '../runtime/bus/nats-access.js'
import type { Logger } from '../runtime/process/log.js'
import { runProcess, type Running } from '../runtime/process/process.js'
import { commandEnvironment, readFeederConfig, type FeederConfig } from './feeder/config.js'
import { createFeeder } from './feeder/feeder.js'
import { pricesFile, readPrices } from './feeder/prices.js'
import { createPublisher } from './feeder/publish.js'
import { createCalendarKeeper, type CalendarKeeper } from './series/keep-calendar.js'
import { venueCommands } from './series/operate.js'
import { registeredMarkets } from './series/registered.js'

/** How often the prices file is read, and how long an error waits to be tried again. */
const ROUND_EVERY_MS = 500
/** How often the calendar of the futures is looked at, and how long a failure waits. */
const CALENDAR_EVERY_MS = 5_000
const CALENDAR_AGAIN_MS = 30_000
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
  future_asset: address,
})

/**
 * Keeps the devnet's prices fresh, and the next series of futures opened and listed. What the contracts need besides, the keeper does.
 * Its prices come from `DATA_DIR/prices.json`.
 */
async function start(config: FeederConfig, log: Logger): Promise<Running> {
  const text = await readFile(config.DEPLOYMENT_FILE, 'utf8')
  const feeds = deploymentSchema.parse(JSON.parse(text))
  const { RPC_URL: rpcUrl, FEEDER_PRIVATE_KEY: privateKey } = config
  const futuresIndexFeed = feeds.futures_index_feed
  const publisher = createPublisher({ rpcUrl, feeds, futuresIndexFeed, privateKey })
  let hasIndex = false
  const file = pricesFile(config.DATA_DIR)
  const feeder = createFeeder({
    readPrices: () => readPrices(file),
    publisher: {
      async publish(prices) {
        await publisher.publish(prices)
        // Without the index no series is opened.
        hasIndex = true
      },
    },
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
  const { keeper, stop: stopCalendar } = calendarOf(config, feeds.future_asset)
  const follow = async () => {
    while (!signal.aborted) {
      const due = hasIndex ? keeper?.keep() : undefined
      const done = await due?.then(
        () => true,
        (error: unknown) => {
          log.warn({ err: error }, 'the calendar of the futures is not followed; trying again')
          return false
        },
      )
      await pause(
        done === false ? CALENDAR_AGAIN_MS : hasIndex ? CALENDAR_EVERY_MS : ROUND_EVERY_MS,
      )
    }
  }
  const running = Promise.all([publish(), follow()])
  return {
    async stop() {
      stopping.abort()
      // Without a bus the calendar is still connecting.
      await Promise.race([Promise.all([stopCalendar(), running]), delay(STOP_WITHIN_MS)])
    },
  }
}

interface Calendar {
  readonly keeper: CalendarKeeper | undefined
  readonly stop: () => Promise<void>
}

/** What a feeder follows the calendar with; no keeper without the key that opens series, or without the venue's bus. */
function calendarOf(config: FeederConfig, futureAsset: Address): Calendar {
  const { RPC_URL: rpcUrl, SERIES_OWNER_PRIVATE_KEY: ownerKey, NATS_URL: url } = config
  if (ownerKey === undefined || url === undefined)
    return { keeper: undefined, stop: () => Promise.resolve() }
  const { stop, ...commands } = venueCommands({
    dataDir: config.DATA_DIR,
    env: commandEnvironment(),
  })
  const { close, ...registered } = registeredMarkets({ url, ...accessOf(config) })
  const venue = { ...commands, ...registered }
  return {
    keeper: createCalendarKeeper({
      ...{ rpcUrl, futureAsset, ownerKey, calendar: config.FUTURES_CALENDAR, venue },
    }),
    async stop() {
      stop()
      await close()
    },
  }
}

const config = readFeederConfig()
runProcess({
  name: 'feeder',
  level: config.LOG_LEVEL,
  start: ({ log }) => start(config, log),
})
