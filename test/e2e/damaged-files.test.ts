import { expect } from 'chai'
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createRestClient } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { runAudit } from '../support/audit.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { DATABASES, databasesIn } from './stage/databases.js'
import { createTrader, SPOT } from './stage/trader.js'

/** Files that hold what no stream has: only an operator may put them away (docs/DATABASE.md). */
const KEPT = new Set(['intake.db', 'deposits.db', 'withdrawals.db'])
const WITHIN_MS = 60_000

describe('a database that is damaged', function () {
  let venue: TestVenue
  before(async () => {
    venue = await startVenue()
    await trade()
  })
  after(() => venue?.stop())

  async function trade(): Promise<void> {
    const terms = { amount: '5', price: '0.00070' }
    await createTrader(venue.devnet, 0).place({ side: 'sell', ...terms })
    const taker = createTrader(venue.devnet, 1)
    const { order_id: id } = await taker.place({ side: 'buy', ...terms })
    await taker.until(id, 'filled')
  }
  const pathOf = (name: string) => join(venue.dataDir, name)
  const logOf = (process: string) =>
    readFileSync(join(venue.dataDir, 'logs', `${process}.log`), 'utf8')

  /** Spoils a file while the processes that have it open do nothing, and ends these; the launcher starts them again. */
  async function spoil(name: string): Promise<readonly string[]> {
    const owners = DATABASES[name] ?? []
    for (const owner of owners) await venue.kill(owner, 'SIGSTOP')
    const file = openSync(pathOf(name), 'r+')
    writeSync(file, Buffer.alloc(4_096, 'no database'), 0, 4_096, 0)
    closeSync(file)
    for (const ending of ['-wal', '-shm']) rmSync(pathOf(`${name}${ending}`), { force: true })
    await Promise.all(owners.map((owner) => venue.kill(owner, 'SIGKILL')))
    return owners
  }

  it('is one of those that are tried here', () => {
    expect(databasesIn(venue.dataDir).toSorted()).to.deep.equal(Object.keys(DATABASES).toSorted())
  })

  for (const name of Object.keys(DATABASES))
    if (KEPT.has(name))
      it(`ends its process with 78 and the cure, and all goes on once it is moved away: ${name}`, async () => {
        const [owner = ''] = await spoil(name)
        await eventually(() => {
          expect(logOf(owner)).to.include(`${pathOf(name)} is damaged`)
          expect(logOf(owner)).to.include('move it away with -wal and -shm')
          expect(venue.output()).to.include(`${owner} ended with code 78`)
        }, WITHIN_MS)
        renameSync(pathOf(name), pathOf(`${name}.kept`))
        await eventually(() => existsSync(pathOf(name)), WITHIN_MS)
        await venue.untilReady()
        await trade()
      })
    else
      it(`is set aside and made anew: ${name}`, async () => {
        const [owner = ''] = await spoil(name)
        await eventually(() => {
          expect(logOf(owner)).to.include(`${pathOf(name)} was damaged`)
          expect(existsSync(pathOf(`${name}.damaged`))).to.equal(true)
        }, WITHIN_MS)
        await venue.untilReady()
        await trade()
      })

  it('has lost no trade, and log, databases and chain agree', async () => {
    const { trades } = await createRestClient(venue.gatewayUrl).trades(SPOT)
    expect(trades).to.have.length(1 + Object.keys(DATABASES).length)
    const { code, output } = await runAudit({ PATH: process.env.PATH, DATA_DIR: venue.dataDir })
    expect(output).to.not.match(/^failed/m)
    expect(code).to.equal(0)
  })
})
