import { fileURLToPath } from 'node:url'
import { endAtHelp } from '../../runtime/process/command-line.js'
import { readPlantedFaults, type PlantedFault } from './planted-fault.js'
import { openPlantedTree } from './planted-tree.js'

/**
 * Plants one fault after the other in a copy of the tree, builds it and runs the tests that must notice it: `npm run
 * planted`, or `npm run planted -- <name> ...` for some. Exits 1 when a fault does not apply, does not compile, or is
 * not noticed by each of its tests, and when one of these tests fails without it.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url))

function chosenFaults(names: readonly string[]): PlantedFault[] {
  const faults = readPlantedFaults(root)
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name))
  if (unknown.length > 0) throw new Error(`no planted fault is called ${unknown.join(', ')}`)
  return faults.filter(({ name }) => names.length === 0 || names.includes(name))
}

function main(names: readonly string[]): boolean {
  const faults = chosenFaults(names)
  const tree = openPlantedTree(root)
  const judge = (fault: PlantedFault): string | undefined => {
    try {
      return tree.judge(fault)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  try {
    const tests = [...new Set(faults.flatMap((fault) => fault.tests))]
    const failing = tests.filter((test) => !tree.passes(test))
    for (const test of failing) console.log(`FAILS WITHOUT A FAULT  ${test}`)
    const wrong = faults.filter((fault) => {
      const reason = judge(fault)
      console.log(
        reason === undefined ? `noticed  ${fault.name}` : `FAILED   ${fault.name}: ${reason}`,
      )
      return reason !== undefined
    })
    console.log(`${faults.length - wrong.length} of ${faults.length} planted faults noticed`)
    return wrong.length === 0 && failing.length === 0
  } finally {
    tree.remove()
  }
}

endAtHelp(
  'usage: npm run planted -- [name ...]\n\nPlants the faults of test/planted/*.patch, all or the named ones, and runs their tests.',
)
process.exitCode = main(process.argv.slice(2)) ? 0 : 1
