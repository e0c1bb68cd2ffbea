import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KeptReport, Row } from './bench.js'
import { median } from './rounds.js'
import { tableOf } from './table.js'

/** How often each build runs a bench; they take turns, so that other load on the machine affects both. */
const TURNS = 2
const OWN = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Runs benches by name in another built tree of this project and in this one, in turn, and prints each figure of both with its
 * ratio, this build over the other. Each tree measures by its own definition, so only rows of the same name are compared.
 * The reports of both trees' last turn are kept, as by any run. False where a run fails, or there is no other build.
 */
export function runBeside(dir: string, names: readonly string[]): boolean {
  const other = resolve(dir)
  if (!existsSync(join(other, 'dist/bench/main.js'))) {
    console.error(`${other} holds no built tree of this project`)
    return false
  }
  try {
    for (const name of names) compare(other, name)
    return true
  } catch (error) {
    if (!(error instanceof BenchFailed)) throw error
    console.error(error.message)
    return false
  }
}

class BenchFailed extends Error {
  override readonly name = 'BenchFailed'
}

function compare(other: string, name: string): void {
  const turns = Array.from({ length: TURNS }, () => ({
    theirs: rowsOf(other, name),
    ours: rowsOf(OWN, name),
  }))
  console.log(`### ${name}, ${TURNS} turns\n\n${tableOf(rowsBeside(turns))}\n`)
}

function rowsOf(tree: string, name: string): readonly Row[] {
  const path = join(tree, 'bench/results', `${name}.json`)
  rmSync(path, { force: true })
  const stdio = ['ignore', 'ignore', 'inherit'] as const
  spawnSync(process.execPath, ['dist/bench/main.js', name], { cwd: tree, stdio: [...stdio] })
  // A bench that misses a target fails, and has measured.
  if (!existsSync(path)) throw new BenchFailed(`the bench ${name} of ${tree} failed`)
  return (JSON.parse(readFileSync(path, 'utf8')) as KeptReport).rows
}

/** The rows of one turn. */
export interface Turn {
  readonly theirs: readonly Row[]
  readonly ours: readonly Row[]
}

/** Three rows for each that both builds have: the median of each turn, the other's and ours, and their ratio by turn. */
export function rowsBeside(turns: readonly Turn[]): Row[] {
  const [first] = turns
  const medianOf = (rows: readonly Row[], what: string, unit: string): number | undefined => {
    const row = rows.find((each) => each.what === what && each.unit === unit)
    return row && median(row.values)
  }
  return (first?.ours ?? []).flatMap(({ what, unit }) => {
    const pairs = turns.map((turn) => [
      medianOf(turn.theirs, what, unit),
      medianOf(turn.ours, what, unit),
    ])
    const theirs = pairs.flatMap(([value = NaN]) => value)
    const ours = pairs.flatMap(([, value = NaN]) => value)
    if ([...theirs, ...ours].some(Number.isNaN)) return []
    return [
      { what: `${what}: other build`, unit, values: theirs },
      { what: `${what}: this build`, unit, values: ours },
      {
        what: `${what}: this / other`,
        unit: 'x',
        values: ours.map((value, turn) => value / (theirs[turn] ?? NaN)),
      },
    ]
  })
}
