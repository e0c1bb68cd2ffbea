import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseFault, plant, readPlantedFaults } from './planted-fault.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const readSource = (path: string): string => readFileSync(join(root, path), 'utf8')

/** That the tests notice them is checked by `npm run planted`. */
describe('planted faults', () => {
  const faults = readPlantedFaults(root)

  for (const fault of faults) {
    it(`${fault.name} still applies`, () => {
      expect(fault.summary).to.match(/^[A-Z].*\.$/s)
      expect(fault.tests).to.not.have.length(0)
      for (const test of fault.tests) expect(existsSync(join(root, test)), test).to.equal(true)
      const planted = plant(fault, readSource)
      expect(planted.size).to.be.greaterThan(0)
      for (const [path, text] of planted) {
        expect(path).to.not.match(/^test\//)
        expect(text).to.not.equal(readSource(path))
      }
    })
  }

  it('replace lines that stand in their file once, wherever that is', () => {
    const text =
      'The sum is wrong.\nfails: test/a.test.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n'
    const fault = parseFault('a', text)
    expect(fault).to.deep.include({ summary: 'The sum is wrong.', tests: ['test/a.test.ts'] })
    expect(plant(fault, () => 'x\na\nb\ny\n').get('a.ts')).to.equal('x\na\nc\ny\n')
    expect(() => plant(fault, () => 'xa\nb\n')).to.throw('does not apply')
    expect(() => plant(fault, () => 'a\nb\na\nb\n')).to.throw('does not apply')
  })
})
