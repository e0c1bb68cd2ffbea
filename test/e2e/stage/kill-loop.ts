import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runAudit } from '../../support/audit.js'
import { SPOT_AND_PERP, type StartVenueOptions, type TestVenue } from '../../support/venue.js'
import { openAllMarkets } from './all-markets.js'
import { randomNumbers, startLoad, type Answered } from './load.js'
import { expectReconciled, idsOf, readAllBalances } from './reconcile.js'

/** Few, because the local chain's state is stored whole every two seconds and grows with every transaction. */
const PER_SECOND = 15
/** A chain that was killed may forget a minute of transactions on a busy machine; all of them are sent again. */
const QUIET_WITHIN_MS = 180_000
/** Longest pause before the next kill after the venue is ready again. */
const PEACE_UP_TO_MS = 600
/** One kill in so many is followed by another before the first is mended. */
const DOUBLE_ONE_IN = 4

/** Spot and perpetual, to which the loop adds a series of futures; prices fresh enough for a chain that loses a minute. */
export const KILL_LOOP_VENUE: StartVenueOptions = {
  blockTime: 1,
  markets: SPOT_AND_PERP,
  feeder: true,
  env: { FEEDER_EVERY_S: '20' },
}

export interface KillLoopOptions {
  /** Started with KILL_LOOP_VENUE. */
  readonly venue: TestVenue
  readonly cycles: number
  /** Decides who is killed and when; the load is the same for every seed. */
  readonly seed: number
  /** Reconciles after so many cycles, and after the last. */
  readonly reconcileEvery: number
  readonly say: (line: string) => void
}

export interface KillLoopResult {
  readonly kills: number
  /** Of every order that was sent. */
  readonly orderIds: readonly string[]
  /** By market: one of each kind. */
  readonly trades: ReadonlyMap<string, number>
}

/**
 * Kills processes of a venue under load in a market of each kind, one or two in each cycle, and lets it mend; at every reconciliation the load
 * pauses and all that was ever sent is looked for. Throws what the reconciliation finds.
 */
export async function runKillLoop(options: KillLoopOptions): Promise<KillLoopResult> {
  const { venue, cycles, seed, reconcileEvery, say } = options
  const random = randomNumbers(seed)
  const killing: Killing = { venue, random, deal: dealFrom<string>(random) }
  const { steps, names: markets } = await openAllMarkets(venue)
  const before = await readAllBalances(venue)
  const answered: Answered[] = []
  let result: KillLoopResult = { kills: 0, orderIds: [], trades: new Map() }
  say(`seed ${seed}`)
  for (let cycle = 1; cycle <= cycles;) {
    const load = startLoad({
      gatewayUrl: venue.gatewayUrl,
      steps: keepOpen(steps),
      perSecond: PER_SECOND,
    })
    const last = Math.min(cycles, cycle + reconcileEvery - 1)
    try {
      for (; cycle <= last; cycle += 1) {
        const killed = await killSome(killing)
        result = { ...result, kills: result.kills + killed.length }
        say(`cycle ${cycle}: ${killed.join(', ')}; ${load.sent()} steps sent`)
      }
    } finally {
      load.stop()
    }
    answered.push(...(await load.answered()))
    const trades = await expectReconciled(venue, answered, {
      before,
      markets,
      quietWithinMs: QUIET_WITHIN_MS,
    })
    await expectAudited(venue)
    result = { ...result, orderIds: placedIds(answered), trades }
    say(
      `reconciled after ${cycle - 1} cycles: ${result.orderIds.length} orders, ${describeTrades(trades)}`,
    )
  }
  return result
}

export const describeTrades = (trades: ReadonlyMap<string, number>): string =>
  [...trades].map(([market, count]) => `${count} trades in ${market}`).join(', ')

interface Killing {
  readonly venue: TestVenue
  readonly random: (below: number) => number
  readonly deal: (names: readonly string[]) => string
}

/** The same steps for a loop that may be left: leaving it does not end them. */
export function keepOpen<T>(steps: AsyncGenerator<T, never>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => ({ next: () => steps.next() }) }
}

/**
 * Picks in random order, each once before any twice: the restart delay of a process grows with every kill, and
 * the others must be killed as often.
 */
export function dealFrom<T>(random: (below: number) => number) {
  let deck: T[] = []
  return (all: readonly T[]): T => {
    if (deck.length === 0) deck = [...all]
    return deck.splice(random(deck.length), 1)[0] as T
  }
}

/** Kills a process at a random moment, sometimes a second one, and waits until the venue is ready again. */
async function killSome({ venue, random, deal }: Killing): Promise<readonly string[]> {
  const names = Object.keys(await venue.pids()).sort()
  const pauseMs = random(PEACE_UP_TO_MS)
  const victims = new Set([deal(names)])
  if (random(DOUBLE_ONE_IN) === 0) victims.add(deal(names))
  await delay(pauseMs)
  const killedAt = performance.now()
  await Promise.all([...victims].map((name) => venue.restartWorker(name, 'SIGKILL')))
  await venue.untilReady()
  const mended = Math.round(performance.now() - killedAt)
  return [...victims].map((name) => `${name} after ${pauseMs} ms, mended in ${mended} ms`)
}

/** The auditor, which knows nothing of what was sent, finds nothing either. */
export async function expectAudited(
  { dataDir }: TestVenue,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { code, output } = await runAudit({ DATA_DIR: dataDir, ...env })
  expect(code, output).to.equal(0)
}

export const placedIds = (answered: readonly Answered[]): string[] =>
  idsOf(answered.filter(({ step }) => step.kind === 'place').map(({ step }) => step.body))

/**
 * The intake has given away exactly these ids. For a venue that has stopped: the intake holds its file alone.
 */
export function expectTaken(dataDir: string, orderIds: readonly string[]): void {
  const db = new Sqlite(join(dataDir, 'intake.db'), { readonly: true })
  try {
    const taken = db.prepare<[], string>('SELECT order_id FROM taken_order').pluck().all()
    expect(taken.sort()).to.deep.equal([...orderIds].sort())
  } finally {
    db.close()
  }
}
