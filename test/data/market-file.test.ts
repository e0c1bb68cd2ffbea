import { expect } from 'chai'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably, writeJsonDurably } from '../../data/durable-file.js'
import { provideMarketFile } from '../../data/market-file.js'
import { defaultMarketFile } from '../../data/markets.js'
import { tempDir } from '../support/temp-dir.js'

type Row = Readonly<Record<string, unknown>>

const shipped = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
const [spot = {}] = shipped

describe('a market file that a venue begins with', () => {
  let dir: ReturnType<typeof tempDir>
  let file: string
  beforeEach(() => {
    dir = tempDir()
    file = join(dir.path, 'markets.json')
  })
  afterEach(() => dir.remove())
  const rows = () => JSON.parse(readFileSync(file, 'utf8')) as Row[]

  it('has the rows that ship with the venue, or those of them that are named', async () => {
    await provideMarketFile(file)
    expect(rows()).to.deep.equal(shipped)
    const other = join(dir.path, 'one.json')
    await provideMarketFile(other, [String(spot['market']), 'unknown'])
    expect(JSON.parse(readFileSync(other, 'utf8'))).to.deep.equal([spot])
    const dated = join(dir.path, 'dated.json')
    const expiries = [Date.UTC(2028, 1, 29, 14) / 1_000, Date.UTC(2028, 2, 31, 14) / 1_000]
    await provideMarketFile(dated, ['cNGN-PERP'], expiries)
    const written = JSON.parse(readFileSync(dated, 'utf8')) as Row[]
    expect(written.map(({ market, ordinal, sub_id }) => [market, ordinal, sub_id])).to.deep.equal([
      ['cNGN-PERP', 1, '0'],
      ['USDC-cNGN-29FEB28', undefined, `${expiries[0]}`],
      ['USDC-cNGN-31MAR28', undefined, `${expiries[1]}`],
    ])
  })

  it('stays as it is where there is one', async () => {
    writeFileSync(file, '[]')
    await provideMarketFile(file)
    expect(rows()).to.deep.equal([])
  })
})

describe('a file that is written durably', () => {
  let dir: ReturnType<typeof tempDir>
  let file: string
  beforeEach(() => {
    dir = tempDir()
    file = join(dir.path, 'a.json')
  })
  afterEach(() => dir.remove())
  const modeOf = () => statSync(file).mode & 0o777

  it('has its new content, in text or in bytes, and leaves nothing beside it', async () => {
    await writeFileDurably(file, 'old and longer')
    await writeFileDurably(file, Buffer.from([1, 2]))
    expect(readFileSync(file)).to.deep.equal(Buffer.from([1, 2]))
    expect(existsSync(`${file}.new`)).to.equal(false)
    await writeJsonDurably(file, { a: [1] })
    expect(readFileSync(file, 'utf8')).to.equal('{\n  "a": [\n    1\n  ]\n}\n')
  })

  it('can be read by others, unless it is said who may', async () => {
    await writeFileDurably(file, 'a')
    expect(modeOf()).to.equal(0o644 & ~process.umask())
    await writeJsonDurably(file, {}, { mode: 0o600 })
    expect(modeOf()).to.equal(0o600)
  })

  it('is on the disk with its folder, neither of which stays open', async () => {
    const probe = await open(dir.path)
    const handles = Object.getPrototypeOf(probe) as FileHandle
    await probe.close()
    const sync = Object.getOwnPropertyDescriptor(handles, 'sync')
    const synced: string[] = []
    handles.sync = function (this: FileHandle) {
      synced.push(readlinkSync(`/proc/self/fd/${this.fd}`))
      return Promise.resolve()
    }
    const openFiles = () =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        const path = `/proc/self/fd/${fd}`
        return existsSync(path) ? [readlinkSync(path)] : []
      })
    try {
      await writeFileDurably(file, 'a')
    } finally {
      if (sync !== undefined) Object.defineProperty(handles, 'sync', sync)
    }
    const folder = realpathSync(dir.path)
    expect(synced).to.deep.equal([join(folder, 'a.json.new'), folder])
    expect(openFiles().filter((path) => path.startsWith(folder))).to.deep.equal([])
  })

  it('keeps its old content when it cannot be written', async () => {
    writeFileSync(file, 'old')
    mkdirSync(`${file}.new`)
    const failure: unknown = await writeFileDurably(file, 'new').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Error)
    expect(readFileSync(file, 'utf8')).to.equal('old')
  })
})
