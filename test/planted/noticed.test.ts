import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { chosenBy } from '../support/random-numbers.js'
import { readPlantedFaults } from './planted-fault.js'
import { openPlantedTree, type PlantedTree } from './planted-tree.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** Which faults are planted; the name of the test prints it. */
const SEED = Number(process.env.PLANTED_SEED ?? Date.now() % 1_000_000)
const CHOSEN = 10

/** All of them are planted by `npm run planted`; the suite runs without one what each names. */
describe(`ten planted faults, PLANTED_SEED=${SEED}`, () => {
  let tree: PlantedTree
  before(() => (tree = openPlantedTree(root)))
  after(() => tree?.remove())

  for (const fault of chosenBy(SEED, readPlantedFaults(root), CHOSEN))
    it(`${fault.name} is noticed by each test that it names`, () => {
      expect(tree.judge(fault)).to.equal(undefined)
    })
})
