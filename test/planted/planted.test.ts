import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCompile } from './compile.js'
import { parseFault, plant, readPlantedFaults, type PlantedFault } from './planted-fault.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const readSource = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The changed sources of the faults, by path, in as few sets as it takes for each to have one fault a file. */
function plantedTogether(faults: readonly PlantedFault[]): Map<string, string>[] {
  const sets: Map<string, string>[] = []
  for (const fault of faults) {
    let set = sets.find((set) => fault.hunks.every(({ path }) => !set.has(path)))
    if (set === undefined) sets.push((set = new Map<string, string>()))
    for (const [path, text] of plant(fault, readSource)) set.set(path, text)
  }
  return sets
}

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

  describe('in the compiler', function () {
    const compile = createCompile(root)

    it('are sources without a problem', () => {
      // Contracts have a compiler of their own, which runs when their faults are planted.
      const inCode = faults.filter(({ hunks }) => hunks.every(({ path }) => path.endsWith('.ts')))
      for (const set of plantedTogether(inCode)) expect(compile(set)).to.deep.equal([])
    })

    it('would show a name that nothing declares, and one that nothing reads', () => {
      const path = 'core/wire/example.ts'
      const problems = compile(new Map([[path, 'export const a = b\nconst c = 1\n']]))
      expect(problems).to.have.length(2)
      expect(problems[0]).to.contain(path).and.to.contain("Cannot find name 'b'")
      expect(problems[1]).to.contain("'c' is declared but its value is never read")
      expect(compile(new Map([[path, 'export const a = 1\n']]))).to.deep.equal([])
    })
  })

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
