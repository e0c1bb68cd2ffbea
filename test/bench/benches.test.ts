import { expect } from 'chai'
import { BENCHES } from '../../bench/benches.js'
import { OPEN_BUS, startOwnVenue, type OwnVenue } from '../../bench/own-venue.js'
import { runBench } from '../../bench/run-bench.js'
import { sectionOf } from '../../bench/table.js'
import { chosenBy } from '../support/random-numbers.js'
import { tempDir } from '../support/temp-dir.js'

/** Which ten benches run, or `all`; the name of the test prints it. */
const SEED = process.env.BENCH_SEED ?? String(Date.now() % 1_000_000)
const CHOSEN = 10

/** Benches at their smallest: what their figures say is not looked at, but they must be able to say them. */
describe(`benches, BENCH_SEED=${SEED}`, () => {
  const all = Object.entries(BENCHES)
  const chosen = SEED === 'all' ? all : chosenBy(Number(SEED), all, CHOSEN)
  const shared = tempDir()
  let venue: OwnVenue | undefined
  /** The benches share one venue: to start it is most of the work of their smallest size. */
  const startVenue = async (): Promise<OwnVenue> => {
    const env = { DEVNET_SAVE_CHAIN: '0', ...OPEN_BUS }
    venue ??= await startOwnVenue({ dir: shared.path, env })
    return { ...venue, stop: () => Promise.resolve() }
  }
  after(async () => {
    await venue?.stop()
    shared.remove()
  })

  for (const [name, load] of chosen) {
    it(`${name} runs and gives its figures`, async function () {
      const report = await runBench(await load(), 'tiny', { startVenue })
      expect(report.name).to.equal(name)
      expect(report.rows).to.not.be.empty
      for (const { what, values } of report.rows) {
        // What is no matter of chance is measured once.
        expect(values.length, what).to.be.oneOf([1, 2])
        // The few orders of the smallest size take less memory than the collector gives back meanwhile.
        // A file that they leave as it is takes no more of the disk.
        const mayShrink = name === 'memory' || /^(memory|of it) /.test(what)
        const least = mayShrink ? -Infinity : 0
        for (const value of values) expect(value, what).to.be.finite.and.to.be.above(least)
      }
      expect(report.rows.some(({ unit, goal }) => unit === 'x' || goal !== undefined)).to.equal(
        true,
      )
      expect(sectionOf(report)).to.include(`### ${name}\n`)
    })
  }
})
