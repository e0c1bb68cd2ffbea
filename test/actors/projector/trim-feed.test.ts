import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect } from 'chai'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runBackup } from '../../../actors/operator/backup/run-backup.js'
import { runRestore } from '../../../actors/operator/backup/run-restore.js'
import { readBackupConfig, readRestoreConfig } from '../../../actors/operator/config.js'
import { archiveAndTrim } from '../../../actors/projector/keep-archive.js'
import { openMarketFeed } from '../../../actors/ws-fanout/market-feed.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { commandsStream, feedStream } from '../../../bus-schemas/subjects.js'
import { withArchive } from '../../../data/archived-bus.js'
import { createKeptOrders } from '../../../data/history/kept-orders.js'
import { HISTORY_FILE, historyPath } from '../../../data/history/project.js'
import { loadDeployedMarkets } from '../../../data/markets.js'
import { openDatabase } from '../../../data/open.js'
import type { Bus, BusMessage } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { listCheckpoints } from '../../../runtime/bus/checkpoint-store.js'
import { runAudit } from '../../support/audit.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'
import {
  openPocketVenue,
  type PocketProcess,
  type PocketVenue,
} from '../../support/pocket-venue.js'
import { startNatsServer } from '../../support/nats-server.js'
import { tempDir } from '../../support/temp-dir.js'
import { appendCommands } from '../matcher/stage.js'

const MARKET = 'cNGN-USDC'
const FEED = feedStream(MARKET)

