import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openOpener, openedFile } from '../../actors/operator/backup/sealed-files.js'
import { readManifest } from '../../actors/operator/backup/manifest.js'
import { runBackup } from '../../actors/operator/backup/run-backup.js'
import { readBackupConfig } from '../../actors/operator/config.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import type { OrderRecord } from '../../client/index.js'
import { runAudit } from '../support/audit.js'
import { inheritedEnvironment } from '../support/config.js'
import { readPage } from '../support/page-commands.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'
import { connectToVenueBus } from '../support/venue-bus.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { addLongStream, positionsOf } from './stage/long-stream.js'
import { slowServer } from './stage/slow-disk.js'
import { createTrader, type Trader } from './stage/trader.js'

/** What a wiped machine still has: the local chain with its deployment, and the keys, which no backup holds. */
const KEPT = /^(chain|devnet|keys|role|deployment)/
const page = readPage('docs/BACKUP.md')
const operating = readPage('docs/OPERATING.md')
/** Keys of the launcher's roles and of the development accounts. */
const KEY_TEXT = /0x[0-9a-fA-F]{64}/g

/** Of a stream that is restored beside those of the venue; a million by hand: `RESTORED_MESSAGES=1000000`. */
const LONG_MESSAGES = Number(process.env.RESTORED_MESSAGES ?? 20_000)
const SLOW_SYNC_MS = 5

