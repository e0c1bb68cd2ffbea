import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import mocha from 'mocha'
import { isLate } from './eventually.js'

/** What a run leaves of one test file. */
interface FileResult {
  passed: number
  failed: number
  /** Whether each failure of the file is a time limit that was exceeded. */
  allLate: boolean
  /** Of its tests and hooks. */
  tookMs: number
}

/** Tests of one process, without a chain, a bus server or files: what fails there fails again. */
const PURE = /test[/](core|scenarios|refusals|interface|bus-schemas|sim|mutation)[/]|tidy/
/** More failing files than this are no accident. */
const REPEATED_MAX = 4

/** The files that may run once more: nothing but time limits failed, or they run real processes on a shared machine. */
function repeatable(files: ReadonlyMap<string, FileResult>): [string, FileResult][] {
  const failed = [...files].filter(([, result]) => result.failed > 0)
  const repeated = failed.filter(([file, { allLate }]) => allLate || !PURE.test(file))
  return failed.length > REPEATED_MAX ? [] : repeated
}

/**
 * The usual output, and at the end of a whole run four files beside each other, named by
 * `--reporter-option summary=FILE`:
 * - `FILE`: the numbers of passed and failed tests, `<passed> <failed>`;
 * - `FILE.failures`: each failure with its title and error, for the end of the output;
 * - `FILE.repeat`: `<passed> <failed> <file>` of each test file that may run once more;
 * - `FILE.seconds`: `<seconds> <file>` of each test file, the slowest first.
 */
export default class SummaryReporter extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options)
    const { summary } = options.reporterOptions as { summary: string }
    const files = new Map<string, FileResult>()
    const failures: string[] = []
    const resultOf = (of: mocha.Runnable): FileResult => {
      const file = relative('.', of.file ?? 'unknown')
      const result = files.get(file) ?? { passed: 0, failed: 0, allLate: true, tookMs: 0 }
      files.set(file, result)
      return result
    }
    // Tests and hooks run one after the other: what has passed since the last one belongs to this one.
    let endedAt = performance.now()
    const count = (of: mocha.Runnable): void => {
      const now = performance.now()
      resultOf(of).tookMs += now - endedAt
      endedAt = now
    }
    runner.on('test end', count)
    runner.on('hook end', count)
    runner.on('pass', (test) => (resultOf(test).passed += 1))
    runner.on('fail', (test, error: Error) => {
      const result = resultOf(test)
      result.failed += 1
      result.allLate &&= isLate(error)
      failures.push(
        `${isLate(error) ? 'late' : 'failed'}: ${test.fullTitle()}\n  ${error.stack ?? error.message}\n`,
      )
    })
    runner.once('end', () => {
      const { passes = 0, failures: failed = 0 } = runner.stats ?? {}
      writeFileSync(`${summary}.failures`, failures.join(''))
      writeFileSync(
        `${summary}.repeat`,
        repeatable(files)
          .map(([file, { passed, failed }]) => `${passed} ${failed} ${file}\n`)
          .join(''),
      )
      writeFileSync(
        `${summary}.seconds`,
        [...files]
          .toSorted(([, a], [, b]) => b.tookMs - a.tookMs)
          .map(([file, { tookMs }]) => `${Math.round(tookMs / 1_000)} ${file}\n`)
          .join(''),
      )
      writeFileSync(summary, `${passes} ${failed}\n`)
    })
  }
}
