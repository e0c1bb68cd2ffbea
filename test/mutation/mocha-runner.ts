import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from '@stryker-mutator/api/core'
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import {
  determineHitLimitReached,
  DryRunStatus,
  TestStatus,
  toMutantRunResult,
  type DryRunOptions,
  type DryRunResult,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
} from '@stryker-mutator/api/test-runner'
import fc from 'fast-check'
import Mocha from 'mocha'
import { relative, resolve } from 'node:path'

/** The same random data for every mutant, and no search for a smaller counterexample of a mutant that is caught. */
const FIXED = { seed: 20_260_101, endOnFailure: true } as const

/** The options of this runner, beside those of the tool. */
export interface RunnerSettings {
  /** Compiled test files from the root of the tree, in the order in which they run. */
  readonly specs: readonly string[]
}

class Silent extends Mocha.reporters.Base {
  override epilogue(): void {}
}

/** What the instrumented code and this runner share. */
type Coverage = {
  -readonly [Key in keyof InstrumenterContext]: InstrumenterContext[Key] | undefined
}

/** Runs test files in this process through mocha's public interface, which the tool's own runner leaves for mocha 12. */
class MochaRunner implements TestRunner {
  static inject = tokens(commonTokens.options)
  readonly #mocha = new Mocha({ reporter: Silent, timeout: 0, forbidOnly: true })
  readonly #coverage: Coverage = sharedCoverage()
  #loaded = false
  #measures = false

  constructor(options: object) {
    fc.configureGlobal(FIXED)
    const { specs } = options as RunnerSettings
    for (const spec of specs) this.#mocha.addFile(resolve(spec))
    this.#mocha.cleanReferencesAfterRun(false)
    const isMeasuring = () => this.#measures
    const coverage = this.#coverage
    this.#mocha.suite.beforeEach(function () {
      if (isMeasuring()) coverage.currentTestId = this.currentTest?.fullTitle()
    })
  }

  /** Modules stay loaded: a mutant of code that runs while a module loads gets a process of its own. */
  capabilities() {
    return { reloadEnvironment: false }
  }

  async dryRun({ coverageAnalysis, disableBail }: DryRunOptions): Promise<DryRunResult> {
    this.#measures = coverageAnalysis === 'perTest'
    const result = await this.#run(disableBail)
    this.#measures = false
    if (result.status !== DryRunStatus.Complete || coverageAnalysis === 'off') return result
    // Without one, where no test loads the source, the tool would run all tests on each mutant.
    const { mutantCoverage = { static: {}, perTest: {} } } = this.#coverage
    return { ...result, mutantCoverage }
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter, hitLimit, disableBail, mutantActivation } = options
    this.#coverage.hitLimit = hitLimit
    this.#coverage.hitCount = hitLimit === undefined ? undefined : 0
    const named = testFilter?.map((title) => `(^${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$)`)
    this.#mocha.grep(new RegExp(named?.join('|') ?? ''))
    if (mutantActivation === 'static') this.#coverage.activeMutant = activeMutant.id
    return toMutantRunResult(await this.#run(disableBail, activeMutant.id))
  }

  async #run(disableBail: boolean, mutant?: string): Promise<DryRunResult> {
    try {
      if (!this.#loaded) await this.#mocha.loadFilesAsync()
      this.#loaded = true
    } catch (error) {
      return { status: DryRunStatus.Error, errorMessage: String(error) }
    }
    bailAll(this.#mocha.suite, !disableBail)
    this.#coverage.activeMutant = mutant
    const tests = await runTests(this.#mocha)
    const { hitCount, hitLimit } = this.#coverage
    return determineHitLimitReached(hitCount, hitLimit) ?? { status: DryRunStatus.Complete, tests }
  }

  dispose(): Promise<void> {
    this.#mocha.dispose()
    return Promise.resolve()
  }
}

function sharedCoverage(): Coverage {
  const shared = globalThis as { [INSTRUMENTER_CONSTANTS.NAMESPACE]?: Coverage }
  return (shared[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {})
}

function bailAll(suite: Mocha.Suite, bail: boolean): void {
  suite.bail(bail)
  for (const child of suite.suites) bailAll(child, bail)
}

async function runTests(mocha: Mocha): Promise<TestResult[]> {
  const tests: TestResult[] = []
  await new Promise<void>((done) => {
    const runner = mocha.run(() => done())
    runner.on('pass', (test) => {
      tests.push({ ...describeTest(test), status: TestStatus.Success })
    })
    runner.on('fail', (test, error: Error) => {
      const { message } = error
      tests.push({ ...describeTest(test), status: TestStatus.Failed, failureMessage: message })
    })
  })
  return tests
}

/** A failed hook counts as the test that it prepared. */
function describeTest(runnable: Mocha.Runnable) {
  const test = runnable.ctx?.currentTest ?? runnable
  const title = test.fullTitle()
  return { id: title, name: title, timeSpentMs: test.duration ?? 0, ...sourceOf(test.file) }
}

/** The source of a test's compiled file, whose changes make a kept result stale. */
function sourceOf(file: string | undefined): { fileName?: string } {
  if (file === undefined) return {}
  const source = relative(resolve('dist'), file).replace(/\.js$/, '.ts')
  return { fileName: resolve(source) }
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.TestRunner, 'mocha-in-process', MochaRunner),
]
