import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  defaultMarketFile,
  describeAbsent,
  loadDeployedMarkets,
  MarketFileError,
  readMarkets,
  readRows,
} from '../../data/markets.js'
import { testAddresses } from '../support/builders.js'
import { tempDir } from '../support/temp-dir.js'

type Row = Readonly<Record<string, unknown>>

describe('the markets of a deployment', () => {
  let dir: ReturnType<typeof tempDir>
  beforeEach(() => (dir = tempDir()))
  afterEach(() => dir.remove())

  const deployment = (text: string): string => {
    const path = join(dir.path, 'deployment.json')
    writeFileSync(path, text)
    return path
  }

  it('are those of the market file, on its addresses', () => {
    const markets = loadDeployedMarkets({
      DEPLOYMENT_FILE: deployment(JSON.stringify(testAddresses)),
    }).markets
    expect(markets.map(({ market }) => market)).to.deep.equal(['cNGN-USDC'])
    expect(markets[0]?.assetAddress).to.equal(testAddresses.wrapped_cngn)
  })

  it('cannot be had from a deployment that is absent or is not JSON', () => {
    const paths = [() => join(dir.path, 'none.json'), () => deployment('{')]
    for (const path of paths) {
      expect(() => loadDeployedMarkets({ DEPLOYMENT_FILE: path() })).to.throw(MarketFileError)
    }
  })

  describe('of the rows of a file', () => {
    const [spot = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
    const second: Row = { ...spot, market: 'B', ordinal: 1, aliases: ['B-ALIAS'], sub_id: '1' }
    const written = (rows: readonly unknown[]) => {
      const file = join(dir.path, 'markets.json')
      writeFileSync(file, JSON.stringify(rows))
      return { MARKETS_FILE: file, DEPLOYMENT_FILE: deployment(JSON.stringify(testAddresses)) }
    }
    const loaded = (rows: readonly unknown[]) => loadDeployedMarkets(written(rows))

    it('say why they were refused', () => {
      expect(loaded([spot, { ...second, tick_size: '0' }]).refused).to.deep.equal([
        { row: 'B', problem: 'tick_size must be positive decimal text' },
      ])
      expect(loaded([spot, { ...second, aliases: ['x', 'x'] }]).refused).to.deep.equal([
        { row: 'B', problem: 'identifier x is listed twice' },
      ])
    })

    it('are not in the way when they were refused', () => {
      const refused: Row = { ...second, market: 'C', ordinal: 0, aliases: ['B', 'B-ALIAS'] }
      const { markets } = loaded([spot, refused, second])
      expect(markets.map(({ market, ordinal }) => [market, ordinal])).to.deep.equal([
        [spot.market, 0],
        ['B', 1],
      ])
    })

    it('get the next ordinals where they say none, above all that are registered or in the file', () => {
      const unnumbered = { ...second, ordinal: undefined }
      const third = { ...unnumbered, market: 'C', aliases: [], sub_id: '2' }
      const ordinals = (rows: readonly unknown[], known?: ReadonlyMap<string, number>) =>
        readMarkets(written([]), rows, known).markets.map(({ ordinal }) => ordinal)
      expect(ordinals([unnumbered, { ...spot, ordinal: 7 }, third])).to.deep.equal([8, 7, 9])
      expect(ordinals([third], new Map([['gone', 300]]))).to.deep.equal([301])
      // A registered market has its own.
      expect(
        ordinals(
          [unnumbered, third],
          new Map([
            ['B', 5],
            ['X', 2],
          ]),
        ),
      ).to.deep.equal([5, 6])
      const { refused } = readMarkets(written([]), [third], new Map([['X', 65_535]]))
      expect(refused[0]?.problem).to.match(/^ordinal /)
    })

    it('may say the addresses themselves', () => {
      const asset = `0x${'Ab'.repeat(20)}`
      const { markets } = loaded([spot, { ...second, asset, trade_module: asset }])
      expect(markets[1]).to.include({ assetAddress: asset.toLowerCase() })
    })

    it('are read from rows in the same way, which are named by their place where they have no name', () => {
      const rows = [spot, null, second, 7, { market: 'a b' }]
      const { markets, refused } = readMarkets(written([]), rows)
      expect(markets.map(({ market }) => market)).to.deep.equal([spot.market, 'B'])
      expect(refused.map(({ row }) => row)).to.deep.equal(['row 2', 'row 4', 'row 5'])
    })

    it('are named with the contracts that the deployment lacks', () => {
      expect(describeAbsent({ market: 'P', lacks: ['asset', 'module'] })).to.equal(
        'P is not listed: the deployment has no asset and no module',
      )
    })
  })

  it('cannot be had from a file that cannot be read or is not a list, which is named', () => {
    const file = join(dir.path, 'none.json')
    for (const of of [file, pathToFileURL(file)]) {
      expect(() => readRows(of))
        .to.throw(MarketFileError, `cannot read ${file}`)
        .with.property('cause')
        .that.is.instanceOf(Error)
    }
    expect(() => readRows(deployment('{}'))).to.throw(
      MarketFileError,
      `${join(dir.path, 'deployment.json')} is not a list of markets`,
    )
    expect(() => loadDeployedMarkets({ DEPLOYMENT_FILE: file }))
      .to.throw(MarketFileError, `cannot read the deployment ${file}: Error: ENOENT`)
      .with.property('cause')
      .that.is.instanceOf(Error)
  })
})
