import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../support/eventually.js'
import { runAudit } from '../support/audit.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { endlessSteps, startLoad } from './stage/load.js'
import { expectReconciled, readAllBalances } from './stage/reconcile.js'
import { expectAlert, scrape, type Sample } from './stage/metrics.js'
import { mountSmallDisk, type SmallDisk } from './stage/small-disk.js'
import { createTrader } from './stage/trader.js'

const MIB = 1024 * 1024
const DISK_BYTES = 512 * MIB
const RESERVE_BYTES = 64 * MIB
const FULL_FOR_MS = 10_000
const PER_SECOND = 30
const TERMS = { amount: '5', price: '0.00070' }

const mounted = mountSmallDisk(DISK_BYTES)

// Without a body the runner lists it as pending.
if ('why' in mounted) describe('a full disk', () => void it(`not tried: ${mounted.why}`))
else
  describe('a full disk', function () {
    const shown: Shown = { roomy: [], nearlyFull: [] }
    describe('of a venue', () => withDisk(mounted, shown))
    describe('and its alert', () => firesFor(shown))
  })

/** What the order intake, which watches the disk, has shown of it. */
interface Shown {
  roomy: Sample[]
  nearlyFull: Sample[]
}

/** Runs after the venue has shown both. */
function firesFor(shown: Shown): void {
  it('VenueDiskFull fires for databases and for streams, and not before', () => {
    expectAlert('VenueDiskFull', shown.roomy, [])
    const free = shown.nearlyFull.filter(({ series }) => series.startsWith('venue_disk_free'))
    expect(free.map(({ series }) => series)).to.have.members([
      ...['venue_disk_free_bytes{place="data"}', 'venue_disk_free_bytes{place="bus"}'],
    ])
    expectAlert('VenueDiskFull', shown.nearlyFull, free)
  })
}

function withDisk(disk: SmallDisk, shown: Shown): void {
  let venue: TestVenue
  beforeEach(async () => {
    venue = await startVenue({
      dataDir: mkdtempSync(join(disk.path, 'venue-')),
      env: { DISK_RESERVE_BYTES: `${RESERVE_BYTES}`, DISK_RESERVE_PERMILLE: '0' },
    })
  })
  afterEach(() => venue?.stop())
  after(() => disk.remove())

  const send = async (path: string, body: unknown) => {
    const answer = await fetch(new URL(path, venue.gatewayUrl), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { code, results } = (await answer.json()) as { code?: string; results?: unknown[] }
    return { status: answer.status, retry: answer.headers.get('retry-after'), code, results }
  }

  it('that is nearly full takes no new order and goes on with cancels and settlements (OPE-027)', async () => {
    const maker = createTrader(venue.devnet, 0)
    const taker = createTrader(venue.devnet, 1)
    const resting = await maker.place({ side: 'sell', ...TERMS, price: '0.00090' })
    await venue.kill('executor', 'SIGSTOP')
    await maker.place({ side: 'sell', ...TERMS })
    const matching = await taker.place({ side: 'buy', ...TERMS })
    shown.roomy = await scrape(venue.dataDir, 'order-intake')
    await disk.fillTo(RESERVE_BYTES / 2)

    const body = await maker.sign({ side: 'sell', ...TERMS, price: '0.00091' })
    const refused = { status: 500, retry: '1', code: 'overloaded', results: undefined }
    await eventually(async () => {
      const next = await maker.sign({ side: 'sell', ...TERMS, price: '0.00092' })
      expect(await send('/v1/orders', next)).to.deep.equal(refused)
    })
    shown.nearlyFull = await scrape(venue.dataDir, 'order-intake')
    expect(await send('/v1/orders', body)).to.deep.equal(refused)
    const replacement = { ...body, replaces_nonce: resting.nonce }
    expect(await send('/v1/orders/replace', replacement)).to.deep.equal(refused)
    const batch = await send('/v1/orders/batch', { orders: [body] })
    expect(batch).to.deep.include({ status: 200, retry: '1' })
    expect(batch.results).to.have.nested.property('[0].code', 'overloaded')
    const unknown = await fetch(new URL(`/v1/orders/${body.order_id}`, venue.gatewayUrl))
    expect(unknown.status).to.equal(404)
    await unknown.body?.cancel()

    expect((await maker.cancel(resting)).status).to.equal('cancelled')
    await venue.kill('executor', 'SIGCONT')
    await taker.until(matching.order_id, 'filled')

    await disk.giveBack()
    await eventually(async () => expect((await send('/v1/orders', body)).status).to.equal(200))
    await maker.cancel({ nonce: body.nonce })
  })

  it('that is full under load loses and doubles nothing once it has space again', async () => {
    const traders = [0, 1, 2, 3].map((name) => createTrader(venue.devnet, name))
    const before = await readAllBalances(venue)
    const steps = endlessSteps(traders)
    const load = startLoad({ gatewayUrl: venue.gatewayUrl, steps, perSecond: PER_SECOND })
    try {
      await eventually(() => load.sent() >= 3 * PER_SECOND)
      const fullUntil = performance.now() + FULL_FOR_MS
      while (performance.now() < fullUntil) {
        await disk.fillTo(0)
        await delay(20)
      }
      const sent = load.sent()
      await disk.giveBack()
      await eventually(() => load.sent() >= sent + 3 * PER_SECOND, 120_000)
      await venue.untilReady()
    } finally {
      load.stop()
    }
    await expectReconciled(venue, await load.answered(), { before, quietWithinMs: 120_000 })
    const { code, output } = await runAudit({ PATH: process.env.PATH, DATA_DIR: venue.dataDir })
    expect(output).to.not.match(/^failed/m)
    expect(code).to.equal(0)
  })
}
