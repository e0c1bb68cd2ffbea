import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { coverageDirectory } from '../config.js'
import { sourceOf } from './product-files.js'
import { armedName, takeName, type RanFunction } from './takes.js'

/**
 * Loaded into every process of a venue by `--import`: each SIGUSR2 writes to COVERAGE_DIR the functions of the product
 * that ran since the one before. Counting begins before the program is loaded, so that V8 counts every function from
 * its first call on and optimizes none, because it does not count optimized ones. Has no effect in other programs.
 */
function recordInto(dir: string): void {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  let takes = 0
  const write = (error: Error | null, answer: Profiler.TakePreciseCoverageReturnType): void => {
    if (error !== null) throw error
    takes += 1
    writeWhole(join(dir, takeName(process.pid, takes)), JSON.stringify(answer.result.flatMap(ran)))
  }
  process.on('SIGUSR2', () => session.post('Profiler.takePreciseCoverage', write))
  mkdirSync(dir, { recursive: true })
  writeWhole(join(dir, armedName(process.pid)), '')
}

function ran({ url, functions }: Profiler.ScriptCoverage): RanFunction[] {
  const file = sourceOf(url)
  if (file === undefined) return []
  return functions.flatMap(({ functionName: name, ranges: [whole] }) =>
    whole === undefined || whole.count === 0
      ? []
      : [{ file, name, from: whole.startOffset, to: whole.endOffset }],
  )
}

/** Renames the complete file into place, so that a reader never sees a part of it. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.part`, text)
  renameSync(`${path}.part`, path)
}

const dir = coverageDirectory()
const [, program] = process.argv
const isProduct =
  program !== undefined && sourceOf(pathToFileURL(resolve(program)).href) !== undefined
if (dir !== undefined && isProduct) recordInto(dir)
