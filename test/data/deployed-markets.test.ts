import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadDeployedMarkets, MarketFileError } from '../../data/markets.js'
import { testAddresses } from '../support/builders.js'
import { tempDir } from '../support/temp-dir.js'

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
})
