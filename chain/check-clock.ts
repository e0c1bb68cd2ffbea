import type { ChainClient } from './client.js'

/** How far this machine's clock may be from the newest block, seconds. */
export const CLOCK_TOLERANCE_SEC = 60
/** A block stands in this machine's future: its clock is slow, and orders would outlive their expiry on chain. */
export class ClockDiffers extends Error {
  override readonly name = 'ClockDiffers'
}

export interface ClockCheck {
  readonly client: Pick<ChainClient, 'getBlock'>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Hears that the newest block is old: the clock is fast, or the chain has stood still, as a local one may. */
  readonly onWarning: (message: string) => void
}

/** Compares the clock with the newest block; passes when the chain cannot be read. Throws ClockDiffers. */
export async function checkClock(check: ClockCheck): Promise<void> {
  const { client, nowMs, onWarning } = check
  const blockSec = await readBlockSec(client)
  if (blockSec === undefined) return
  const aheadSec = BigInt(Math.floor(nowMs() / 1_000)) - blockSec
  if (-aheadSec > CLOCK_TOLERANCE_SEC) {
    throw new ClockDiffers(
      `the clock is ${-aheadSec} s behind the newest block, at most ${CLOCK_TOLERANCE_SEC} s is allowed: set the clock`,
    )
  }
  if (aheadSec > CLOCK_TOLERANCE_SEC) {
    onWarning(`the newest block is ${aheadSec} s old: the chain stands still, or the clock is fast`)
  }
}

async function readBlockSec(client: ClockCheck['client']): Promise<bigint | undefined> {
  try {
    return (await client.getBlock({ blockTag: 'latest' })).timestamp
  } catch {
    // Without an answer there is nothing to compare with; the venue runs without the chain too.
    return undefined
  }
}
