import { expect } from 'chai'
import { disagreementOf, namedIn, readDocument, writeDocument } from '../../bench/way/document.js'
import { measureWay } from '../../bench/way/measure.js'
import { summarize, type Way } from '../../bench/way/summary.js'

const MEND = 'run `npm run way -- --write` and look at what it changes in docs/ORDER-WAY.md'

describe("the files of an order's way", function () {
  let way: Way
  before(async () => {
    way = summarize(await measureWay())
  })

  it('are those that docs/ORDER-WAY.md names', () => {
    if (process.env.WRITE_DOCS === '1') writeDocument(way)
    const named = namedIn(readDocument())
    expect(disagreementOf(named, way), MEND).to.deep.equal({ didNotRun: [], notNamed: [] })
  })

  it('lead through every process but the submitters of transfers and the keeper', () => {
    const passed = new Set(way.files.flatMap(({ functions }) => Object.keys(functions)))
    const others = way.processes.filter((process) => !passed.has(process))
    expect(others).to.have.members(['deposit-submitter', 'keeper', 'withdrawal-submitter'])
  })
})
