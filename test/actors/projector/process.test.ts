import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { provideBundles } from '../../../devnet/bundle.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing, feedStream, feedSubject } from '../../../bus-schemas/subjects.js'
import type { Block } from '../../../core/model/change.js'
import { HISTORY_MIGRATIONS, historyPath } from '../../../data/history/project.js'
import { openReadModel, ReadModelAbsent } from '../../../data/history/read-model.js'
import { openDatabase } from '../../../data/open.js'
import { NoAnswer, type Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { allRows, openHistory, streamed } from '../../support/history.js'
import { someBlocks } from '../../support/market-feed.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { registerMarkets } from '../../support/registered.js'
import { tempDir } from '../../support/temp-dir.js'

const SPOT = { market: 'cNGN-USDC', ordinal: 0 }
const main = inProject('bundle/actors/projector/main.js')

describe('the projector as a process on a real bus', function () {
  before(provideBundles)
  let server: TestNatsServer
  let bus: Bus
  const dir = tempDir()
  const database = historyPath(dir.path)
  const children: ChildProcess[] = []

  before(async () => {
    server = await startNatsServer()
    bus = await connectNatsBus({ url: server.url, name: 'test' })
    const stream = feedStream(SPOT.market)
    await bus.declareStream({ stream, subject: feedSubject(SPOT.market), description: 'feed' })
    await registerMarkets(bus, [aMarket()])
  })
  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await bus.close()
    await server.stop()
    dir.remove()
  })

  const run = (settings: NodeJS.ProcessEnv = {}): ChildProcess => {
    const child = spawn(process.execPath, [main], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        NATS_URL: server.url,
        DATA_DIR: dir.path,
        LOG_LEVEL: 'error',
        ...settings,
      },
    })
    children.push(child)
    return child
  }
  const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
    const exited = once(child, 'exit')
    child.kill(signal)
    return (await exited)[0] as number | null
  }
  const publish = async (blocks: readonly Block[]) => {
    for (const block of blocks) await bus.append(feedSubject(SPOT.market), encodeBlock(block))
  }
  const projectedSeq = (): number => {
    try {
      const reads = openReadModel(database)
      const seq = reads.projectedSeq(SPOT.market)
      reads.close()
      return seq
    } catch (error) {
      if (error instanceof ReadModelAbsent) return -1
      throw error
    }
  }
  /** Undefined while no process answers. */
  const ping = async () => {
    try {
      return decodePingAnswer(await bus.ask(askPing('projector'), new Uint8Array(), 2000))
    } catch (error) {
      if (error instanceof NoAnswer) return undefined
      throw error
    }
  }
  const lastSeqOf = (blocks: readonly Block[]) => blocks.flatMap(({ changes }) => changes).length
  const rows = () => {
    const db = openDatabase({
      path: database,
      migrations: HISTORY_MIGRATIONS,
      synchronous: 'NORMAL',
      readonly: true,
    })
    try {
      return allRows(db)
    } finally {
      db.close()
    }
  }

  it('loses and doubles nothing when it is killed, and makes the same rows again from nothing', async () => {
    const blocks = someBlocks(SPOT, 120)
    const expected = openHistory([SPOT])
    expected.projection.applyBatch(streamed(blocks))
    const wanted = allRows(expected.db)
    expected.remove()

    for (const [from, to] of [
      [0, 50],
      [50, 90],
    ] as const) {
      const child = run()
      await publish(blocks.slice(from, to))
      await eventually(() => projectedSeq() > lastSeqOf(blocks.slice(0, from)))
      await end(child, 'SIGKILL')
    }
    await publish(blocks.slice(90))
    const child = run()
    await eventually(() => projectedSeq() === lastSeqOf(blocks))
    expect(rows()).to.deep.equal(wanted)

    await eventually(async () => {
      const answer = await ping()
      return answer?.ready === true && answer.positions['cNGN-USDC stream_seq'] === blocks.length
    })
    expect(await end(child, 'SIGTERM')).to.equal(0)

    for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true })
    const rebuilding = run()
    await eventually(() => projectedSeq() === lastSeqOf(blocks))
    expect(rows()).to.deep.equal(wanted)
    expect(await end(rebuilding, 'SIGTERM')).to.equal(0)
  })

  it('measures a market that is added while it runs', async () => {
    const child = run({ METRICS_DIR: join(dir.path, 'metrics') })
    await eventually(async () => (await ping())?.ready === true)
    await registerMarkets(bus, [aMarket({ market: 'ADDED', ordinal: 1, aliases: [], subId: 1n })])
    await eventually(async () => {
      const target = readFileSync(join(dir.path, 'metrics', 'projector.json'), 'utf8')
      const [{ targets }] = JSON.parse(target) as [{ targets: [string] }]
      const text = await (await fetch(`http://${targets[0]}/metrics`)).text()
      return text.includes('venue_follower_seq{follower="history",market="ADDED"}')
    })
    expect(await end(child, 'SIGTERM')).to.equal(0)
  })

  it('does not start without its settings, and names them', async () => {
    const child = spawn(process.execPath, [main], { stdio: ['ignore', 'ignore', 'pipe'], env: {} })
    children.push(child)
    let said = ''
    child.stderr.on('data', (chunk) => (said += String(chunk)))
    const [code] = (await once(child, 'close')) as [number]
    expect(code).to.equal(78)
    expect(said).to.contain('NATS_URL').and.contain('DATA_DIR')
  })
})
