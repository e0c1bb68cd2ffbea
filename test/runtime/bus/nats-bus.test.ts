import { expect } from 'chai'
import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import {
  AppendRefused,
  AppendUnknown,
  BusMisconfigured,
  BusUnavailable,
  NoAnswer,
  WrongLastSequence,
  type Bus,
} from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { eventually } from '../../support/eventually.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { busContract } from './bus-contract.js'
import { claimsContract } from './claims-contract.js'
import { bytes, recorder, rejectionOf, run, textOf } from './probes.js'
import { versionContract } from './version-contract.js'

const APPEND_TIMEOUT_MS = 2_000
const IMPATIENT_MS = 300
const PATIENT_MS = 15_000

describe('over NATS', () => {
  let server: TestNatsServer
  let admin: NatsConnection
  const buses: Bus[] = []
  const connectBus = async (name = 'test', timeoutMs = APPEND_TIMEOUT_MS): Promise<Bus> => {
    const bus = await connectNatsBus({ url: server.url, name, timeoutMs })
    buses.push(bus)
    return bus
  }

  /** A connection and what it warned of since it stands. */
  const connectTalking = async () => {
    const warnings: string[] = []
    const onWarning = (message: string): unknown => warnings.push(message)
    const bus = await connectNatsBus({ url: server.url, name: 'talking', onWarning })
    // Without credentials and a monitoring address.
    expect(warnings.splice(0)).to.have.length(2)
    buses.push(bus)
    return { bus, warnings }
  }
  const manage = async (): Promise<JetStreamManager> => {
    // A connection of its own, because the tests before may have killed the server under an older one.
    await admin.close()
    admin = await connect({ servers: server.url })
    return admin.jetstreamManager()
  }

  before(async () => {
    server = await startNatsServer()
    admin = await connect({ servers: server.url })
  })
  after(async () => {
    for (const bus of buses) await bus.close()
    await admin.close()
    await server.stop()
  })

  const open = () =>
    Promise.resolve({
      connect: () => connectBus(),
    })
  busContract('NATS', open)
  claimsContract('NATS', open)
  versionContract('NATS', open)

  describe('a server that is killed and started again', () => {
    let bus: Bus
    let streams = 0
    let spec = { stream: '', subject: '', description: '' }
    beforeEach(async () => {
      streams += 1
      spec = { stream: `CRASH_${streams}`, subject: `crash.${streams}`, description: '' }
      bus = await connectBus()
      await bus.declareStream(spec)
    })
    afterEach(() => bus.close())

    it('keeps every acknowledged message and gives a follower each once', async function () {
      const follower = await connectBus('follower')
      const seen = recorder(spec.stream, 1)
      await follower.follow(seen.options)
      const acked = new Map<number, string>()
      const writing = { on: true }
      const writer = async (): Promise<void> => {
        for (let n = 0; writing.on; n += 1) {
          const text = `m${n}`
          const seq = await bus.append(spec.subject, bytes(text)).catch(ignoreUnknown)
          if (seq !== undefined) acked.set(seq, text)
        }
      }
      const written = writer()
      for (const round of run(1, 3)) {
        const before = acked.size
        await eventually(() => acked.size >= before + 100)
        await server.kill()
        await eventually(() => !bus.isConnected())
        await server.restart()
        await eventually(() => acked.size >= before + 120)
        expect(round).to.be.greaterThan(0)
      }
      writing.on = false
      await written
      const { lastSeq } = await bus.streamState(spec.stream)
      await eventually(() => seen.seqs.length >= lastSeq)
      await follower.close()
      expect(seen.errors).to.deep.equal([])
      expect(seen.seqs).to.deep.equal(run(1, lastSeq))
      for (const [seq, text] of acked) expect(seen.texts[seq - 1]).to.equal(text)
    })

    it('leaves a fenced writer one position per message, whatever became of its acknowledgements', async function () {
      const total = 300
      const killAt = [60, 180]
      let last = 0
      while (last < total) {
        const text = `m${last + 1}`
        const outcome = bus.append(spec.subject, bytes(text), { expectedLastSeq: last })
        if (killAt[0] === last) {
          killAt.shift()
          await server.kill()
          await server.restart()
        }
        const seq = await outcome.catch(ignoreUnknown)
        if (seq !== undefined) {
          last = seq
          continue
        }
        const stored = await eventualLast(bus, spec.stream)
        if (stored?.seq === last + 1) {
          expect(textOf(stored.data)).to.equal(text)
          last += 1
        } else expect(stored?.seq ?? 0).to.equal(last)
      }
      const messages = await bus.read(spec.stream, 1, total + 1)
      expect(messages.map(({ data }) => textOf(data))).to.deep.equal(
        run(1, total).map((n) => `m${n}`),
      )
    })

    it('goes on following while nothing is written, and hears what comes later', async function () {
      await bus.append(spec.subject, bytes('a'))
      const seen = recorder(spec.stream, 1)
      await bus.follow(seen.options)
      await eventually(() => seen.seqs.length === 1)
      await server.kill()
      await server.restart()
      await eventually(() => bus.isConnected())
      await eventually(
        async () => (await bus.append(spec.subject, bytes('b')).catch(ignoreUnknown)) !== undefined,
      )
      await eventually(() => seen.seqs.length === 2)
      expect(seen.texts).to.deep.equal(['a', 'b'])
    })

    it('answers again after the restart', async function () {
      const other = await connectBus('other')
      await other.answer('ask.crash', 'q', (data, replyTo) => other.reply(replyTo, data))
      await server.kill()
      await eventually(() => !bus.isConnected())
      expect(await rejectionOf(bus.ask('ask.crash', bytes('x'), 5_000))).to.be.instanceOf(NoAnswer)
      await server.restart()
      await eventually(async () =>
        bus.ask('ask.crash', bytes('x'), 200).then(
          () => true,
          () => false,
        ),
      )
      await other.close()
    })

    it('says AppendUnknown in time while it is down, and sends nothing later', async function () {
      const impatient = await connectBus('impatient', IMPATIENT_MS)
      await server.kill()
      await eventually(() => !bus.isConnected() && !impatient.isConnected())
      // The server is away until the append has given up.
      const append = impatient.append(spec.subject, bytes('a'))
      expect(await rejectionOf(append)).to.be.instanceOf(AppendUnknown)
      expect(await rejectionOf(bus.streamState(spec.stream))).to.be.instanceOf(BusUnavailable)
      await server.restart()
      await eventually(() => bus.isConnected() && impatient.isConnected())
      const { lastSeq } = await eventualState(bus, spec.stream)
      expect(lastSeq).to.equal(0)
    })
  })

  describe('a follower', () => {
    it('replaces a reader that was taken away behind its back', async function () {
      const { bus, warnings } = await connectTalking()
      const spec = { stream: 'READER', subject: 'reader', description: '' }
      await bus.declareStream(spec)
      const seen = recorder(spec.stream, 1)
      await bus.follow(seen.options)
      await bus.append(spec.subject, bytes('a'))
      await eventually(() => seen.seqs.length === 1)
      const manager = await manage()
      for await (const { name } of manager.consumers.list(spec.stream)) {
        await manager.consumers.delete(spec.stream, name)
      }
      await bus.append(spec.subject, bytes('b'))
      await eventually(() => seen.seqs.length === 2)
      expect(seen.errors).to.deep.equal([])
      expect(seen.texts).to.deep.equal(['a', 'b'])
      expect(warnings.join()).to.contain('READER: reader replaced')
    })

    it('holds a bounded number of messages for a slow handler, and keeps its reader', async function () {
      const { bus, warnings } = await connectTalking()
      const spec = { stream: 'SLOW', subject: 'slow', description: '' }
      await bus.declareStream(spec)
      for (const first of run(0, 10).map((n) => n * 100)) {
        await Promise.all(run(first, 100).map((n) => bus.append(spec.subject, bytes(`${n}`))))
      }
      let release = (): void => undefined
      const gate = new Promise<void>((resolve) => (release = resolve))
      const seen = recorder(spec.stream, 1)
      const subscription = await bus.follow({
        ...seen.options,
        onMessage: async (message) => {
          await seen.options.onMessage(message)
          await gate
        },
      })
      await eventually(() => seen.seqs.length === 1)
      const manager = await manage()
      const delivered = async (): Promise<number> => {
        const [consumer] = await manager.consumers.list(spec.stream).next()
        return consumer?.delivered.stream_seq ?? 0
      }
      await eventually(async () => (await delivered()) > 0)
      expect(await delivered()).to.be.lessThan(600)
      release()
      await eventually(() => seen.seqs.length === 1000)
      expect(seen.seqs).to.deep.equal(run(1, 1000))
      await subscription.stop()
      expect(warnings).to.deep.equal([])
    })
  })

  describe('an append', () => {
    it('is refused when it is larger than the stream takes', async () => {
      const bus = await connectBus()
      const spec = { stream: 'LARGE', subject: 'large', description: '' }
      await bus.declareStream(spec)
      const large = Buffer.alloc(1_048_576 - 40)
      expect(await bus.append(spec.subject, large)).to.equal(1)
      const tooLarge = bus.append(spec.subject, large, { messageId: 'x'.repeat(30) })
      expect(await rejectionOf(tooLarge)).to.be.instanceOf(AppendRefused)
      await bus.close()
    })

    it('is refused when too many await their acknowledgement', async function () {
      const bus = await connectBus('patient', PATIENT_MS)
      const spec = { stream: 'MANY', subject: 'many', description: '' }
      await bus.declareStream(spec)
      const outcomes = await Promise.allSettled(
        run(1, 1_100).map((n) => bus.append(spec.subject, bytes(`${n}`))),
      )
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused).to.have.length(1_100 - 1_024)
      for (const { reason } of refused) expect(reason).to.be.instanceOf(AppendRefused)
      expect((await bus.streamState(spec.stream)).lastSeq).to.equal(1_024)
      await bus.close()
    })
  })

  it('tells all callers in one message that there is no listener', async () => {
    const bus = await connectBus()
    const questions = run(1, 3).map(() => bus.ask('ask.unheard', bytes(''), 60_000))
    for (const error of await Promise.all(questions.map(rejectionOf))) {
      expect(error).to.be.instanceOf(NoAnswer)
    }
  })

  it('refuses a stream that exists with another configuration, and says what differs', async () => {
    const manager = await manage()
    await manager.streams.add({ name: 'LOOSE', subjects: ['loose'], max_age: 60_000_000_000 })
    const bus = await connectBus()
    const declared = bus.declareStream({ stream: 'LOOSE', subject: 'loose', description: '' })
    const error = await rejectionOf(declared)
    await bus.close()
    expect(error).to.be.instanceOf(BusMisconfigured)
    expect(String(error)).to.contain('max_age').and.to.contain('deny_delete')
    expect(error).to.not.be.instanceOf(WrongLastSequence)
  })
})

/** An append's outcome that must be looked up; any other error fails the test. */
function ignoreUnknown(error: unknown): undefined {
  if (!(error instanceof AppendUnknown)) throw error
}

async function eventualState(bus: Bus, stream: string) {
  for (;;) {
    try {
      return await bus.streamState(stream)
    } catch (error) {
      if (!(error instanceof BusUnavailable)) throw error
    }
  }
}

async function eventualLast(bus: Bus, stream: string) {
  await eventualState(bus, stream)
  return bus.lastMessage(stream)
}
