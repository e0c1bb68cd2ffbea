import { expect } from 'chai'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUS_USERS, type BusUser } from '../../../bus-schemas/permissions.js'
import {
  checkpointsStream,
  checkpointsSubject,
  commandsStream,
  commandsSubject,
  commandsSubjects,
  feedStream,
  feedSubject,
} from '../../../bus-schemas/subjects.js'
import { startNatsServer, type NatsServer } from '../../../devnet/launcher/nats-server.js'
import { AppendRefused, NotPermitted, type Bus } from '../../../runtime/bus/bus.js'
import { BusAccessRefused, readAccess, seedFile } from '../../../runtime/bus/nats-access.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { authorizationBlock, provideSeeds } from '../../../runtime/bus/nats-users.js'
import { newSeed } from '../../../runtime/bus/nkeys.js'
import { natsServerBinary } from '../../support/config.js'
import { freePort } from '../../support/free-port.js'
import { tempDir } from '../../support/temp-dir.js'
import { connectPlainly } from '../../support/venue-bus.js'
import { bytes } from './probes.js'

const M = 'M'
const STREAMS = {
  [commandsStream(M)]: commandsSubjects(M),
  [feedStream(M)]: [feedSubject(M)],
  [checkpointsStream(M)]: [checkpointsSubject(M)],
}
const SUBJECTS: Readonly<Record<string, BusUser>> = {
  [feedSubject(M)]: 'matcher',
  [checkpointsSubject(M)]: 'matcher',
  [commandsSubject(M, 'matcher')]: 'matcher',
  [commandsSubject(M, 'order-intake')]: 'order-intake',
  [commandsSubject(M, 'chain-reader')]: 'chain-reader',
  [commandsSubject(M)]: 'operator',
}

