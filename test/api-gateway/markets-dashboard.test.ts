import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { createPriceWriter } from '../../data/history/write-prices.js'
import { expectNoOverlap } from '../support/dashboard.js'
import type { HistoryGateway } from './stage/history-gateway.js'
import { aListedGateway, LISTED, OBSERVED } from './stage/listed-gateway.js'

interface Request {
  readonly url: string
  readonly root_selector: string
  readonly columns: readonly { readonly selector: string; readonly type: string }[]
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly datasource: { readonly uid: string }
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
    readonly targets: readonly (Request & {
      readonly refId: string
      readonly datasource: { readonly uid: string }
    })[]
  }[]
  readonly templating: {
    readonly list: readonly {
      readonly name: string
      readonly type: string
      readonly query: string | { readonly infinityQuery: Request }
    }[]
  }
}

const file = new URL('../../../docs/operating/markets-dashboard.json', import.meta.url)
const { panels, templating } = JSON.parse(readFileSync(file, 'utf8')) as Dashboard

const { spot, perp, future } = LISTED
/** The markets that a variable may name. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  market: [spot, perp, future].map(({ market }) => market),
  derivative: [perp, future].map(({ market }) => market),
}

/** Whether a cell is what its column says. */
const FITS: Readonly<Record<string, (cell: unknown) => boolean>> = {
  string: (cell) => typeof cell === 'string',
  number: (cell) => typeof cell === 'number' || (cell !== '' && Number.isFinite(Number(cell))),
  timestamp: (cell) => typeof cell === 'string' && Number.isFinite(Date.parse(cell)),
  timestamp_epoch: (cell) => Number.isSafeInteger(cell) && Number(cell) > 1e12,
}

describe('the dashboard of the markets', () => {
  let gateway: HistoryGateway
  before(async () => {
    gateway = await aListedGateway()
    const writer = createPriceWriter(gateway.history.db)
    let seq = 0
    for (const market of [perp, future]) {
      const observed = OBSERVED.get(market.market)
      if (observed !== undefined) writer.write(market, (seq += 1), observed)
    }
  })
  after(() => gateway.close())

  /** What a request of the dashboard finds. */
  async function rowsOf({ url, root_selector: root }: Request, name: string) {
    const { status, text } = await gateway.get(url.replace(/\$\{\w+\}/g, name))
    expect([url, status]).to.deep.equal([url, 200])
    const body = JSON.parse(text) as Record<string, unknown>
    const rows = root === '' ? body : body[root]
    expect(rows, url).to.be.an('array').and.not.to.have.length(0)
    return rows as readonly Readonly<Record<string, unknown>>[]
  }

  it('has panels that do not overlap and read the chosen source', () => {
    expectNoOverlap(panels)
    expect(templating.list[0]).to.include({ name: 'datasource', type: 'datasource' })
    for (const { title, datasource, targets } of panels)
      for (const { uid } of [datasource, ...targets.map((target) => target.datasource)])
        expect(uid, title).to.equal('${datasource}')
  })

  it('offers as a variable each market that the venue has', async () => {
    for (const { name, query } of templating.list.slice(1)) {
      if (typeof query === 'string') throw new Error(`${name} asks for nothing`)
      const [column] = query.infinityQuery.columns
      const rows = await rowsOf(query.infinityQuery, '')
      const found = rows.map((row) => row[column?.selector ?? ''])
      expect(found).to.have.members([...(NAMES[name] ?? [])])
    }
  })

  it('finds each of its columns in what the venue answers', async () => {
    for (const { title, targets } of panels)
      for (const target of targets) {
        const variable = /\$\{(\w+)\}/.exec(target.url)?.[1] ?? ''
        const rows: Readonly<Record<string, unknown>>[] = []
        for (const name of NAMES[variable] ?? ['']) rows.push(...(await rowsOf(target, name)))
        for (const { selector, type } of target.columns) {
          const cells = rows.flatMap((row) => row[selector] ?? [])
          expect(cells, `${title}: ${selector}`).to.not.have.length(0)
          for (const cell of cells)
            expect(FITS[type]?.(cell), `${title}: ${selector} is ${JSON.stringify(cell)}`).to.equal(
              true,
            )
        }
      }
  })
})
