import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { readCommandLine } from '../runtime/process/command-line.js'
import type { Size } from './bench.js'
import { BENCHES } from './benches.js'
import { keptReports } from './results.js'
import { missedOf, writeReadme } from './write-readme.js'

const USAGE = `usage: npm run bench -- [name ...] [--tiny | --full] [--write]

  name     one of ${Object.keys(BENCHES).join(', ')}; all by default
  --full   includes the parts that take several minutes
  --tiny   only shows that the benches run; its figures have no meaning
  --write  writes the newest report of each bench into bench/README.md`

/** Runs the named benches, or all of them, one after the other. */
const { positionals, values } = readCommandLine(USAGE, {
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    tiny: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

/**
 * Heap for a million resting orders, garbage collection on demand between the rounds, and the Procfile's memory
 * settings for venue and peers.
 */
const NODE_OPTIONS = [
  ...['--expose-gc', '--max-old-space-size=8192', '--enable-source-maps'],
  ...['--max-semi-space-size=64', '--initial-old-space-size=256'],
]

async function runApart(name: string, size: Size): Promise<boolean> {
  const program = fileURLToPath(new URL('./run-one.js', import.meta.url))
  const child = spawn(process.execPath, [...NODE_OPTIONS, program, name, size], {
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

const unknown = positionals.filter((name) => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
  process.exit(2)
}
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES)
const size = values.tiny ? 'tiny' : values.full ? 'full' : 'usual'
const failed: string[] = []
for (const name of names) if (!(await runApart(name, size))) failed.push(name)
if (values.write) await writeReadme()
const missed = [...keptReports().values()].filter(({ name }) => names.includes(name))
for (const line of missed.flatMap(missedOf)) console.log(`missed: ${line}`)
if (failed.length > 0) console.error(`failed: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0
