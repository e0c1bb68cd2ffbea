import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/temp-dir.js'
import { plant, type PlantedFault } from './planted-fault.js'

const LEFT_OUT = new Set(['.git', '.tools', '.cache', 'node_modules', 'var', 'results'])

/** A copy of the tree in which faults are planted, one at a time. */
export interface PlantedTree {
  /** Why the fault counts as not noticed; undefined when every test of it fails with it. */
  judge(fault: PlantedFault): string | undefined
  /** Whether a test file passes in the tree as it is. */
  passes(test: string): boolean
  remove(): void
}

interface Outcome {
  readonly passed: boolean
  readonly output: string
}

/** Copies the built tree. Throws where it does not compile. */
export function openPlantedTree(root: string): PlantedTree {
  const directory = tempDir()
  const tree = join(directory.path, 'tree')
  cpSync(root, tree, {
    recursive: true,
    // The times of the files tell the compiler that nothing has to be built again.
    preserveTimestamps: true,
    filter: (path) => !LEFT_OUT.has(path.split('/').at(-1) ?? ''),
  })
  for (const name of ['node_modules', '.tools']) symlinkSync(join(root, name), join(tree, name))

  function run(script: string, args: readonly string[]): Outcome {
    const { status, stdout, stderr } = spawnSync('node', [join(root, script), ...args], {
      cwd: tree,
      encoding: 'utf8',
      timeout: 600_000,
      killSignal: 'SIGKILL',
    })
    return { passed: status === 0, output: `${stdout}${stderr}` }
  }
  const build = (): Outcome => run('node_modules/typescript-7/bin/tsc', ['-b'])
  const passes = (test: string): boolean => {
    const compiled = `dist/${test.replace(/\.ts$/, '.js')}`
    return run('node_modules/mocha/bin/mocha.js', ['--exit', '--reporter', 'dot', compiled]).passed
  }
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')

  const built = build()
  if (!built.passed) {
    directory.remove()
    throw new Error(`the tree does not compile\n${built.output}`)
  }
  return {
    passes,
    judge(fault) {
      const planted = plant(fault, read)
      try {
        for (const [path, text] of planted) writeFileSync(join(tree, path), text)
        const compiled = build()
        if (!compiled.passed) return `does not compile\n${compiled.output}`
        const blind = fault.tests.filter(passes)
        return blind.length === 0 ? undefined : `not noticed by ${blind.join(', ')}`
      } finally {
        for (const path of planted.keys()) writeFileSync(join(tree, path), read(path))
      }
    },
    remove: () => directory.remove(),
  }
}
