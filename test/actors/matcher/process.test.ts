import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { provideBundles } from '../../../devnet/bundle.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import {
  askPing,
  checkpointsStream,
  checkpointsSubject,
  commandsStream,
  feedStream,
} from '../../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from '../../../runtime/bus/bus.js'
import { listCheckpoints, type StoredCheckpoint } from '../../../runtime/bus/checkpoint-store.js'
import { registerMarkets } from '../../support/registered.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { testAddresses } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startIdleExecutor, type IdleExecutor } from '../../support/idle-executor.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { tempDir } from '../../support/temp-dir.js'
import { appendCommands, changesOf, placeOrder, stageMarket } from './stage.js'

const { market } = stageMarket
const main = inProject('bundle/actors/matcher/main.js')

describe('matchers as processes on a real bus', function () {
  before(provideBundles)
  let server: TestNatsServer
  let executor: IdleExecutor
  let bus: Bus
  const dir = tempDir()
  const deployment = join(dir.path, 'deployment.json')
  const children: ChildProcess[] = []

  beforeEach(async () => {
    writeFileSync(deployment, JSON.stringify(testAddresses))
    server = await startNatsServer()
    executor = await startIdleExecutor()
    bus = await connectNatsBus({ url: server.url, name: 'test' })
    await registerMarkets(bus, [stageMarket])
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await bus.close()
    await server.stop()
    await executor.stop()
  })
  after(() => dir.remove())

  /** A process, and everything it logged. */
  const run = (env: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, [main], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        MARKET: market,
        NATS_URL: server.url,
        DEPLOYMENT_FILE: deployment,
        EXECUTOR_URL: executor.url,
        EXECUTOR_SECRET: 's'.repeat(32),
        CHECKPOINT_COMMANDS: '20',
        ...env,
      },
    })
    children.push(child)
    let log = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text))
    // Then its log is whole; at 'exit' it need not be read yet.
    const exited = once(child, 'close').then(([code]) => code as number | null)
    return { child, exited, log: () => log }
  }
  const ping = async (name = `matcher-${market}`) => {
    try {
      return decodePingAnswer(await bus.ask(askPing(name), new Uint8Array(), 1_000))
    } catch (error) {
      if (error instanceof NoAnswer) return undefined
      throw error
    }
  }
  const untilReady = () => eventually(async () => (await ping())?.ready === true)
  const untilStandingBy = (fed: number) =>
    eventually(async () => {
      const answer = await ping(`matcher-${market}-standby`)
      expect(answer?.detail).to.equal('standing by')
      expect(answer?.positions.feed_seq).to.equal(fed)
    })
  let placed = 0
  const place = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      placed += 1
      await appendCommands(bus, [placeOrder({ orderId: `o${placed}`, side: 'buy' })])
    }
  }
  const untilShown = (count: number) =>
    eventually(async () => expect(await changesOf(bus)).to.have.length(count))
  const terms = async () =>
    (await bus.read(feedStream(market), 1, 10_000)).flatMap(
      ({ data }) => decodeBlock(data).leader?.term ?? [],
    )

  /** A newest checkpoint of which one bit is wrong. */
  const addDamagedCopy = async (whole: StoredCheckpoint | undefined) => {
    const { firstSeq = 1, trailerSeq = 0 } = whole ?? {}
    const messages = await bus.read(checkpointsStream(market), firstSeq, trailerSeq - firstSeq + 1)
    expect(messages).to.have.lengthOf.above(1)
    for (const [index, { data }] of messages.entries()) {
      const flipped = data.map((byte, at) => (index === 0 && at === 60 ? byte ^ 4 : byte))
      await bus.append(checkpointsSubject(market), flipped)
    }
  }

  it('ends a second one started by accident with a clear word, and the first goes on', async () => {
    run()
    await untilReady()
    const second = run()
    expect(await second.exited).to.equal(1)
    expect(second.log()).to.include(`leads matcher.${market} already; STANDBY=1 would follow it`)
    await place(3)
    await untilShown(3)
    expect(await terms()).to.deep.equal([1])
  })

  it('goes on from a checkpoint after SIGKILL, without the commands before and past a damaged one', async () => {
    const first = run()
    await untilReady()
    for (let round = 1; round <= 3; round += 1) {
      await place(20)
      await eventually(async () => {
        // A checkpoint is looked for with each message; one more command comes by itself after half a minute.
        if ((await listCheckpoints(bus, market)).length < round)
          await appendCommands(bus, [{ kind: 'Tick' }])
        expect(await listCheckpoints(bus, market)).to.have.length(round)
      })
    }
    first.child.kill('SIGKILL')
    await place(5)
    // As trimming leaves it once the commands are old enough.
    const [newest] = await listCheckpoints(bus, market)
    await bus.trim(commandsStream(market), (newest?.commandSeq ?? 0) + 1)
    await addDamagedCopy(newest)
    const again = run()
    await untilReady()
    await untilShown(65)
    expect(again.log()).to.include('its bytes are not what was written')
    expect(again.log()).to.include('state restored from a checkpoint')
    const seqs = (await changesOf(bus)).map(({ seq }) => seq)
    expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1))
    expect(await terms()).to.deep.equal([1, 2])
  })

  it('lets a standby take over after SIGKILL of the leader (OPE-045)', async () => {
    const leader = run({ STANDBY: '1' })
    await untilReady()
    run({ STANDBY: '1' })
    await place(3)
    await untilShown(3)
    await untilStandingBy(3)
    leader.child.kill('SIGKILL')
    await place(1)
    await untilShown(4)
    await untilReady()
    expect(await terms()).to.deep.equal([1, 2])
  })

  it('ends a leader that wakes after a standby took over, and its blocks with it (OPE-020)', async () => {
    const zombie = run()
    await untilReady()
    run({ STANDBY: '1' })
    await place(2)
    await untilShown(2)
    await untilStandingBy(2)
    zombie.child.kill('SIGSTOP')
    await place(3)
    await untilShown(5)
    zombie.child.kill('SIGCONT')
    expect(await zombie.exited).to.equal(1)
    expect(zombie.log()).to.match(/"type":"Fenced"/)
    await place(2)
    await untilShown(7)
    await untilReady()
    const seqs = (await changesOf(bus)).map(({ seq }) => seq)
    expect(seqs).to.deep.equal([1, 2, 3, 4, 5, 6, 7])
    expect(await terms()).to.deep.equal([1, 2])
  })
})
