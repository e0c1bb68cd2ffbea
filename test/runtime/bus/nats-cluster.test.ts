import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'nats'
import {
  AppendUnknown,
  BusMisconfigured,
  BusUnavailable,
  WrongLastSequence,
  type Bus,
  type BusMessage,
} from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { eventually } from '../../support/eventually.js'
import {
  startNatsCluster,
  type ClusterServer,
  type NatsCluster,
  type NatsClusterOptions,
} from '../../support/nats-cluster.js'
import { busContract } from './bus-contract.js'
import { claimsContract } from './claims-contract.js'
import { bytes, recorder, rejectionOf, run, textOf, textsOf } from './probes.js'
import { versionContract } from './version-contract.js'

/** A cluster for the tests of the describe block that calls this, with connections that end with it. */
function useCluster(options: NatsClusterOptions = {}) {
  let started: NatsCluster | undefined
  const buses: Bus[] = []
  const cluster = (): NatsCluster => {
    if (started === undefined) throw new Error('the cluster has not started')
    return started
  }
  before(async () => {
    started = await startNatsCluster(options)
  })
  after(async () => {
    for (const bus of buses) await bus.close()
    await started?.stop()
  })
  /** Servers are tried from the given one on. */
  const connectBus = async (
    first = 0,
    replicas = 3,
    onWarning: (message: string) => void = () => undefined,
  ): Promise<Bus> => {
    const { servers } = cluster()
    const bus = await connectNatsBus({
      url: [...servers.slice(first), ...servers.slice(0, first)].map(({ url }) => url).join(','),
      monitorUrls: servers.map(({ monitorUrl }) => monitorUrl),
      name: `bus-${first}`,
      replicas,
      onWarning,
    })
    buses.push(bus)
    return bus
  }
  return { cluster, connectBus }
}

describe('over a cluster of three NATS servers', function () {
  const { cluster, connectBus } = useCluster()

  const open = () => Promise.resolve({ connect: () => connectBus() })
  busContract('NATS cluster', open)
  claimsContract('NATS cluster', open)
  versionContract('NATS cluster', open)

  it('carries questions between processes at different servers', async () => {
    const asking = await connectBus(0)
    const answering = await connectBus(1)
    await answering.answer('ask.across', 'q', (data, replyTo) => answering.reply(replyTo, data))
    await eventually(async () => {
      const answer = await asking.ask('ask.across', bytes('hello'), 1_000)
      expect(textOf(answer)).to.equal('hello')
    })
  })

  it('refuses a stream that is stored on one server until ./venue bus-replicas 3', async () => {
    const single = await connectBus(0, 1)
    const spec = { stream: 'SINGLE', subject: 'single', description: '' }
    const claims = { bucket: 'single', keepMs: 60_000, description: '' }
    await single.declareStream(spec)
    await single.declareClaims(claims)
    for (const n of run(1, 20)) await single.append(spec.subject, bytes(`m${n}`))
    expect(await single.claimOnce(claims.bucket, 'key')).to.equal(true)
    const bus = await connectBus()
    const error = await rejectionOf(bus.declareStream(spec))
    expect(error).to.be.instanceOf(BusMisconfigured)
    expect(String(error)).to.contain('num_replicas is 1, not 3').and.to.contain('bus-replicas')
    for (const before of [1, 3]) {
      // Not synchronously: the relays between the servers are in this process.
      const { stdout } = await promisify(execFile)('./venue', ['bus-replicas', '3'], {
        cwd: inProject('.'),
        env: { PATH: process.env.PATH, NATS_URL: cluster().url },
      })
      expect(stdout).to.contain(before === 1 ? 'SINGLE: 1 to 3\n' : 'SINGLE: has 3\n')
    }
    await bus.declareStream(spec)
    await bus.declareClaims(claims)
    expect((await bus.read(spec.stream, 1, 100)).map(({ data }) => textOf(data))).to.deep.equal(
      run(1, 20).map((n) => `m${n}`),
    )
    expect(await bus.claimOnce(claims.bucket, 'key')).to.equal(false)
  })
})

