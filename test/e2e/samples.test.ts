import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BLOCK_VERSION } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { VenueRefused, type TradeRecord } from '../../client/index.js'
import { writeCompiledProcfile } from '../../bench/compiled-procfile.js'
import { ENGINE_VERSION } from '../../core/engine/engine-version.js'
import { runAudit } from '../support/audit.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'
import { DATABASES, databasesIn, deleteWhileDown, trailsOf } from './stage/databases.js'
import { startVenue, VenueNotReady, type TestVenue } from '../support/venue.js'
import { recordSample } from './stage/record-sample.js'
import {
  readAnswers,
  readManifest,
  readTokens,
  restoreFiles,
  restoreStreams,
  samples,
  SAMPLES,
  withStore,
  type Manifest,
} from './stage/sample.js'
import { createTrader, SPOT } from './stage/trader.js'

/** Replaces modules of the compiled files; a bundle has none to replace. */
const NEXT_RELEASE = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('./stage/next-release/register.js', import.meta.url))}`,
}

const STARTED = 'is what this release starts on, with the recorded answers and a clean audit'

/** Everything recorded is there unchanged; a later release may answer more fields. */
function expectHolds(found: unknown, recorded: unknown, path = 'answers'): void {
  if (typeof recorded !== 'object' || recorded === null) {
    expect(found, path).to.equal(recorded)
    return
  }
  expect(found, path).to.be.an(Array.isArray(recorded) ? 'array' : 'object')
  if (Array.isArray(recorded)) expect(found, path).to.have.length(recorded.length)
  for (const [key, value] of Object.entries(recorded))
    expectHolds((found as Record<string, unknown>)[key], value, `${path}.${key}`)
}

/** One trade with an order of the sample, and a cancel; returns the cancelled order's reason. */
async function tradeOn({ devnet }: TestVenue): Promise<string | undefined> {
  const ann = createTrader(devnet, 0)
  const bob = createTrader(devnet, 1)
  const taker = await ann.place({ side: 'sell', amount: '5', price: '0.00064' })
  await ann.until(taker.order_id, 'filled')
  const { nonce, order_id } = await bob.place({ side: 'buy', amount: '5', price: '0.0005' })
  await bob.cancel({ nonce })
  return (await bob.until(order_id, 'cancelled')).cancel_reason
}

async function expectClean(venue: TestVenue, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const ports = JSON.parse(readFileSync(join(venue.dataDir, 'ports.json'), 'utf8')) as {
    nats: number
  }
  const from = env === NEXT_RELEASE ? 'dist' : 'bundle'
  const environment = {
    ...inheritedEnvironment(),
    NATS_URL: `nats://127.0.0.1:${ports.nats}`,
    RPC_URL: venue.devnet.rpc_url,
    DATA_DIR: venue.dataDir,
    ...env,
  }
  const { code, output } = await runAudit(environment, from)
  expect(code, output).to.equal(0)
  expect(output).to.match(/^ok +\S+ replay: [1-9]/m)
  expect(output).not.to.match(/failed|skipped/)
}

/** Records without what the journal of their transactions does not hold: times of the record, and the permit's transaction. */
const asTheJournalHas = (records: unknown): unknown[] =>
  (records as readonly Readonly<Record<string, unknown>>[]).map((record) =>
    Object.fromEntries(Object.entries(record).filter(([field]) => !OF_RECORDS.has(field))),
  )
const OF_RECORDS = new Set(['created_at', 'updated_at', 'permit_tx_hash'])

