import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  defaultMarketFile,
  describeAbsent,
  loadDeployedMarkets,
  loadMarket,
  MarketFileError,
  readMarkets,
  readRows,
  tradedMarketNames,
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

  describe('of which one is asked for', () => {
    const [spot = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
    const second: Row = { ...spot, market: 'B', ordinal: 1, aliases: ['B-ALIAS'], sub_id: '1' }
    const written = (rows: readonly unknown[]) => {
      const file = join(dir.path, 'markets.json')
      writeFileSync(file, JSON.stringify(rows))
      return { MARKETS_FILE: file, DEPLOYMENT_FILE: deployment(JSON.stringify(testAddresses)) }
    }
    const problem = (name: string, rows: readonly unknown[]): string => {
      try {
        return loadMarket(written(rows), name).market
      } catch (error) {
        expect(error).to.be.instanceOf(MarketFileError)
        return (error as Error).message
      }
    }

    it('are found by their names, and by no alias', () => {
      expect(loadMarket(written([spot, second]), 'B').ordinal).to.equal(1)
      const words = 'MARKET B-ALIAS of the market file: is not there'
      expect(problem('B-ALIAS', [spot, second])).to.equal(words)
    })

    it('say why they were refused', () => {
      expect(problem('B', [spot, { ...second, tick_size: '0' }])).to.equal(
        'MARKET B of the market file: tick_size must be positive decimal text',
      )
      expect(problem('B', [spot, { ...second, aliases: ['x', 'x'] }])).to.equal(
        'MARKET B of the market file: identifier x is listed twice',
      )
    })

    it('are not in the way when they were refused', () => {
      const refused: Row = { ...second, market: 'C', ordinal: 0, aliases: ['B', 'B-ALIAS'] }
      expect(loadMarket(written([spot, refused, second]), 'B').ordinal).to.equal(1)
    })

    it('are read from rows in the same way, which are named by their place where they have no name', () => {
      const rows = [spot, null, second, 7, { market: 'a b' }]
      const { markets, refused } = readMarkets(written([]), rows)
      expect(markets.map(({ market }) => market)).to.deep.equal([spot.market, 'B'])
      expect(refused.map(({ row }) => row)).to.deep.equal(['row 2', 'row 4', 'row 5'])
    })

    it('have a matcher each, those of the shipped file where no other is named', () => {
      const { DEPLOYMENT_FILE } = written([])
      expect(tradedMarketNames({ DEPLOYMENT_FILE })).to.deep.equal([spot.market])
      expect(tradedMarketNames(written([spot, second, second]))).to.deep.equal([spot.market, 'B'])
    })

    it('are named with the contracts that the deployment lacks', () => {
      expect(describeAbsent({ market: 'P', lacks: ['asset', 'module'] })).to.equal(
        'P is not listed: the deployment has no asset and no module',
      )
    })
  })

  it('cannot be had from a file that cannot be read or is no list, which is named', () => {
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
