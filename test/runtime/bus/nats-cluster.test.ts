import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'nats'
import {
  AppendUnknown,
  BusMisconfigured,
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
} from '../../support/nats-cluster.js'
import { busContract } from './bus-contract.js'
import { claimsContract } from './claims-contract.js'
import { bytes, recorder, rejectionOf, run, textOf } from './probes.js'
import { versionContract } from './version-contract.js'

/** Longest pause of a stream when a server is lost. */
const RECOVERED_WITHIN_MS = 20_000
const LOOKUP_PAUSE_MS = 200

describe('over a cluster of three NATS servers', function () {
  this.timeout(120_000)
  let cluster: NatsCluster
  const buses: Bus[] = []
  const warnings: string[] = []

  /** Servers are tried from the given one on. */
  async function connectBus(first = 0, replicas = 3): Promise<Bus> {
    const urls = cluster.servers.map(({ url }) => url)
    const bus = await connectNatsBus({
      url: [...urls.slice(first), ...urls.slice(0, first)].join(','),
      monitorUrls: cluster.servers.map(({ monitorUrl }) => monitorUrl),
      ...{ name: `bus-${first}`, replicas },
      onWarning: (message) => warnings.push(message),
    })
    buses.push(bus)
    return bus
  }

  before(async () => {
    cluster = await startNatsCluster()
  })
  after(async () => {
    for (const bus of buses) await bus.close()
    await cluster.stop()
  })

  const open = () => Promise.resolve({ connect: () => connectBus() })
  busContract('NATS cluster', open)
  claimsContract('NATS cluster', open)
  versionContract('NATS cluster', open)

  it('carries questions between processes at different servers', async () => {
    const [asking, answering] = [await connectBus(0), await connectBus(1)]
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
        env: { PATH: process.env.PATH, NATS_URL: cluster.url },
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

  /** Appends with a fence while something happens, and looks up each append without an acknowledgement. */
  async function appendFenced(
    { stream, subject }: { readonly stream: string; readonly subject: string },
    total: number,
    at: (last: number) => void,
  ): Promise<number> {
    const bus = await connectBus()
    let [last, longestMs, appendedAt] = [0, 0, performance.now()]
    while (last < total) {
      at(last)
      const append = bus.append(subject, bytes(`m${last + 1}`), { expectedLastSeq: last })
      const seq = await append.catch((error: unknown) => {
        // A repeat may meet its own first attempt, which the stream's new leader has stored meanwhile.
        if (error instanceof AppendUnknown || error instanceof WrongLastSequence) return undefined
        throw error
      })
      const stored = seq ?? (await bus.lastMessage(stream).catch(() => undefined))?.seq ?? last
      expect(stored).to.be.oneOf([last, last + 1])
      if (stored === last) {
        await delay(LOOKUP_PAUSE_MS)
        continue
      }
      last = stored
      longestMs = Math.max(longestMs, performance.now() - appendedAt)
      appendedAt = performance.now()
    }
    let messages: readonly BusMessage[] = []
    await eventually(async () => (messages = await bus.read(stream, 1, total + 1)))
    expect(messages.map(({ data }) => textOf(data))).to.deep.equal(
      run(1, total).map((n) => `m${n}`),
    )
    return longestMs
  }

  async function isHealthy({ monitorUrl }: ClusterServer): Promise<boolean> {
    const { ok, body } = await fetch(new URL('/healthz', monitorUrl))
    await body?.cancel()
    return ok
  }

  /** The server that leads the stream. */
  async function leaderOf(stream: string): Promise<ClusterServer> {
    const connection = await connect({ servers: cluster.url.split(',') })
    try {
      const { cluster: found } = await (await connection.jetstreamManager()).streams.info(stream)
      const leader = cluster.servers.find(({ name }) => name === found?.leader)
      if (leader === undefined) throw new Error(`${stream} has no leader`)
      return leader
    } finally {
      await connection.close()
    }
  }

  const losses = {
    'is killed': {
      lose: (server: ClusterServer) => void server.kill(),
      mend: (server: ClusterServer) => server.restart(),
    },
    'loses its routes to the others': {
      lose: (server: ClusterServer) => server.isolate(),
      mend: (server: ClusterServer) => Promise.resolve(server.heal()),
    },
  }
  let count = 0
  for (const [what, { lose, mend }] of Object.entries(losses)) {
    for (const whose of ['the leader of the stream', 'the server of the writer'] as const) {
      it(`loses and doubles nothing when ${whose} ${what}`, async () => {
        count += 1
        const spec = { stream: `LOSS_${count}`, subject: `loss.${count}`, description: '' }
        const follower = await connectBus(1)
        await follower.declareStream(spec)
        const seen = recorder(spec.stream, 1)
        await follower.follow(seen.options)
        const first = cluster.servers[0] as ClusterServer
        const victim = whose === 'the server of the writer' ? first : await leaderOf(spec.stream)
        const total = 60
        try {
          const longestMs = await appendFenced(spec, total, (last) => {
            if (last === total / 2) lose(victim)
          })
          await eventually(() => seen.seqs.length === total, RECOVERED_WITHIN_MS)
          expect(seen.seqs).to.deep.equal(run(1, total))
          expect(seen.errors).to.deep.equal([])
          console.log(`      ${victim.name} ${what}: longest pause ${Math.round(longestMs)} ms`)
          expect(longestMs).to.be.lessThan(RECOVERED_WITHIN_MS)
        } finally {
          await mend(victim)
          await eventually(() => isHealthy(victim))
        }
      })
    }
  }
})
