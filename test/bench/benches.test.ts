import { expect } from 'chai'
import { BENCHES } from '../../bench/benches.js'
import { runBench } from '../../bench/run-bench.js'
import { sectionOf } from '../../bench/table.js'

/** Each bench at its smallest: what its figures say is not looked at, but it must be able to say them. */
describe('benches', () => {
  for (const [name, load] of Object.entries(BENCHES)) {
    it(`${name} runs and gives its figures`, async function () {
      this.timeout(240_000)
      const report = await runBench(await load(), 'tiny')
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