describe('a trimmed feed', function () {
  const archive = tempDir()
  let venue: PocketVenue
  before(async () => {
    venue = await openPocketVenue({ CHECKPOINT_COMMANDS: '2', FEED_ARCHIVE_DIR: archive.path })
    for (const it of ['intake', 'matcher', 'executor', 'projector'] as const) await venue.start(it)
  })
  after(async () => {
    await venue?.stop()
    archive.remove()
  })

  const firstSeq = async () => (await venue.bus.streamState(FEED)).firstSeq
  const markets = () =>
    loadDeployedMarkets({ DEPLOYMENT_FILE: venue.env.DEPLOYMENT_FILE ?? '' }).markets
  const spot = () => {
    const market = markets().find((each) => each.market === MARKET)
    if (market === undefined) throw new Error('there is no spot market')
    return market
  }

  /** Archives everything that the rules allow. */
  async function archiveNow(): Promise<void> {
    const db = openDatabase({ path: historyPath(venue.dataDir), ...HISTORY_FILE, readonly: true })
    const settings = {
      dir: archive.path,
      keepMs: 0,
      keepChanges: 0,
      leastMessages: 1,
      segmentMessages: 2,
      reviewEveryMs: 0,
    }
    // The matcher of a venue keeps a million changes.
    const trim = (belowSeq: number) => venue.bus.trim(FEED, belowSeq)
    const history = createKeptOrders(db)
    const options = { bus: venue.bus, history, settings, log: silentLog, trim }
    // The bus's clock may be ahead of this one by a moment.
    await archiveAndTrim({ ...options, nowMs: () => Date.now() + 1_000 }, spot())
    db.close()
  }
  const restart = async (process: PocketProcess, between: () => void = () => undefined) => {
    venue.signal(process, 'SIGTERM')
    await venue.ended(process)
    between()
    await venue.start(process)
  }
  /** Until all kept checkpoints are behind what the feed holds now. */
  const untilCheckpointed = async () => {
    const { lastSeq } = await venue.bus.streamState(commandsStream(MARKET))
    await eventually(async () => {
      await appendCommands(venue.bus, [{ kind: 'Tick' }])
      const oldest = (await listCheckpoints(venue.bus, MARKET))[2]
      expect(oldest?.commandSeq ?? 0).to.be.above(lastSeq)
    }, 90_000)
  }
  const settled = async (orderId: string) =>
    eventually(async () =>
      (await withArchiveChanges()).some(
        (change) => change.orderId === orderId && change.kind === 'OrderFilled',
      ),
    )
  const allMessages = async (bus: Bus): Promise<BusMessage[]> => {
    const { lastSeq } = await bus.streamState(FEED)
    const messages: BusMessage[] = []
    while (messages.length < lastSeq)
      messages.push(...(await bus.read(FEED, messages.length + 1, 100)))
    return messages
  }
  const withArchiveChanges = async () =>
    (await allMessages(withArchive(venue.bus, archive.path))).flatMap(
      ({ data }) => decodeBlock(data).changes,
    )

  it('is not trimmed before the intake has stored the claims, nor beyond a match without an outcome', async () => {
    const { alice, bob, carol } = venue.world
    const sell = await venue.order(bob, 'sell', '100')
    const buy = await venue.order(alice, 'buy', '40')
    for (const body of [sell, buy]) await venue.place(body)
    await settled(buy.order_id)
    await untilCheckpointed()
    await archiveNow()
    expect(await firstSeq()).to.equal(1)

    venue.signal('executor', 'SIGSTOP')
    const waiting = await venue.order(carol, 'buy', '20')
    await venue.place(waiting)
    const proposedAt = (await venue.bus.streamState(FEED)).lastSeq
    const later = await venue.order(carol, 'sell', '5')
    await venue.place(later)
    await venue.cancel(later)
    await restart('intake')
    await untilCheckpointed()
    await archiveNow()
    expect(await firstSeq())
      .to.be.above(1)
      .and.below(proposedAt + 1)
    venue.signal('executor', 'SIGCONT')
    await settled(waiting.order_id)
    await restart('intake')
    await untilCheckpointed()
    await archiveNow()
    expect(await firstSeq()).to.be.above(proposedAt)
  })

  it('and its archive rebuild history.db and intake.db, in which ids and nonces stay taken (ORD-017)', async () => {
    const [oldest] = (await listCheckpoints(venue.bus, MARKET)).slice(-1)
    await venue.bus.trim(commandsStream(MARKET), oldest?.commandSeq ?? 1)
    const { alice } = venue.world
    const again = await venue.order(alice, 'buy', '1')
    await venue.place(again)
    const remove = (name: string) => () => {
      for (const suffix of ['', '-wal', '-shm'])
        rmSync(join(venue.dataDir, `${name}${suffix}`), { force: true })
      expect(existsSync(join(venue.dataDir, name))).to.equal(false)
    }
    await restart('projector', remove('history.db'))
    await restart('intake', remove('intake.db'))
    await restart('matcher')
    const placed = (await withArchiveChanges()).filter(({ kind }) => kind === 'OrderPlaced')
    expect(placed.length).to.equal(5)
    for (const change of placed) {
      if (change.kind !== 'OrderPlaced') continue
      const { orderId } = change.order
      const body = await venue.order(alice, 'buy', '2')
      const sameId = await venue.place({ ...body, order_id: orderId })
      expect(sameId).to.have.nested.property('refusal.code', 'duplicate_order_id')
    }
    await venue.cancel(again)
    const { lastSeq } = await venue.bus.streamState(FEED)
    await eventually(() => {
      const db = openDatabase({ path: historyPath(venue.dataDir), ...HISTORY_FILE, readonly: true })
      const { streamSeq } = createKeptOrders(db).position(MARKET)
      db.close()
      expect(streamSeq).to.be.at.least(lastSeq)
    })
    const audited = await runAudit(venue.env)
    expect(audited.output).to.not.match(/^failed/m)
    expect(audited.code).to.equal(0)
    const alone = await runAudit({ ...venue.env, FEED_ARCHIVE_DIR: '' })
    expect(alone.output).to.match(/failed .*the feed begins with message/s)
  })

  it('is whole again after a backup and a restore, which take its archive along', async () => {
    const place = tempDir()
    const server = await startNatsServer()
    try {
      const identity = await generateIdentity()
      const identityFile = join(place.path, 'identity')
      writeFileSync(identityFile, identity)
      const key = { recipients: [await identityToRecipient(identity)] }
      const from: NodeJS.ProcessEnv = venue.env
      const nothing = () => undefined
      const without = await runBackup(
        await readBackupConfig({ ...from, FEED_ARCHIVE_DIR: '' }),
        { dir: join(place.path, 'without'), key },
        nothing,
      )
      expect(without.at(-1)).to.match(/^WARNING: .*FEED_cNGN-USDC \(from message \d+ on\)$/)
      const dir = join(place.path, 'backup')
      const said = await runBackup(await readBackupConfig(from), { dir, key }, nothing)
      expect(said.join()).to.not.include('WARNING')

      const to = {
        NATS_URL: server.url,
        RPC_URL: from.RPC_URL,
        DATA_DIR: join(place.path, 'data'),
        FEED_ARCHIVE_DIR: join(place.path, 'archive'),
      }
      const restore = (env: NodeJS.ProcessEnv) =>
        runRestore(
          readRestoreConfig(env),
          { dir, key: { identityFile }, nothingSince: true },
          nothing,
        )
      const refused = await restore({ ...to, FEED_ARCHIVE_DIR: '' }).catch(String)
      expect(refused).to.match(/BadBackup: .* set FEED_ARCHIVE_DIR/)
      expect(existsSync(to.DATA_DIR)).to.equal(false)
      await restore(to)
      const restored = await connectNatsBus({ url: server.url, name: 'test' })
      const dataOf = (messages: readonly BusMessage[]) =>
        messages.map(({ seq, data }) => `${seq} ${Buffer.from(data).toString()}`)
      expect((await restored.streamState(FEED)).firstSeq).to.be.above(1)
      expect(dataOf(await allMessages(withArchive(restored, to.FEED_ARCHIVE_DIR)))).to.deep.equal(
        dataOf(await allMessages(withArchive(venue.bus, archive.path))),
      )
      await restored.close()
    } finally {
      await server.stop()
      place.remove()
    }
  })

  it('is folded by the sockets from its archive on, and not without', async () => {
    const failures: Error[] = []
    const open = (bus: typeof venue.bus) =>
      openMarketFeed({ bus, market: spot(), onFailure: (error) => failures.push(error) })
    const feed = await open(withArchive(venue.bus, archive.path))
    await eventually(() => feed.isCaughtUp())
    expect(feed.headSeq()).to.equal((await withArchiveChanges()).at(-1)?.seq)
    await feed.stop()
    expect(failures).to.deep.equal([])
    const alone = await open(venue.bus)
    await eventually(() => expect(failures.map(String).join()).to.match(/MessagesGone/))
    await alone.stop()
  })
})
