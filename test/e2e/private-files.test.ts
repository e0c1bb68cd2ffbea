import { expect } from 'chai'
import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/temp-dir.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { createTrader } from './stage/trader.js'

const OTHERS = 0o077

/** Everything below a directory that another user may use in any way. */
function openToOthers(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.isSymbolicLink()) return []
  const own = (found.mode & OTHERS) === 0 ? [] : [`${path} ${(found.mode & 0o777).toString(8)}`]
  if (!found.isDirectory()) return own
  return [...own, ...readdirSync(path).flatMap((name) => openToOthers(join(path, name)))]
}

describe('DATA_DIR of a venue that is started with an umask of 000', function () {
  const dir = tempDir()
  const dataDir = join(dir.path, 'data')
  let venue: TestVenue
  before(async () => {
    const before = process.umask(0)
    try {
      // What an earlier release has left.
      mkdirSync(join(dataDir, 'logs'), { recursive: true })
      writeFileSync(join(dataDir, 'venue.lock'), '')
      writeFileSync(join(dataDir, 'logs', 'gateway.log'), 'old\n')
      venue = await startVenue({ dataDir })
    } finally {
      process.umask(before)
    }
  })
  after(async () => {
    await venue?.stop({ keepData: true })
    rmSync(dataDir, { recursive: true, force: true })
    dir.remove()
  })

  it('is for its user alone, with every file that the venue makes, those beside databases too (OPE-048)', async () => {
    const trader = createTrader(venue.devnet, 0)
    await trader.place({ side: 'buy', amount: '5', price: '0.0001' })
    const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    for (const kind of [
      /history\.db-wal$/,
      /history\.db-shm$/,
      /intake\.db-wal$/,
      /\.log$/,
      /\.blk$/,
    ]) {
      expect(
        names.some((name) => kind.test(name)),
        `${kind}`,
      ).to.equal(true)
    }
    expect(openToOthers(dataDir)).to.deep.equal([])
  })
})