/** Deletes each database, one after the other; each time every answer is the same again, and what was taken stays taken. */
async function expectRebuilt(venue: TestVenue, manifest: Manifest): Promise<void> {
  expect(databasesIn(venue.dataDir)).to.have.members(Object.keys(DATABASES))
  const ann = createTrader(venue.devnet, 0)
  const taken = await ann.sign({ side: 'buy', amount: '5', price: '0.0005' })
  await ann.send(taken)
  await ann.cancel(taken)
  const another = await ann.sign({
    side: 'buy',
    amount: '6',
    price: '0.0005',
    orderId: taken.order_id,
  })
  const read = async () => {
    const answers = await readAnswers(venue.devnet, manifest)
    const hashes = (answers.trades as TradeRecord[]).map(({ tx_hash: hash = '' }) => hash)
    const subjects = [...new Set(hashes), ...manifest.deposits, ...manifest.withdrawals]
    const balances = await readTokens(venue.devnet)
    const { deposits, withdrawals, ...others } = answers
    const transfers = [deposits, withdrawals].map(asTheJournalHas)
    return { ...others, transfers, balances, trails: trailsOf(venue, subjects) }
  }
  const before = await read()
  for (const name of Object.keys(DATABASES)) {
    await deleteWhileDown(venue, name)
    await eventually(async () => expect(await read(), name).to.deep.equal(before))
    await eventually(async () => {
      const answer: unknown = await ann.send(another).catch((error: unknown) => error)
      expect(answer, name).to.be.instanceOf(VenueRefused)
      expect(answer, name).to.have.nested.property('body.code', 'duplicate_order_id')
    })
  }
}

const UNRELEASED = 'of this tree, recorded now, since no release was cut'

describe('recorded data directories', function () {
  const recorded = samples()
  for (const name of recorded.length === 0 ? [UNRELEASED] : recorded) {
    const directory = tempDir()
    const made = tempDir()
    const folder = name === UNRELEASED ? join(made.path, 'sample') : join(SAMPLES, name)
    const dataDir = directory.path
    const procfiles = tempDir()
    let venue: TestVenue | undefined
    const start = async (env: Record<string, string> = {}) => {
      venue = await startVenue({ dataDir, blockTime: 1, env })
      return venue
    }

    const stop = async () => {
      await venue?.stop({ keepData: true })
      venue = undefined
    }

    describe(name, () => {
      before(() => (name === UNRELEASED ? recordSample(folder) : undefined))
      // The second test goes on with the venue of the first.
      afterEach(async function () {
        if (this.currentTest?.title !== STARTED) await stop()
      })
      after(async () => {
        await stop()
        directory.remove()
        made.remove()
        procfiles.remove()
      })

      it(STARTED, async () => {
        restoreFiles(folder, dataDir)
        await withStore(dataDir, (bus) => restoreStreams(bus, folder))
        const running = await start()
        const answers: unknown = JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8'))
        expectHolds(await readAnswers(running.devnet, readManifest(folder)), answers)
        await expectClean(running)
        expect(await tradeOn(running)).to.equal('unspecified')
        await expectClean(running)
      })

      it('has each of its databases made again when it was deleted, and answers as before', async () => {
        const running = venue
        if (running === undefined) throw new Error('the venue of the test before does not run')
        await expectRebuilt(running, readManifest(folder))
        expect(await tradeOn(running)).to.equal('unspecified')
        await expectClean(running)
      })

      it('is read by a release with other messages, whose step changes when it is told to', async () => {
        const PROCFILE = await writeCompiledProcfile(procfiles.path)
        const ENGINE = { ENGINE_VERSION: `${ENGINE_VERSION + 1}` }
        const running = await start({ ...NEXT_RELEASE, ...ENGINE, PROCFILE })
        await eventually(async () => (await tradeOn(running)) === 'UNSPECIFIED', 60_000)
        await expectClean(running, NEXT_RELEASE)
      })

      it('is refused by this release from then on, in one sentence', async () => {
        const refusal = await start().then(
          () => 'started',
          (error: unknown) => (error instanceof VenueNotReady ? error.message : String(error)),
        )
        expect(refusal).to.contain(
          `the stream ${feedStream(SPOT)} holds messages of version ${BLOCK_VERSION + 1}, this build reads up to version ${BLOCK_VERSION}`,
        )
        expect(refusal).to.match(/^venue: [\w-]+ has ended at once \(start failed: the stream /m)
      })
    })
  }
})
