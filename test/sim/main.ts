import { parseArgs } from 'node:util'
import { REGRESSIONS } from './regressions.js'
import { simulate, type SimulationOptions, type SimulationResult } from './simulate.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '200' },
    perpetual: { type: 'boolean', default: false },
    kept: { type: 'boolean', default: false },
    twice: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})

// Errors are made by the thousand here, and a stack costs more than all else about one.
Error.stackTraceLimit = values.trace ? 30 : 1

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const bigintText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value

function report(run: SimulationOptions, result: SimulationResult): void {
  const { seed, findings, hash, orders, fills, events, elapsedMs } = result
  const [first] = findings
  const facts = `${orders} orders, ${fills} fills, ${events} events, ${Math.round(elapsedMs / 1000)} s`
  say(`seed ${seed} ${hash} ${first === undefined ? 'ok' : 'FINDING'}: ${facts}`)
  if (first === undefined) return
  const { detail, atMs, what } = first
  const shown = detail instanceof Error ? detail.stack : JSON.stringify(detail, bigintText)
  say(`  ${atMs} ms: ${what}\n  ${shown ?? ''}`)
  const market = run.contractType === 'perpetual' ? ' --perpetual' : ''
  say(`  npm run sim -- --seed ${seed} --steps ${run.steps}${market} --trace`)
}

/** Whether the seed found something. */
async function play(run: SimulationOptions): Promise<boolean> {
  const result = await simulate({ ...run, ...(values.trace && { onNote: say }) })
  const again = values.twice ? await simulate(run) : result
  if (again.hash !== result.hash) say(`seed ${run.seed} gives ${result.hash} and ${again.hash}`)
  const isBad = result.findings.length > 0 || again.hash !== result.hash
  if (isBad || values.seeds === '1') report(run, result)
  return isBad
}

const numbered = Array.from({ length: Number(values.seeds) }, (_, index) => ({
  ...{ seed: Number(values.seed) + index, steps: Number(values.steps) },
  ...(values.perpetual && { contractType: 'perpetual' as const }),
}))
const runs: readonly SimulationOptions[] = values.kept ? REGRESSIONS : numbered
let found = 0
for (const run of runs) if (await play(run)) found += 1
say(
  `${runs.length} seeds, ${found} with findings, ${Math.round(process.cpuUsage().user / 1_000)} ms`,
)
process.exitCode = found === 0 ? 0 : 1
