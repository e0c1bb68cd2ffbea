import { readCommandLine } from '../runtime/process/command-line.js'
import type { Size } from './bench.js'
import { BENCHES } from './benches.js'
import { runBeside } from './beside.js'
import { keptReports } from './results.js'
import { runApart } from './run-apart.js'
import { missedOf, writeReadme } from './write-readme.js'

const USAGE = `usage: npm run bench -- [name ...] [--tiny | --full] [--hours N] [--write]
       npm run bench -- beside DIR NAME...
       npm run bench -- oracle FILE

  name     one of ${Object.keys(BENCHES).join(', ')}; all by default
  --full   includes the parts that take several minutes
  --tiny   only shows that the benches run; its figures have no meaning
  --hours  how long soak runs; without it three minutes, with --full an hour
  --write  writes the newest report of each bench into bench/README.md
  beside   runs the named benches in turn with those of another built tree, and prints the ratios
  oracle   runs the pure step over a workload file of the public matching-engine benchmark`

/** Runs the named benches, or all of them, one after the other. */
const { positionals, values } = readCommandLine(USAGE, {
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    hours: { type: 'string' },
    tiny: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

const [first, file] = positionals
if (first === 'oracle') {
  if (file === undefined || positionals.length > 2) {
    console.error(USAGE)
    process.exit(2)
  }
  process.exit((await runApart('./run-oracle.js', [file])) ? 0 : 1)
}
const names = positionals.slice(first === 'beside' ? 2 : 0)
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
  process.exit(2)
}
if (first === 'beside') {
  if (file === undefined || names.length === 0) {
    console.error(USAGE)
    process.exit(2)
  }
  runBeside(file, names)
  process.exit(0)
}
if (names.length === 0) names.push(...Object.keys(BENCHES))
const size: Size = values.tiny ? 'tiny' : values.full ? 'full' : 'usual'
const failed: string[] = []
const { hours } = values
if (hours !== undefined && !(Number(hours) > 0)) {
  console.error(`--hours ${hours} is no number of hours`)
  process.exit(2)
}
for (const name of names) {
  const words = hours === undefined ? [name, size] : [name, size, hours]
  if (!(await runApart('./run-one.js', words))) failed.push(name)
}
if (values.write) await writeReadme()
const missed = [...keptReports().values()].filter(({ name }) => names.includes(name))
for (const line of missed.flatMap(missedOf)) console.log(`missed: ${line}`)
if (failed.length > 0) console.error(`failed: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0
