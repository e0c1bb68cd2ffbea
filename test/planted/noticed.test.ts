import { expect } from 'chai'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { readPlantedFaults, type PlantedFault } from './planted-fault.js'
import { openPlantedTree, type PlantedTree } from './planted-tree.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const CHOSEN = 10

/** Contracts have a compiler of their own, which takes a minute; `npm run planted` has all. */
const isQuick = ({ hunks }: PlantedFault): boolean =>
  hunks.every(({ path }) => path.endsWith('.ts'))

/** So many of them, each as likely as any other. */
function choose(faults: readonly PlantedFault[], count: number): PlantedFault[] {
  const left = [...faults]
  return Array.from({ length: count }, () => left.splice(randomInt(left.length), 1)).flat()
}

describe('ten planted faults that this run has chosen', () => {
  let tree: PlantedTree
  before(() => (tree = openPlantedTree(root)))
  after(() => tree?.remove())

  for (const fault of choose(readPlantedFaults(root).filter(isQuick), CHOSEN))
    it(`are noticed: ${fault.name}, by each of its tests`, () => {
      expect(tree.judge(fault)).to.equal(undefined)
    })
})