describe('backup and restore', function () {
  const dir = tempDir()
  const identityFile = join(dir.path, 'identity.txt')
  let recipient = ''
  before(async () => {
    const identity = await generateIdentity()
    writeFileSync(identityFile, `# test\n${identity}\n`)
    recipient = await identityToRecipient(identity)
  })
  after(() => dir.remove())

  /** A line of a page, as a shell runs it beside `./venue up` in this directory. */
  async function run(line: string, dataDir: string, more = {}) {
    const env = { ...inheritedEnvironment(), ...more, DATA_DIR: dataDir }
    const child = spawn('sh', ['-c', line], { cwd: inProject('.'), env })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }

  function wipe(dataDir: string): void {
    for (const name of readdirSync(dataDir))
      if (!KEPT.test(name)) rmSync(join(dataDir, name), { recursive: true })
  }

  /** Of `./venue up`, the page has neither bus nor node named. */
  const restoring = (dataDir: string, backup: string): string =>
    page
      .block('./venue restore', {
        'NATS_URL=nats://127.0.0.1:4322 RPC_URL=http://node:8545': '',
        '/var/lib/venue': dataDir,
        '/backup/2026-03-01T1200': backup,
        'backup-key.txt': identityFile,
      })
      .trimEnd()

  const auditOf = ({ dataDir }: TestVenue) =>
    runAudit({ ...inheritedEnvironment(), DATA_DIR: dataDir })

  /** Places pairs that match, and orders that rest, until it is stopped; resolves with what was answered. */
  function load(maker: Trader, taker: Trader) {
    const answered: OrderRecord[] = []
    let stopped = false
    const work = async () => {
      while (!stopped) {
        const terms = { amount: '5', price: '0.00070' }
        answered.push(await maker.place({ side: 'sell', ...terms }))
        answered.push(await taker.place({ side: 'buy', ...terms }))
        answered.push(await maker.place({ side: 'sell', amount: '5', price: '0.00090' }))
      }
    }
    const working = work()
    return {
      answered,
      stop: async () => {
        stopped = true
        await working
        for (const { order_id: id, limit_price: price } of answered)
          if (!price.startsWith('0.0009')) await maker.until(id, 'filled')
      },
    }
  }

  it('continues with nothing lost, a long stream and a slow disk included, where the streams prove complete, and holds no key (OPE-024, OPE-046)', async () => {
    const venue = await startVenue()
    const { dataDir } = venue
    const traders = [createTrader(venue.devnet, 0), createTrader(venue.devnet, 1)] as const
    const running = load(...traders)
    await eventually(() => running.answered.length >= 9)
    const backup = join(dir.path, 'complete')
    const before = running.answered.length
    await runBackup(
      await readBackupConfig({ DATA_DIR: dataDir }),
      { dir: backup, key: { recipients: [recipient] } },
      async (kind, name) => {
        // Databases were captured under load. What is sent to the chain after the journals would be a gap.
        if (name === 'intake.db') await eventually(() => running.answered.length >= before + 6)
        if (kind === 'stream' && name.startsWith('CHECKPOINTS_')) await running.stop()
      },
    )
    expect(await venue.stop({ keepData: true })).to.equal(0)

    const secrets = readdirSync(dataDir)
      .filter((name) => name === 'keys.json' || name === 'devnet.json')
      .flatMap((name) => readFileSync(join(dataDir, name), 'utf8').match(KEY_TEXT) ?? [])
    expect(secrets.length).to.be.greaterThan(5)
    await expectWithout(backup, secrets)

    const stored = await addLongStream(backup, recipient, LONG_MESSAGES)
    const slow = slowServer(dir.path, SLOW_SYNC_MS)
    wipe(dataDir)
    const begunAt = performance.now()
    const restored = await run(`${restoring(dataDir, backup)} --nothing-since`, dataDir, {
      NATS_SERVER_BIN: slow.binary,
    })
    const seconds = (performance.now() - begunAt) / 1_000
    const syncs = slow.delayed()
    const took = `${LONG_MESSAGES} messages, ${syncs} delayed syncs, ${seconds.toFixed(1)} s`
    if (LONG_MESSAGES > 20_000) process.stdout.write(`${restored.output}${took}\n`)
    expect(restored.code, restored.output).to.equal(0)
    expect(syncs, took)
      .to.be.above(0)
      .and.below(LONG_MESSAGES / 100)
    expect(restored.output).to.match(/the bus is synced: \d+ files/)
    const again = await startVenue({ dataDir })
    try {
      const bus = await connectToVenueBus(again.dataDir, 'operator')
      // Of a million, a deep comparison would take minutes.
      const found = await positionsOf(bus)
      const isMoved = ({ seq, storedAtMs }: (typeof found)[number], at: number): boolean =>
        seq !== stored[at]?.seq || storedAtMs !== stored[at].storedAtMs
      expect([found.length, found.find(isMoved)]).to.deep.equal([stored.length, undefined])
      await bus.close()
      const maker = createTrader(again.devnet, 0)
      const taker = createTrader(again.devnet, 1)
      for (const { order_id: id, limit_price: price } of running.answered)
        await maker.until(id, price.startsWith('0.0009') ? 'active' : 'filled')
      const terms = { amount: '5', price: '0.00070' }
      await maker.place({ side: 'sell', ...terms })
      const { order_id: id } = await taker.place({ side: 'buy', ...terms })
      await taker.until(id, 'filled')
      const { code, output } = await auditOf(again)
      expect(code, output).to.equal(0)
    } finally {
      await again.stop()
    }
  })

  it('never pretends where the streams are older than the chain: cancels, jumps, holds, and names the gap (OPE-025)', async () => {
    const venue = await startVenue()
    const { dataDir } = venue
    const maker = createTrader(venue.devnet, 0)
    const taker = createTrader(venue.devnet, 1)
    const resting = await maker.place({ side: 'sell', amount: '10', price: '0.00090' })
    const quiet = await maker.place({ side: 'sell', amount: '7', price: '0.00095' })
    const running = load(maker, taker)
    await eventually(() => running.answered.length >= 6)
    const backup = join(dir.path, 'older')
    const [, taking = ''] = page
      .block('./venue backup', {
        '/var/lib/venue': dataDir,
        'http://node:8545': venue.devnet.rpc_url,
        '/backup/$(date +%FT%H%M)': backup,
        'age1…': recipient,
      })
      .split(/^(?=DATA_DIR)/m)
    const taken = await run(taking, dataDir)
    expect(taken.code, taken.output).to.equal(0)
    await eventually(() => running.answered.length >= 30, 60_000)
    await running.stop()
    // Settled after the backup: a part of an order that the backup knows, by one that it does not.
    const lost = await taker.sign({ side: 'buy', amount: '4', price: '0.00090' })
    await taker.send(lost)
    await taker.until(lost.order_id, 'filled')
    const looking = operating.span('./venue inspect', { '<id>': lost.order_id })
    const seen = await run(looking, dataDir)
    expect(seen.output).to.include('filled')
    const before = await balancesOf(maker, taker)
    const seqBefore = await seqOf(venue)
    expect(await venue.stop({ keepData: true })).to.equal(0)

    wipe(dataDir)
    const restored = await run(restoring(dataDir, backup), dataDir)
    expect(restored.code, restored.output).to.equal(0)
    expect(restored.output).to.match(/restored with a gap: what was answered after 20.* is lost/)
    expect(restored.output).to.match(/[1-9]\d* fills on the chain that the log of cNGN-USDC does/)
    // The nonces that the chain has used are in the stream too: without them the executor would not start.
    expect(restored.output).to.match(/has sent \d+ transactions, executor\.db knows \d+/)
    for (const name of ['executor.db', 'deposit-transactions.db', 'withdrawal-transactions.db'])
      for (const end of ['', '-wal', '-shm'])
        rmSync(join(dataDir, `${name}${end}`), { force: true })
    const again = await startVenue({ dataDir })
    try {
      const ann = createTrader(again.devnet, 0)
      const ben = createTrader(again.devnet, 1)
      const found = await ann.until(resting.order_id, 'cancelled')
      expect(found).to.include({ cancel_reason: 'restored', filled_amount: '4' })
      expect(await ann.until(quiet.order_id, 'cancelled')).to.include({
        cancel_reason: 'restored',
        filled_amount: '0',
      })
      expect(await seqOf(again)).to.be.greaterThan(Math.max(1_000_000_000, seqBefore))
      expect(await standingOf(again)).to.include({
        trading_status: 'held',
        trading_status_reason: 'restored',
      })
      // The nonce that the chain has used is not taken a second time.
      const repeated = await ben.send(lost).catch((error: unknown) => error)
      expect(repeated).to.have.property('status', 409)
      const terms = { amount: '5', price: '0.00070' }
      const ask = await ann.place({ side: 'sell', ...terms })
      const { order_id: bid } = await ben.place({ side: 'buy', ...terms })
      expect((await ann.until(ask.order_id, 'active')).status).to.equal('active')
      expect(await balancesOf(ann, ben)).to.deep.equal(before)

      const accepting = page.span('./venue market accept-gap', { '<market>': 'cNGN-USDC' })
      const accepted = await run(accepting, dataDir)
      expect(accepted.code, accepted.output).to.equal(0)
      await ben.until(bid, 'filled')
      const { code, output } = await run(page.span('./venue audit'), dataDir)
      expect(code, output).to.equal(0)
      expect(output).to.match(/[1-9]\d* of matches that a restore has lost/)
    } finally {
      await again.stop()
    }
  })

  const balancesOf = (...traders: readonly Trader[]) =>
    Promise.all(traders.map((trader) => trader.balances()))

  const seqOf = async (venue: TestVenue): Promise<number> =>
    Number((await standingOf(venue)).head_seq)

  async function standingOf({ gatewayUrl }: TestVenue): Promise<Readonly<Record<string, unknown>>> {
    const answer = await fetch(`${gatewayUrl}/v1/health`)
    const { markets } = (await answer.json()) as {
      readonly markets: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    }
    return markets['cNGN-USDC'] ?? {}
  }

  /** No secret is in any part, as text or as bytes. */
  async function expectWithout(backup: string, secrets: readonly string[]): Promise<void> {
    const opener = await openOpener({ identityFile }, backup)
    const { parts } = await readManifest(backup)
    expect(parts.map(({ name }) => name)).to.include.members([
      ...['history.db', 'intake.db', 'executor.db', 'restored-deployment.json', 'MARKETS'],
      ...['COMMANDS_cNGN-USDC', 'FEED_cNGN-USDC', 'TRANSFERS'],
      ...['JOURNAL_executor', 'JOURNAL_deposit-submitter', 'JOURNAL_withdrawal-submitter'],
    ])
    for (const part of parts) {
      const chunks: Uint8Array[] = []
      for await (const chunk of openedFile(opener, backup, part)) chunks.push(chunk)
      const content = Buffer.concat(chunks)
      for (const secret of secrets) {
        expect(content.includes(secret.slice(2)), part.name).to.equal(false)
        expect(content.includes(Buffer.from(secret.slice(2), 'hex')), part.name).to.equal(false)
      }
    }
  }
})
