import { readCommandLine } from '../../runtime/process/command-line.js'
import { kindOf } from './markets.js'
import { REGRESSIONS } from './regressions.js'
import { reportOf } from './report.js'
import { simulate, type SimulationOptions } from './simulate.js'

const USAGE = `usage: npm run sim -- [--seed N] [--seeds K] [--steps M] [--kind KIND]... [--kept] [--twice] [--trace]

  --seed N     the first seed (1)
  --seeds K    how many seeds, one after the other (1)
  --steps M    events of each (200)
  --kind KIND  one market of this kind, and of each other that is named; all by default
  --kept       the runs of regressions.ts instead
  --twice      each twice; hashes that differ are a finding
  --trace      every event`
const { values } = readCommandLine(USAGE, {
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '200' },
    kind: { type: 'string', multiple: true },
    kept: { type: 'boolean', default: false },
    twice: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})

// Errors are made by the thousand here, and a stack costs more than all else about one.
Error.stackTraceLimit = values.trace ? 30 : 1

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Fills of all seeds, by market. */
const filled = new Map<string, number>()

/** Matches of all seeds that failed at a signature. */
let refusedSignatures = 0

/** Whether the seed found something. */
async function play(run: SimulationOptions): Promise<boolean> {
  const result = await simulate({ ...run, ...(values.trace && { onNote: say }) })
  const again = values.twice ? await simulate(run) : result
  if (again.hash !== result.hash) say(`seed ${run.seed} gives ${result.hash} and ${again.hash}`)
  for (const [market, count] of result.fills) {
    filled.set(market, (filled.get(market) ?? 0) + count)
  }
  refusedSignatures += result.refusedSignatures
  const isBad = result.findings.length > 0 || again.hash !== result.hash
  if (isBad || values.seeds === '1') reportOf(run, result).forEach(say)
  return isBad
}

const numbered = Array.from({ length: Number(values.seeds) }, (_, index) => ({
  seed: Number(values.seed) + index,
  steps: Number(values.steps),
  kinds: values.kind?.map(kindOf),
}))
const runs: readonly SimulationOptions[] = values.kept ? REGRESSIONS : numbered
let found = 0
for (const run of runs) if (await play(run)) found += 1
for (const [market, count] of filled) say(`${market}: ${count} fills`)
say(`${refusedSignatures} matches failed at a signature`)
say(
  `${runs.length} seeds, ${found} with findings, ${Math.round(process.cpuUsage().user / 1_000)} ms`,
)
process.exitCode = found === 0 ? 0 : 1