describe('a new cluster of three NATS servers, one of which is late', function () {
  const { cluster, connectBus } = useCluster({ lastIsLate: true })

  it('is waited for by a process that starts, until the third server is there', async () => {
    const warned: string[] = []
    let connected = false
    const connecting = connectBus(0, 3, (message) => warned.push(message))
    void connecting.then(
      () => (connected = true),
      () => undefined,
    )
    await Promise.race([
      connecting,
      eventually(() => expect(warned.join('\n')).to.contain('elected no leader')),
    ])
    expect(connected).to.equal(false)
    await cluster().mend()
    const bus = await connecting
    await bus.declareStream({ stream: 'LATE', subject: 'late', description: '' })
    expect(await bus.append('late', bytes('one'))).to.equal(1)
  })
})

/** Longest pause of a stream when a server is lost. */
const RECOVERED_WITHIN_MS = 20_000
/** A writer without a message for this long ends the test. */
const GIVEN_UP_AFTER_MS = 60_000
const LOOKUP_PAUSE_MS = 200
const APPENDS = 12

/** A stream with its writer, which is at one server, and a follower at the next. */
interface Line {
  readonly stream: string
  readonly subject: string
  readonly writer: Bus
  readonly seen: ReturnType<typeof recorder>
}

describe('a cluster that loses one of three NATS servers', function () {
  const { cluster, connectBus } = useCluster()
  afterEach(() => cluster().mend())

  /** The place of the server that leads the stream. */
  async function leaderOf(stream: string): Promise<number> {
    const connection = await connect({ servers: cluster().url.split(',') })
    try {
      const manager = await connection.jetstreamManager()
      // A stream that has no leader yet gives no answer.
      let place = -1
      await eventually(async () => {
        const { cluster: found } = await manager.streams.info(stream)
        place = cluster().servers.findIndex(({ name }) => name === found?.leader)
        expect(place).to.be.at.least(0)
      }, RECOVERED_WITHIN_MS)
      return place
    } finally {
      await connection.close()
    }
  }

  /** A server that was lost before has all of the streams again: without it, the loss of another leaves no majority. */
  async function untilWhole(streams: readonly string[]): Promise<void> {
    const connection = await connect({ servers: cluster().url.split(',') })
    try {
      const manager = await connection.jetstreamManager()
      for (const stream of streams) {
        await eventually(async () => {
          const { cluster: found } = await manager.streams.info(stream)
          const copies = found?.replicas ?? []
          expect(
            copies.filter(({ current, offline }) => current && offline !== true),
          ).to.have.length(2)
        }, RECOVERED_WITHIN_MS)
      }
    } finally {
      await connection.close()
    }
  }

  let count = 0
  /** Streams by the place of their leader: more of one server, and at least one of another. */
  async function declareStreams(): Promise<{ led: string[]; others: string[]; victim: number }> {
    const bus = await connectBus()
    const places: string[][] = cluster().servers.map(() => [])
    for (;;) {
      count += 1
      const stream = `LOSS_${count}`
      await bus.declareStream({ stream, subject: `loss.${count}`, description: '' })
      places[await leaderOf(stream)]?.push(stream)
      const led = places.reduce((most, each) => (each.length > most.length ? each : most))
      const others = places.filter((each) => each !== led).flat()
      if (led.length > 1 && others.length > 0) return { led, others, victim: places.indexOf(led) }
    }
  }

  async function openLine(stream: string, place: number): Promise<Line> {
    const follower = await connectBus((place + 1) % 3)
    const seen = recorder(stream, 1)
    await follower.follow(seen.options)
    const subject = stream.toLowerCase().replace('_', '.')
    return { stream, subject, writer: await connectBus(place), seen }
  }

  /**
   * Appends one message with a fence and looks up what is not acknowledged; the milliseconds until it is stored. A repeat may
   * meet its own first attempt, which the stream's new leader has stored meanwhile.
   */
  async function appendOne({ writer, stream, subject }: Line, last: number): Promise<number> {
    const startedAt = performance.now()
    for (;;) {
      const append = writer.append(subject, bytes(`m${last + 1}`), { expectedLastSeq: last })
      const seq = await append.catch((error: unknown) => {
        if (error instanceof AppendUnknown || error instanceof WrongLastSequence) return undefined
        throw error
      })
      const stored = seq ?? (await writer.lastMessage(stream).catch(() => undefined))?.seq ?? last
      const tookMs = performance.now() - startedAt
      expect(stored).to.be.oneOf([last, last + 1])
      expect(tookMs).to.be.lessThan(GIVEN_UP_AFTER_MS)
      if (stored > last) return tookMs
      await delay(LOOKUP_PAUSE_MS)
    }
  }

  /** The longest time of one append after the loss. */
  async function appendRest(line: Line): Promise<number> {
    let longestMs = 0
    for (const last of run(APPENDS / 2, APPENDS / 2)) {
      longestMs = Math.max(longestMs, await appendOne(line, last))
    }
    return longestMs
  }

  /** A process that starts at the lost server declares its streams and reads them next. */
  async function declareWhileLost({ writer, stream, subject }: Line): Promise<void> {
    await eventually(async () => {
      const error = await rejectionOf(writer.streamState(stream))
      expect(error).to.be.instanceOf(BusUnavailable)
    })
    await writer.declareStream({ stream, subject, description: '' })
    await writer.streamState(stream)
  }

  /** A question of a process that knows no stream, from the lost server to another one; resolves with how to ask it again. */
  async function askAcross(victim: number): Promise<() => Promise<void>> {
    const asking = await connectBus(victim)
    const answering = await connectBus((victim + 1) % 3)
    const subject = `ask.across.${victim}`
    await answering.answer(subject, 'q', (data, replyTo) => answering.reply(replyTo, data))
    const ask = () =>
      eventually(async () => {
        expect(textOf(await asking.ask(subject, bytes('hello'), 1_000))).to.equal('hello')
      }, RECOVERED_WITHIN_MS)
    await ask()
    return ask
  }

  const losses = {
    'is killed': (server: ClusterServer) => server.kill(),
    'loses its routes to the others': (server: ClusterServer) => server.isolate(),
  }
  for (const [what, lose] of Object.entries(losses)) {
    it(`loses and doubles nothing when one ${what}`, async () => {
      const { led, others, victim } = await declareStreams()
      const lines = {
        'its streams': await openLine(led[0] as string, (victim + 1) % 3),
        'its streams and clients': await openLine(led[1] as string, victim),
        'its clients': await openLine(others[0] as string, victim),
      }
      for (const line of Object.values(lines)) {
        for (const last of run(0, APPENDS / 2)) await appendOne(line, last)
      }
      const askAgain = await askAcross(victim)
      await untilWhole(Object.values(lines).map(({ stream }) => stream))
      await lose(cluster().servers[victim] as ClusterServer)
      const declared = declareWhileLost(lines['its streams and clients'])
      const pauses = await Promise.all(Object.values(lines).map(appendRest))
      await declared
      await askAgain()
      const texts = run(1, APPENDS).map((n) => `m${n}`)
      for (const { stream, writer, seen } of Object.values(lines)) {
        await eventually(() => seen.seqs.length === APPENDS, RECOVERED_WITHIN_MS)
        expect([seen.seqs, seen.texts, seen.errors]).to.deep.equal([run(1, APPENDS), texts, []])
        let messages: readonly BusMessage[] = []
        await eventually(async () => (messages = await writer.read(stream, 1, APPENDS + 1)))
        expect(textsOf(messages)).to.deep.equal(texts)
      }
      const shown = Object.keys(lines).map((each, n) => `${each} ${Math.round(pauses[n] ?? 0)} ms`)
      console.log(`      one ${what}, longest pauses: ${shown.join(', ')}`)
      expect(Math.max(...pauses)).to.be.lessThan(RECOVERED_WITHIN_MS)
    })
  }
})
