import type { SimulationOptions, SimulationResult } from './simulate.js'

const bigintText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value

/** What a run came to, in lines; with a finding, the command that reproduces it. */
export function reportOf(run: SimulationOptions, result: SimulationResult): string[] {
  const { seed, findings, hash, orders, fills, events, elapsedMs } = result
  const [first] = findings
  const filled = [...fills.values()].reduce((sum, count) => sum + count, 0)
  const facts = `${orders} orders, ${filled} fills, ${events} events, ${Math.round(elapsedMs / 1000)} s`
  const head = `seed ${seed} ${hash} ${first === undefined ? 'ok' : 'FINDING'}: ${facts}`
  if (first === undefined) return [head]
  const { detail, atMs, what } = first
  const shown = detail instanceof Error ? detail.stack : JSON.stringify(detail, bigintText)
  const kinds = (run.kinds ?? []).map((kind) => ` --kind ${kind}`).join('')
  return [
    head,
    `  ${atMs} ms: ${what}\n  ${shown ?? ''}`,
    `  npm run sim -- --seed ${seed} --steps ${run.steps}${kinds} --trace`,
  ]
}
