import { expect } from 'chai'
import { disagreementOf, namedIn, readDocument, wayPage } from '../../bench/way/document.js'
import type { Measured } from '../../bench/way/measure.js'
import { productFiles } from '../../bench/way/product-files.js'
import { summarize } from '../../bench/way/summary.js'
import { keyOf, type RanFunction, type Take } from '../../bench/way/takes.js'
import { measureTree } from '../../bench/way/tree.js'

/** Any files of the product; what stands in them does not count here. */
const [always = '', sometimes = '', ticking = '', apart = '', both = ''] = productFiles()
const FIRST = 'gateway'
const SECOND = 'matcher-some-market'

/** What ran, as processes with the files and their functions by number. */
function take(ran: Readonly<Record<string, readonly (readonly [string, number])[]>>): Take {
  const processes = Object.entries(ran).map(([process, functions]) => {
    const all = functions.map(([file, at]): RanFunction => {
      return { file, name: '', from: at, to: at + 1 }
    })
    return [process, new Map(all.map((each) => [keyOf(each), each]))] as const
  })
  return new Map(processes)
}

const measured: Measured = {
  idleMs: 1,
  idle: take({ [FIRST]: [[ticking, 1]], [SECOND]: [[both, 1]], submitter: [[apart, 1]] }),
  orders: [
    take({
      [FIRST]: [
        [always, 1],
        [ticking, 1],
        [both, 1],
      ],
      [SECOND]: [
        [both, 1],
        [both, 2],
      ],
      submitter: [[apart, 1]],
    }),
    take({
      [FIRST]: [
        [always, 2],
        [sometimes, 1],
        [ticking, 1],
        [both, 1],
      ],
      [SECOND]: [[both, 2]],
      submitter: [],
    }),
  ],
}

describe("the files of an order's way, by what ran", () => {
  const way = summarize(measured)
  const page = wayPage(way)

  it('tells what runs for every order from what does not', () => {
    const kinds = Object.fromEntries(way.files.map(({ path, kind }) => [path, kind]))
    expect(kinds).to.deep.equal({
      [always]: 'order',
      [both]: 'order',
      [sometimes]: 'sometimes',
      [ticking]: 'background',
      [apart]: 'background',
    })
    // Both functions stand in the first line of one file.
    expect(way.orderOnly).to.include({ files: 2, functions: 2, functionLines: 1 })
    expect(way.withBackground).to.include({ files: 3, functions: 3 })
  })

  it('writes them by process, then what several share, then the background of these', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.includes('.ts'))
    expect(rows.map((row) => row.split(' | ').slice(1))).to.deep.equal([
      ['`gateway`', `\`${always}\`; also \`${sometimes}\` |`],
      ['`gateway`, `matcher`', `\`${both}\` |`],
      ['`gateway`', `also \`${ticking}\` |`],
    ])
  })

  it('agrees with what it wrote', () => {
    const agreed = { didNotRun: [], notNamed: [] }
    expect(disagreementOf(namedIn(page), way)).to.deep.equal(agreed)
  })

  it('finds a file of the way that the document does not name', () => {
    const without = page.replace(`\`${both}\``, '')
    const found = { didNotRun: [], notNamed: [both] }
    expect(disagreementOf(namedIn(without), way)).to.deep.equal(found)
  })

  it('finds a file that the document names and that did not run', () => {
    const more = page.replace(`\`${both}\``, `\`${both}\`, \`core/gone.ts\``)
    const found = { didNotRun: ['core/gone.ts'], notNamed: [] }
    expect(disagreementOf(namedIn(more), way)).to.deep.equal(found)
  })
})

describe("docs/ORDER-WAY.md and an order's way", () => {
  it('names files that exist, each once', () => {
    const { always, also } = namedIn(readDocument())
    const all = [...always, ...also]
    expect(always).to.not.be.empty
    expect(all.filter((path) => !productFiles().includes(path))).to.deep.equal([])
    expect(new Set(all).size).to.equal(all.length)
  })
})

describe('the figures of the whole tree', () => {
  it('count every file of the product once', () => {
    const tree = measureTree()
    const { none, one, more } = tree.importedBy
    expect(tree.files).to.equal(productFiles().length)
    expect(none + one + more).to.equal(tree.files)
    const inRooms = Object.values(tree.rooms).map(({ lines }) => lines)
    expect(inRooms.reduce((sum, lines) => sum + lines, 0)).to.equal(tree.lines)
  })
})
