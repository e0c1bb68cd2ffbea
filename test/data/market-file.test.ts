import { expect } from 'chai'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { addRows, openMarketFile, updateRow } from '../../data/market-file.js'
import { defaultMarketFile, MarketFileError } from '../../data/markets.js'
import { testAddresses } from '../support/builders.js'
import { tempDir } from '../support/temp-dir.js'

type Row = Readonly<Record<string, unknown>>

const [spot = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
const other: Row = { ...spot, market: 'B', ordinal: 1, aliases: [], sub_id: '1' }
/** Of which no market can be made, and which stays as it stands. */
const broken: Row = { market: 'C', note: 'half a row' }

const rejection = (writing: Promise<void>): Promise<unknown> =>
  writing.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('the writer of the market file', () => {
  let dir: ReturnType<typeof tempDir>
  let file: string
  beforeEach(() => {
    dir = tempDir()
    file = join(dir.path, 'markets.json')
    writeFileSync(file, JSON.stringify([spot, broken, other]))
  })
  afterEach(() => dir.remove())
  const rows = () => JSON.parse(readFileSync(file, 'utf8')) as Row[]

  it('replaces fields of one row, each in its JSON type, and keeps all other rows', async () => {
    await updateRow(file, 'B', { taker_fee_bps: '30', tick_size: '0.5', enabled: false })
    const changed = { ...other, taker_fee_bps: 30, tick_size: '0.5', enabled: false }
    expect(rows()).to.deep.equal([spot, broken, changed])
  })

  it('replaces the file, so that a reader has all of the old content or all of the new', async () => {
    const before = readFileSync(file, 'utf8')
    const reader = openSync(file, 'r')
    try {
      await updateRow(file, 'B', { taker_fee_bps: '30' })
      expect(readFileSync(reader, 'utf8')).to.equal(before)
    } finally {
      closeSync(reader)
    }
    expect(rows()[2]).to.include({ taker_fee_bps: 30 })
    expect(existsSync(`${file}.new`)).to.equal(false)
  })

  it('leaves the file as it was when the new content cannot be written', async () => {
    mkdirSync(`${file}.new`)
    expect(await rejection(updateRow(file, 'B', { taker_fee_bps: '30' }))).to.be.instanceOf(Error)
    expect(rows()).to.deep.equal([spot, broken, other])
  })

  it('refuses a market that has no row, and a file that is no list, and writes nothing', async () => {
    const missing = await rejection(updateRow(file, 'X', { taker_fee_bps: '30' }))
    expect(missing).to.be.instanceOf(MarketFileError)
    expect((missing as Error).message).to.equal(`X is not in ${file}`)
    expect(rows()).to.deep.equal([spot, broken, other])
    writeFileSync(file, '{}')
    expect(await rejection(addRows(file, [other]))).to.be.instanceOf(MarketFileError)
    expect(readFileSync(file, 'utf8')).to.equal('{}')
  })

  it('adds rows at the end, which an open file reads as they stand then', async () => {
    const deployment = join(dir.path, 'deployment.json')
    writeFileSync(deployment, JSON.stringify(testAddresses))
    writeFileSync(file, JSON.stringify([spot]))
    const opened = openMarketFile({ MARKETS_FILE: file, DEPLOYMENT_FILE: deployment })
    await addRows(file, [other, broken])
    expect(rows()).to.deep.equal([spot, other, broken])
    expect(opened.markets.map(({ market }) => market)).to.deep.equal([spot.market])
    expect(opened.row('B')).to.include({ market: 'B', ordinal: 1 })
    expect(opened.refused().map(({ row }) => row)).to.deep.equal(['C'])
  })

  it('has no row while it cannot be read, and says why where its refused rows are asked for', () => {
    const deployment = join(dir.path, 'deployment.json')
    writeFileSync(deployment, JSON.stringify(testAddresses))
    writeFileSync(file, JSON.stringify([spot]))
    const opened = openMarketFile({ MARKETS_FILE: file, DEPLOYMENT_FILE: deployment })
    writeFileSync(file, '[{')
    expect(opened.row(opened.markets[0]?.market ?? '')).to.equal(undefined)
    expect(() => opened.refused()).to.throw(MarketFileError, 'cannot read')
    rmSync(file)
    expect(opened.row(opened.markets[0]?.market ?? '')).to.equal(undefined)
  })
})
