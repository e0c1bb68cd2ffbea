import { parseArgs } from 'node:util'
import { simulate, type SimulationResult } from './simulate.js'

const DEFAULT_STEPS = '200'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: DEFAULT_STEPS },
    harsh: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})

// Errors are made by the thousand here, and a stack costs more than all else about one.
Error.stackTraceLimit = values.trace ? 30 : 1

const say = (text: string): void => void process.stdout.write(`${text}\n`)

function report({
  seed,
  findings,
  hash,
  orders,
  fills,
  events,
  elapsedMs,
}: SimulationResult): void {
  const [first] = findings
  const facts = `${orders} orders, ${fills} fills, ${events} events, ${Math.round(elapsedMs / 1000)} s`
  say(`seed ${seed} ${hash} ${first === undefined ? 'ok' : 'FINDING'}: ${facts}`)
  if (first === undefined) return
  say(`  ${first.atMs} ms: ${first.what}`)
  const { detail } = first
  const shown = detail instanceof Error ? detail.stack : JSON.stringify(detail, bigintText)
  say(`  ${shown ?? ''}`)
  say(`  npm run sim -- --seed ${seed} --steps ${values.steps} --trace`)
}

const bigintText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value

const from = Number(values.seed)
const count = Number(values.seeds)
let found = 0
for (let seed = from; seed < from + count; seed++) {
  const result = await simulate({
    ...{ seed, steps: Number(values.steps), harsh: values.harsh },
    ...(values.trace && { onNote: say }),
  })
  if (result.findings.length > 0) found += 1
  if (result.findings.length > 0 || count === 1) report(result)
}
say(`${count} seeds, ${found} with findings, ${Math.round(process.cpuUsage().user / 1000)} ms CPU`)
process.exitCode = found === 0 ? 0 : 1
