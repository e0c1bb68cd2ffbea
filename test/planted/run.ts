import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endAtHelp } from '../../runtime/process/command-line.js'
import { tempDir } from '../support/temp-dir.js'
import { plant, readPlantedFaults, type PlantedFault } from './planted-fault.js'

/**
 * Plants one fault after the other in a copy of the tree, builds it and runs the tests that must notice it: `npm run
 * planted`, or `npm run planted -- <name> ...` for some. Exits 1 when a fault does not apply, does not compile, or is
 * not noticed by each of its tests, and when one of these tests fails without it.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url))
const LEFT_OUT = new Set(['.git', '.tools', '.cache', 'node_modules', 'var', 'results'])

function copyTree(to: string): void {
  cpSync(root, to, {
    recursive: true,
    // The times of the files tell the compiler that nothing has to be built again.
    preserveTimestamps: true,
    filter: (path) => !LEFT_OUT.has(path.split('/').at(-1) ?? ''),
  })
  for (const name of ['node_modules', '.tools']) symlinkSync(join(root, name), join(to, name))
}

interface Outcome {
  readonly passed: boolean
  readonly output: string
}

function run(cwd: string, script: string, args: readonly string[]): Outcome {
  const { status, stdout, stderr } = spawnSync('node', [join(root, script), ...args], {
    cwd,
    encoding: 'utf8',
    timeout: 600_000,
    killSignal: 'SIGKILL',
  })
  return { passed: status === 0, output: `${stdout}${stderr}` }
}

const build = (tree: string): Outcome => run(tree, 'node_modules/typescript-7/bin/tsc', ['-b'])

function runTest(tree: string, test: string): Outcome {
  const compiled = `dist/${test.replace(/\.ts$/, '.js')}`
  return run(tree, 'node_modules/mocha/bin/mocha.js', ['--exit', '--reporter', 'dot', compiled])
}

/** Why the fault counts as not noticed; undefined when every test of it fails with it. */
function judge(tree: string, fault: PlantedFault): string | undefined {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  let planted: ReadonlyMap<string, string>
  try {
    planted = plant(fault, read)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  try {
    for (const [path, text] of planted) writeFileSync(join(tree, path), text)
    const built = build(tree)
    if (!built.passed) return `does not compile\n${built.output}`
    const blind = fault.tests.filter((test) => runTest(tree, test).passed)
    return blind.length === 0 ? undefined : `not noticed by ${blind.join(', ')}`
  } finally {
    for (const path of planted.keys()) writeFileSync(join(tree, path), read(path))
  }
}

function chosenFaults(names: readonly string[]): PlantedFault[] {
  const faults = readPlantedFaults(root)
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name))
  if (unknown.length > 0) throw new Error(`no planted fault is called ${unknown.join(', ')}`)
  return faults.filter(({ name }) => names.length === 0 || names.includes(name))
}

function main(names: readonly string[]): boolean {
  const faults = chosenFaults(names)
  const directory = tempDir()
  const tree = join(directory.path, 'tree')
  try {
    copyTree(tree)
    const built = build(tree)
    if (!built.passed) throw new Error(`the tree does not compile\n${built.output}`)
    const tests = [...new Set(faults.flatMap((fault) => fault.tests))]
    const failing = tests.filter((test) => !runTest(tree, test).passed)
    for (const test of failing) console.log(`FAILS WITHOUT A FAULT  ${test}`)
    const wrong = faults.filter((fault) => {
      const reason = judge(tree, fault)
      console.log(
        reason === undefined ? `noticed  ${fault.name}` : `FAILED   ${fault.name}: ${reason}`,
      )
      return reason !== undefined
    })
    console.log(`${faults.length - wrong.length} of ${faults.length} planted faults noticed`)
    return wrong.length === 0 && failing.length === 0
  } finally {
    directory.remove()
  }
}

endAtHelp(
  'usage: npm run planted -- [name ...]\n\nPlants the faults of test/planted/*.patch, all or the named ones, and runs their tests.',
)
process.exitCode = main(process.argv.slice(2)) ? 0 : 1
