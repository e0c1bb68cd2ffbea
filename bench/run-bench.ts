import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench, BenchContext, KeptReport, Size } from './bench.js'
import { describeMachine } from './machine.js'
import { startOwnVenue } from './own-venue.js'

export type RunOptions = Partial<Pick<BenchContext, 'hours' | 'say' | 'startVenue'>>

const ROUNDS = { tiny: 2, usual: 5, full: 5 }

/** Runs a bench in this process and returns its report; rejects when the measured work had a wrong result. */
export async function runBench(
  bench: Bench,
  size: Size,
  { say = () => undefined, startVenue = startOwnVenue, hours }: RunOptions = {},
): Promise<KeptReport> {
  const { name, title } = bench
  const machine = describeMachine(bench.versionsOf)
  const dir = await mkdtemp(join(tmpdir(), `bench-${name}-`))
  const start = performance.now()
  try {
    const at = new Date().toISOString()
    const rest = { dir, say, startVenue, ...(hours !== undefined && { hours }) }
    const context = { size, rounds: ROUNDS[size], ...rest }
    const report = await bench.run(context)
    const tookSec = (performance.now() - start) / 1000
    return { name, title, at, size, tookSec, machine, ...report }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
