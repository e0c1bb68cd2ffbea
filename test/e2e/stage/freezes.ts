import { setTimeout as delay } from 'node:timers/promises'
import { onThisMachine } from '../../support/eventually.js'
import type { TestVenue } from '../../support/venue.js'
import { createTrader, type Trader } from './trader.js'

/** A process that was frozen serves again within this time of its continuation. */
const SERVES_WITHIN_MS = 10_000
/** A venue that does not recover is given up then. */
const GIVE_UP_AFTER_MS = 60_000
const ATTEMPT_MS = 3_000
const PAUSE_MS = 100
/** They cross each other, and the quotes of a maker. */
const SELL_PRICE = '0.0006'
const BUY_PRICE = '0.0008'
const AMOUNT = '10'

/** How long after its continuation, in milliseconds. */
export interface Recovery {
  readonly name: string
  /** `/readyz` answers 200. */
  readonly readyMs: number
  /** A crossing pair of orders, sent then or later, is taken and matched. */
  readonly tradedMs: number
  /** It is settled on chain. */
  readonly settledMs: number
}

/** On a busy machine time passes as much slower as the machine is. */
export const isLateRecovery = ({ readyMs, tradedMs }: Recovery): boolean =>
  Math.max(readyMs, tradedMs) > onThisMachine(SERVES_WITHIN_MS)

export const describeRecovery = ({ name, readyMs, tradedMs, settledMs }: Recovery): string =>
  `${name.padEnd(20)} ready ${seconds(readyMs)}  traded ${seconds(tradedMs)}  settled ${seconds(settledMs)}`

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(5)} s`

/** Stops a process and its children for so long, lets them go on, and measures until the venue serves as before. */
export async function freeze(venue: TestVenue, name: string, forMs: number): Promise<Recovery> {
  const pid = (await venue.pids())[name]
  if (pid === undefined) throw new Error(`${name} does not run`)
  const traders = [createTrader(venue.devnet, 0), createTrader(venue.devnet, 1)] as const
  process.kill(-pid, 'SIGSTOP')
  await delay(forMs).finally(() => process.kill(-pid, 'SIGCONT'))
  const goesOnAt = performance.now()
  const [readyMs, [tradedMs, settledMs]] = await Promise.all([
    since(goesOnAt, () => isReady(venue)),
    trade(traders, goesOnAt),
  ])
  return { name, readyMs, tradedMs, settledMs }
}

/** The milliseconds from then on until the attempt succeeds, or is given up; an attempt that takes long is repeated. */
async function since(begun: number, attempt: () => Promise<boolean>): Promise<number> {
  for (;;) {
    const late = delay(ATTEMPT_MS, false)
    const done = await Promise.race([attempt().catch(() => false), late])
    const ms = performance.now() - begun
    if (done || ms > GIVE_UP_AFTER_MS) return ms
    await delay(PAUSE_MS)
  }
}

async function isReady({ gatewayUrl }: TestVenue): Promise<boolean> {
  const signal = AbortSignal.timeout(ATTEMPT_MS)
  const answer = await fetch(new URL('/readyz', gatewayUrl), { signal })
  await answer.body?.cancel()
  return answer.status === 200
}

async function trade(
  [maker, taker]: readonly [Trader, Trader],
  begun: number,
): Promise<readonly [tradedMs: number, settledMs: number]> {
  let orderId = ''
  const tradedMs = await since(begun, async () => {
    await maker.place({ side: 'sell', amount: AMOUNT, price: SELL_PRICE })
    const bought = await taker.place({ side: 'buy', amount: AMOUNT, price: BUY_PRICE })
    orderId = bought.order_id
    return true
  })
  if (tradedMs < GIVE_UP_AFTER_MS) await taker.until(orderId, 'filled')
  return [tradedMs, performance.now() - begun]
}
