import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import { launchBrowser } from './browser.js'
import { atPace, createHttpLoad, postOf, saturate, type HttpLoad } from './http-load.js'
import { restingTerms, signersOf, SPOT, type Signers } from './order-flow.js'
import type { OwnVenue } from './own-venue.js'
import { percentile } from './rounds.js'
import { loadPage, usePage, workTicket, type Load, type Use } from './terminal-page.js'

export const terminal: Bench = {
  name: 'terminal',
  title:
    'The terminal in Chromium: how soon it can be used on a slow processor, and what it costs while its book changes fifty times a second.',
  versionsOf: ['preact', '@preact/signals', 'lightweight-charts', 'playwright-core'],
  run,
}

const SECONDS = { tiny: 3, usual: 20, full: 60 }
/** Orders of the ticket meanwhile. */
const PRESSED = { tiny: 2, usual: 10, full: 30 }
const PER_SECOND = 50
/** A processor of a phone is so many times slower. */
const SLOWER = 4
/** The machine of a trader does not run the venue: here it yields to the browser. */
const VENUE_NICENESS = 10
/** So many that each price has an order before. */
const STANDING = 1_000
const CONNECTIONS = 32
/** The orders of a block come as one frame: on a busy machine a block has several. More would be another load. */
const ORDERS_A_FRAME = 5
/** The slowest of so many is left out: it is the machine's. */
const NEARLY_ALL = 0.95

async function run({ size, rounds, dir, say, startVenue }: BenchContext): Promise<Report> {
  const venue = await startVenue({ dir: join(dir, 'venue'), niceness: VENUE_NICENESS })
  const browser = await launchBrowser()
  try {
    // The first account is the page's.
    const others = venue.devnet.accounts.slice(1)
    const traders = others.map((each) => ({ ...each, subaccountId: each.spot_subaccount_id }))
    const signers = await signersOf(venue.devnet, SPOT, traders)
    const load = createHttpLoad(Number(new URL(venue.devnet.gateway_url).port), CONNECTIONS)
    await saturate(load, await signed(signers, STANDING), CONNECTIONS)
    const url = `${venue.devnet.gateway_url}/#/${SPOT.name}`
    const loads = await loadOften(browser, url, rounds)
    say('loaded')
    const stand = { venue, browser, url, load, signers }
    const used = await useWhileItMoves(stand, SECONDS[size], PRESSED[size])
    return {
      rows: rowsOf(loads, used),
      notes: [
        `Loads are over loopback, the page's processor ${SLOWER} times slower. Then ${PER_SECOND} orders of others a second for ${SECONDS[size]} s change the book, while ${PRESSED[size]} orders are typed and placed. A task is what keeps a timer of the page waiting; the processor is that of the page's process, of one core. The venue runs on the same machine with nice value ${VENUE_NICENESS}.`,
      ],
    }
  } finally {
    await browser.close()
    await venue.stop()
  }
}

/** The first is not counted: the browser has compiled nothing before. */
async function loadOften(browser: Browser, url: string, rounds: number): Promise<readonly Load[]> {
  const loads: Load[] = []
  for (let round = 0; round <= rounds; round += 1) loads.push(await loadPage(browser, url, SLOWER))
  return loads.slice(1)
}

interface Stand {
  readonly venue: OwnVenue
  readonly browser: Browser
  readonly url: string
  readonly load: HttpLoad
  readonly signers: Signers
}

interface Used extends Use {
  readonly framesPerSec: number
  readonly cpuPercent: number
  readonly heapMib: number
}

async function useWhileItMoves(stand: Stand, seconds: number, pressed: number): Promise<Used> {
  const { venue, browser, url, load, signers } = stand
  const orders = await signed(signers, seconds * PER_SECOND)
  const opened = await usePage(browser, { url, devnetFile: join(venue.dir, 'devnet.json') })
  const heap = await opened.heapMib()
  const cpu = await opened.cpuSec()
  const frames = opened.frames()
  const startMs = performance.now()
  await Promise.all([atPace(load, orders, PER_SECOND), workTicket(opened.page, pressed, seconds)])
  const tookSec = (performance.now() - startMs) / 1_000
  const came = opened.frames() - frames
  if (came < orders.length / ORDERS_A_FRAME)
    throw new Error(`${came} frames of ${orders.length} orders came`)
  const use = await opened.use()
  if (use.pressesMs.length !== pressed)
    throw new Error(`${use.pressesMs.length} of ${pressed} orders were shown`)
  const used = {
    ...use,
    framesPerSec: came / tookSec,
    cpuPercent: (100 * ((await opened.cpuSec()) - cpu)) / tookSec,
    heapMib: (await opened.heapMib()) - heap,
  }
  await opened.close()
  return used
}

function rowsOf(loads: readonly Load[], used: Used): Row[] {
  const once = (what: string, unit: string, value: number, atMost: number): Row => ({
    what,
    unit,
    values: [value],
    goal: { atMost },
  })
  return [
    {
      what: 'the ticket can be used after',
      unit: 'ms',
      goal: { atMost: 1_000 },
      values: loads.map(({ usableMs }) => usableMs),
    },
    {
      what: 'the book has numbers after',
      unit: 'ms',
      goal: { atMost: 1_500 },
      values: loads.map(({ numbersMs }) => numbersMs),
    },
    { what: 'frames a second', unit: '/s', values: [used.framesPerSec] },
    once('longest task', 'ms', used.longestMs, 50),
    once('processor of the page', '%', used.cpuPercent, 35),
    once('memory of the page, more after than before', 'MiB', used.heapMib, 5),
    once('key to paint, p95', 'ms', percentile(used.keysMs, NEARLY_ALL), 50),
    once('press to row, p95', 'ms', percentile(used.pressesMs, NEARLY_ALL), 100),
  ]
}

/** Orders that rest, as requests. */
async function signed({ sign }: Signers, count: number) {
  const bodies = Array.from({ length: count }, (_, number) => sign(restingTerms(number), number))
  return (await Promise.all(bodies)).map((body) => postOf('/v1/orders', body))
}
