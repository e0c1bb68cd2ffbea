import type { Size } from './bench.js'
import { BENCHES } from './benches.js'
import { keepReport } from './results.js'
import { runBench } from './run-bench.js'
import { sectionOf } from './table.js'

/** Runs one bench in a process of its own, so that no bench inherits another's heap. Arguments: name, size, hours. */
const [name = '', size = 'usual', hours] = process.argv.slice(2)
const load = BENCHES[name]
if (load === undefined) throw new Error(`there is no bench ${name}`)
const say = (line: string): void => console.error(`  ${name}: ${line}`)
const options = hours === undefined ? { say } : { say, hours: Number(hours) }
const report = await runBench(await load(), size as Size, options)
keepReport(report)
console.log(`${sectionOf(report)}\n`)
