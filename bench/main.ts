import { readCommandLine } from '../runtime/process/command-line.js'
import type { Size } from './bench.js'
import { BENCHES } from './benches.js'
import { runBeside } from './beside.js'
import { keptReports, missedOf } from './results.js'
import { runApart } from './run-apart.js'
import { USAGE } from './usage.js'

/** Runs the named benches, or all of them, one after the other. */
const { positionals, values } = readCommandLine(USAGE, {
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    hours: { type: 'string' },
    tiny: { type: 'boolean', default: false },
  },
})

const refuse = (why: string): never => {
  console.error(why)
  process.exit(2)
}
const [first, file = ''] = positionals
if (first === 'oracle') {
  if (positionals.length !== 2) refuse(USAGE)
  process.exit((await runApart('./run-oracle.js', [file])) ? 0 : 1)
}
const names = positionals.slice(first === 'beside' ? 2 : 0)
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  refuse(`no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
}
if (first === 'beside') {
  if (names.length === 0) refuse(USAGE)
  process.exit(runBeside(file, names) ? 0 : 1)
}
if (names.length === 0) names.push(...Object.keys(BENCHES))
const size: Size = values.tiny ? 'tiny' : values.full ? 'full' : 'usual'
const { hours } = values
if (hours !== undefined && !(Number(hours) > 0)) refuse(`--hours ${hours} is not a number of hours`)
const failed: string[] = []
for (const name of names) {
  const words = [name, size, ...(hours === undefined ? [] : [hours])]
  if (!(await runApart('./run-one.js', words))) failed.push(name)
}
const missed = [...keptReports().values()].filter(({ name }) => names.includes(name))
for (const line of missed.flatMap(missedOf)) console.log(`missed: ${line}`)
for (const name of failed) console.error(`failed: ${name}`)
process.exitCode = Math.min(failed.length, 1)
