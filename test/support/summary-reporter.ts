import { writeFileSync } from 'node:fs'
import mocha from 'mocha'

/**
 * The usual output, and the numbers of passed and failed tests as `<passed> <failed>` in the file that
 * `--reporter-option summary=FILE` names: written at the end of a whole run only.
 */
export default class SummaryReporter extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options)
    const { summary } = options.reporterOptions as { summary: string }
    runner.once('end', () => {
      const { passes = 0, failures = 0 } = runner.stats ?? {}
      writeFileSync(summary, `${passes} ${failures}\n`)
    })
  }
}
