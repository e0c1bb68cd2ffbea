import type { Goal, Row } from './bench.js'

/** Cost of a piece of work in this process. */
export interface Took {
  readonly wallMs: number
  /** User and system time of all threads. */
  readonly cpuMs: number
}

/** Runs the work and returns its cost. */
export async function took(work: () => void | Promise<void>): Promise<Took> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  const working = work()
  // Synchronous work is not delayed by a turn of the event loop.
  if (working instanceof Promise) await working
  const wallMs = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return { wallMs, cpuMs: (user + system) / 1000 }
}

/**
 * Runs the contenders in turn, so that other load on the machine affects all of them: one warm-up round, then `rounds`
 * measured ones, each in the reverse order of the one before. Returns the results of each, by round.
 */
export async function interleaved<Contenders extends Readonly<Record<string, () => unknown>>>(
  rounds: number,
  contenders: Contenders,
): Promise<{ [Name in keyof Contenders]: Awaited<ReturnType<Contenders[Name]>>[] }> {
  const all = Object.entries(contenders)
  const results = Object.fromEntries(all.map(([name]) => [name, [] as unknown[]]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, contend] of round % 2 === 0 ? all : all.toReversed()) {
      globalThis.gc?.()
      const result = await contend()
      if (round > 0) results[name]?.push(result)
    }
  }
  return results as { [Name in keyof Contenders]: Awaited<ReturnType<Contenders[Name]>>[] }
}

/** Ratio of the first to the second, by round. */
export function ratio(
  what: string,
  [dividend, divisor]: readonly [readonly number[], readonly number[]],
  goal?: Goal,
): Row {
  const values = dividend.map((value, round) => value / (divisor[round] ?? NaN))
  return { what, unit: 'x', values, ...(goal !== undefined && { goal }) }
}

/** The middle value; of an even number the mean of the two. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The percentile of the values, with linear interpolation. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const low = sorted[Math.floor(place)] ?? NaN
  const high = sorted[Math.ceil(place)] ?? NaN
  return low + (high - low) * (place - Math.floor(place))
}