describe('the users of the bus', function () {
  const dir = tempDir()
  const seeds = join(dir.path, 'seeds')
  let server: NatsServer
  const buses = new Map<BusUser, Bus>()
  const busOf = async (user: BusUser): Promise<Bus> => {
    const known = buses.get(user)
    if (known !== undefined) return known
    const bus = await connectNatsBus({ url: server.url, credentials: seeds, name: user, user })
    buses.set(user, bus)
    return bus
  }
  const lengths = async () =>
    Promise.all(
      Object.keys(STREAMS).map(
        async (stream) => (await (await busOf('auditor')).streamState(stream)).lastSeq,
      ),
    )
  before(async () => {
    server = await startNatsServer({
      binary: natsServerBinary(),
      dir: dir.path,
      port: await freePort(),
      authorization: authorizationBlock(await provideSeeds(seeds)),
    })
    const matcher = await busOf('matcher')
    for (const [stream, subject] of Object.entries(STREAMS))
      await matcher.declareStream({ stream, subject, description: 'test' })
  })
  after(async () => {
    for (const bus of buses.values()) await bus.close()
    await server?.child.stop(5_000)
    dir.remove()
  })

  it('are the only ones that connect', async () => {
    const { url } = server
    const failure = async (connecting: Promise<unknown>) =>
      connecting.then(
        () => 'connected',
        (error: unknown) => String(error),
      )
    expect(await failure(connectPlainly({ url }))).to.match(/authorization violation/i)
    const foreign = join(dir.path, 'foreign.nk')
    writeFileSync(foreign, newSeed(), { mode: 0o600 })
    expect(await failure(connectPlainly({ url, credentials: foreign }))).to.match(
      /authorization violation/i,
    )
  })

  it('have longer to sign than the server gives by itself', async () => {
    const answer = await fetch(`${server.monitorUrl}/varz`)
    expect(await answer.json()).to.include({ auth_timeout: 30 })
  })

  it('append what is theirs; what is another’s is refused, and nothing is stored', async () => {
    const before = await lengths()
    const allowed: string[] = []
    for (const user of BUS_USERS)
      for (const [subject, owner] of Object.entries(SUBJECTS)) {
        const bus = await busOf(user)
        const outcome = await bus.append(subject, bytes(user)).catch((error: unknown) => error)
        if (user === owner) expect(outcome, `${user} ${subject}`).to.be.a('number')
        else expect(outcome, `${user} ${subject}`).to.be.instanceOf(AppendRefused)
        if (user === owner) allowed.push(subject)
      }
    expect(allowed).to.have.length(6)
    const after = await lengths()
    expect(after.map((last, at) => last - (before[at] ?? 0))).to.deep.equal([4, 1, 1])
    const log = await (await busOf('auditor')).read(commandsStream(M), 1, 10)
    expect(log.map(({ subject }) => subject).sort()).to.deep.equal(
      [undefined, 'chain-reader', 'matcher', 'order-intake'].map((writer) =>
        commandsSubject(M, writer),
      ),
    )
  })

  it('change no stream that another keeps', async () => {
    const gateway = await busOf('gateway')
    const matcher = await busOf('matcher')
    const another = { stream: 'FEED_N', subject: feedSubject('N'), description: 'test' }
    for (const change of [
      () => gateway.trim(feedStream(M), 2),
      () => gateway.raiseStreamVersion(feedStream(M), 9),
      () => gateway.declareStream(another),
      () => matcher.trim('TRANSFERS', 2),
    ])
      expect(await change().catch((error: unknown) => error)).to.be.instanceOf(NotPermitted)
    expect((await gateway.streamState(feedStream(M))).firstSeq).to.equal(1)
  })

  it('do not ask the server to create what it would refuse them', async () => {
    const warnings: string[] = []
    const bus = await connectNatsBus({
      url: server.url,
      credentials: seeds,
      name: 'chain-reader',
      user: 'chain-reader',
      onWarning: (message) => warnings.push(message),
    })
    const absent = { stream: commandsStream('N'), subject: commandsSubjects('N') }
    const refused: unknown = await bus
      .declareStream({ ...absent, description: 'test' })
      .catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(NotPermitted)
    // A refusal of the server would have come before this answer.
    await bus.streamState(commandsStream(M))
    await bus.close()
    expect(warnings.filter((warning) => warning.includes('permit'))).to.deep.equal([])
  })

  it('hear neither the answers nor the questions of others', async () => {
    const gateway = await connectPlainly({ url: server.url, credentials: seeds }, 'gateway')
    const heard: string[] = []
    for (const subject of ['_INBOX.>', '_INBOX.matcher.>', 'ask.order.place', '>', 'feed.*'])
      gateway.subscribe(subject, { callback: (error) => heard.push(error?.code ?? 'heard') })
    await gateway.flush()
    await (await busOf('matcher')).append(feedSubject(M), bytes('x'))
    await gateway.flush()
    expect(heard).to.deep.equal(Array.from({ length: 5 }, () => 'PERMISSIONS_VIOLATION'))
    await gateway.close()
  })

  it('have seeds that no other user of the machine can read, and that stay', async () => {
    const file = join(seeds, seedFile('gateway'))
    expect(statSync(file).mode & 0o777).to.equal(0o600)
    const keys = await provideSeeds(seeds)
    expect(await provideSeeds(seeds)).to.deep.equal(keys)
    chmodSync(file, 0o640)
    const place = { url: server.url, credentials: seeds }
    expect(() => readAccess(place, 'gateway')).to.throw(BusAccessRefused, `chmod 600 ${file}`)
    chmodSync(file, 0o600)
    expect(() => readAccess({ url: server.url, credentials: '/nowhere' }, 'gateway')).to.throw(
      BusAccessRefused,
      '/nowhere cannot be read',
    )
    const blank = join(dir.path, 'blank.nk')
    writeFileSync(blank, '\n', { mode: 0o600 })
    expect(() => readAccess({ url: server.url, credentials: blank }, 'gateway')).to.throw(
      BusAccessRefused,
      `${blank} holds no seed`,
    )
  })
})
