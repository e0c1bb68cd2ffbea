import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { MarketFileError } from '../../data/load-markets.js'
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

  it('are the enabled ones, on its addresses', () => {
    const markets = loadDeployedMarkets(deployment(JSON.stringify(testAddresses)))
    expect(markets.map(({ market }) => market)).to.deep.equal(['cNGN-USDC'])
    expect(markets[0]?.assetAddress).to.equal(testAddresses.wrapped_cngn)
    expect(markets.every(({ enabled }) => enabled)).to.equal(true)
  })

  it('cannot be had from a file that is absent, is not JSON, or lacks an address', () => {
    const paths = [
      () => join(dir.path, 'none.json'),
      () => deployment('{'),
      () => deployment(JSON.stringify({ ...testAddresses, spot_manager: undefined })),
    ]
    for (const path of paths) {
      expect(() => loadDeployedMarkets(path())).to.throw(MarketFileError)
    }
  })
})
