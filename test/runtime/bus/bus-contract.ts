import { expect } from 'chai'
import {
  AppendUnknown,
  BusMisconfigured,
  MessagesGone,
  NoAnswer,
  StreamMissing,
  StreamRolledBack,
  WrongLastSequence,
  type Bus,
} from '../../../runtime/bus/bus.js'
import { eventually } from '../../support/eventually.js'
import { bytes, recorder, rejectionOf, run, textOf, textsOf } from './probes.js'

/** How the contract reaches one implementation. */
export interface BusUnderTest {
  /** A new connection to the same server; the contract closes it. */
  connect(): Promise<Bus>
}

/** The promises of bus.ts, checked on one implementation. */
export function busContract(name: string, open: () => Promise<BusUnderTest>): void {
  describe(`bus contract: ${name}`, () => {
    let underTest: BusUnderTest
    let bus: Bus
    let other: Bus
    let streams = 0
    let stream = ''
    let subject = ''

    before(async () => {
      underTest = await open()
      bus = await underTest.connect()
      other = await underTest.connect()
    })
    after(async () => {
      await bus.close()
      await other.close()
    })
    beforeEach(async () => {
      streams += 1
      stream = `CONTRACT_${streams}`
      subject = `contract.${streams}`
      await bus.declareStream({ stream, subject, description: 'contract' })
    })
    const append = (text: string): Promise<number> => bus.append(subject, bytes(text))
    const appendMany = async (count: number): Promise<void> => {
      for (const n of run(1, count)) await append(`m${n}`)
    }

    describe('append', () => {
      it('numbers messages from 1 without gaps and keeps their bytes', async () => {
        expect(await append('a')).to.equal(1)
        expect(await append('ü')).to.equal(2)
        expect(await other.append(subject, bytes(''))).to.equal(3)
        expect(textsOf(await other.read(stream, 1, 10))).to.deep.equal(['a', 'ü', ''])
        expect(await bus.streamState(stream)).to.deep.equal({ firstSeq: 1, lastSeq: 3 })
      })

      it('keeps the order of calls that do not wait for each other', async () => {
        const seqs = await Promise.all(run(1, 100).map((n) => append(`m${n}`)))
        expect(seqs).to.deep.equal(run(1, 100))
        expect(textsOf(await bus.read(stream, 1, 100))).to.deep.equal(
          run(1, 100).map((n) => `m${n}`),
        )
      })

      it('refuses a fence that does not fit and stores nothing', async () => {
        expect(await bus.append(subject, bytes('a'), { expectedLastSeq: 0 })).to.equal(1)
        const stale = bus.append(subject, bytes('b'), { expectedLastSeq: 0 })
        expect(await rejectionOf(stale)).to.be.instanceOf(WrongLastSequence)
        const ahead = bus.append(subject, bytes('b'), { expectedLastSeq: 2 })
        expect(await rejectionOf(ahead)).to.be.instanceOf(WrongLastSequence)
        expect(textsOf(await bus.read(stream, 1, 10))).to.deep.equal(['a'])
      })

      it('lets one of two concurrent fenced writers win each position', async () => {
        for (const last of run(0, 20)) {
          const outcomes = await Promise.allSettled([
            bus.append(subject, bytes('bus'), { expectedLastSeq: last }),
            other.append(subject, bytes('other'), { expectedLastSeq: last }),
          ])
          const won = outcomes.filter(({ status }) => status === 'fulfilled')
          const lost = outcomes.find((outcome) => outcome.status === 'rejected')
          expect(won).to.have.length(1)
          expect(lost?.reason).to.be.instanceOf(WrongLastSequence)
        }
        expect((await bus.streamState(stream)).lastSeq).to.equal(20)
      })

      it('stores a repeated message id once and answers with the original position', async () => {
        const first = await bus.append(subject, bytes('a'), { messageId: 'id-1' })
        await append('b')
        expect(await other.append(subject, bytes('a'), { messageId: 'id-1' })).to.equal(first)
        expect((await bus.streamState(stream)).lastSeq).to.equal(2)
      })

      it('stores a repeat with both fence and message id once, whichever is judged first', async () => {
        const options = { messageId: 'id-1', expectedLastSeq: 0 }
        await bus.append(subject, bytes('a'), options)
        const repeat = await bus
          .append(subject, bytes('a'), options)
          .catch((error: unknown) => error)
        if (repeat !== 1) expect(repeat).to.be.instanceOf(WrongLastSequence)
        expect((await bus.streamState(stream)).lastSeq).to.equal(1)
      })

      it('captures every subject under one that ends in a wildcard', async () => {
        const wide = `${stream}_WIDE`
        const spec = { stream: wide, subject: `wide.${subject}.>`, description: 'contract' }
        await bus.declareStream(spec)
        expect(await bus.append(`wide.${subject}.a.1`, bytes('a'))).to.equal(1)
        expect(await other.append(`wide.${subject}.b`, bytes('b'))).to.equal(2)
        expect(textsOf(await bus.read(wide, 1, 10))).to.deep.equal(['a', 'b'])
        const beside = bus.append(`wide.${subject}`, bytes('c'))
        expect(await rejectionOf(beside)).to.be.instanceOf(AppendUnknown)
      })

      it('does not know what becomes of a message that no stream captures', async () => {
        const lost = bus.append('contract.nowhere', bytes('a'))
        expect(await rejectionOf(lost)).to.be.instanceOf(AppendUnknown)
      })
    })

    describe('reading', () => {
      it('tells an empty stream by its state and its absent last message', async () => {
        expect(await bus.streamState(stream)).to.deep.equal({ firstSeq: 1, lastSeq: 0 })
        expect(await bus.lastMessage(stream)).to.equal(undefined)
        expect(await bus.read(stream, 1, 10)).to.deep.equal([])
      })

      it('gives any range in order, and only what exists', async () => {
        await appendMany(30)
        expect((await bus.read(stream, 1, 5)).map(({ seq }) => seq)).to.deep.equal(run(1, 5))
        expect((await bus.read(stream, 8, 20)).map(({ seq }) => seq)).to.deep.equal(run(8, 20))
        expect((await bus.read(stream, 29, 100)).map(({ seq }) => seq)).to.deep.equal([29, 30])
        expect(await bus.read(stream, 31, 100)).to.deep.equal([])
        const last = await bus.lastMessage(stream)
        expect(last?.seq).to.equal(30)
        expect(textOf(last?.data ?? bytes(''))).to.equal('m30')
        expect(last?.storedAtMs).to.be.closeTo(Date.now(), 60_000)
      })

      it('reads long ranges of large messages whole', async function () {
        const body = Buffer.alloc(200_000, 'x')
        for (const n of run(1, 60)) {
          body.writeUInt32BE(n)
          await bus.append(subject, body)
        }
        const read = await bus.read(stream, 1, 1000)
        expect(read.map(({ data }) => Buffer.from(data).readUInt32BE())).to.deep.equal(run(1, 60))
      })

      it('refuses to begin below what is retained', async () => {
        await appendMany(10)
        await other.trim(stream, 6)
        expect(await bus.streamState(stream)).to.deep.equal({ firstSeq: 6, lastSeq: 10 })
        expect(await rejectionOf(bus.read(stream, 5, 10))).to.be.instanceOf(MessagesGone)
        expect((await bus.read(stream, 6, 10)).map(({ seq }) => seq)).to.deep.equal(run(6, 5))
      })

      it('goes on numbering after everything was trimmed', async () => {
        await appendMany(3)
        await other.trim(stream, 4)
        expect(await bus.streamState(stream)).to.deep.equal({ firstSeq: 4, lastSeq: 3 })
        expect(await bus.lastMessage(stream)).to.equal(undefined)
        expect(await bus.append(subject, bytes('d'), { expectedLastSeq: 3 })).to.equal(4)
      })

      it('tells a stream that was never declared', async () => {
        const unknown = 'CONTRACT_NONE'
        expect(await rejectionOf(bus.streamState(unknown))).to.be.instanceOf(StreamMissing)
        expect(await rejectionOf(bus.lastMessage(unknown))).to.be.instanceOf(StreamMissing)
        expect(await rejectionOf(bus.read(unknown, 1, 1))).to.be.instanceOf(StreamMissing)
        expect(await rejectionOf(bus.trim(unknown, 1))).to.be.instanceOf(StreamMissing)
      })
    })

    describe('declareStream', () => {
      it('may be repeated, also by others', async () => {
        await append('a')
        await other.declareStream({ stream, subject, description: 'in other words' })
        expect((await bus.streamState(stream)).lastSeq).to.equal(1)
      })

      it('refuses a stream that captures another subject', async () => {
        const moved = bus.declareStream({ stream, subject: `${subject}.x`, description: '' })
        expect(await rejectionOf(moved)).to.be.instanceOf(BusMisconfigured)
      })
    })

    describe('follow', () => {
      it('gives what is there and what comes, each once and in order', async () => {
        await appendMany(50)
        const seen = recorder(stream, 1)
        const subscription = await other.follow(seen.options)
        await appendMany(50)
        await eventually(() => seen.seqs.length >= 100)
        await subscription.stop()
        expect(seen.seqs).to.deep.equal(run(1, 100))
        expect(seen.texts[99]).to.equal('m50')
        expect(seen.errors).to.deep.equal([])
      })

      it('begins anywhere, also at the end', async () => {
        await appendMany(5)
        const middle = recorder(stream, 4)
        const end = recorder(stream, 6)
        const subscriptions = [await bus.follow(middle.options), await bus.follow(end.options)]
        await append('six')
        await eventually(() => middle.seqs.length >= 3 && end.seqs.length >= 1)
        for (const subscription of subscriptions) await subscription.stop()
        expect(middle.seqs).to.deep.equal([4, 5, 6])
        expect(end.texts).to.deep.equal(['six'])
      })

      it('waits for the handler before it gives the next', async () => {
        let running = 0
        let most = 0
        let done = 0
        const subscription = await bus.follow({
          stream,
          fromSeq: 1,
          onMessage: async () => {
            running += 1
            most = Math.max(most, running)
            await new Promise((resolve) => setImmediate(resolve))
            running -= 1
            done += 1
          },
          onError: (error) => expect.fail(error.message),
        })
        await appendMany(700)
        await eventually(() => done === 700)
        await subscription.stop()
        expect(most).to.equal(1)
      })

      it('ends with what the handler throws and goes no further', async () => {
        await appendMany(5)
        const seen = recorder(stream, 1)
        const failure = new Error('handler')
        await bus.follow({
          ...seen.options,
          onMessage: async (message) => {
            await seen.options.onMessage(message)
            if (message.seq === 3) throw failure
          },
        })
        await eventually(() => seen.errors.length > 0)
        await append('six')
        expect(seen.errors).to.deep.equal([failure])
        expect(seen.seqs).to.deep.equal([1, 2, 3])
      })

      it('begins no handler call after stop', async () => {
        await appendMany(20)
        const seen = recorder(stream, 1)
        const subscription = await bus.follow({
          ...seen.options,
          onMessage: async (message) => {
            await seen.options.onMessage(message)
            if (message.seq === 7) await subscription.stop()
          },
        })
        await eventually(() => seen.seqs.length >= 7)
        const late = recorder(stream, 1)
        const second = await bus.follow(late.options)
        await eventually(() => late.seqs.length >= 20)
        await second.stop()
        expect(seen.seqs).to.deep.equal(run(1, 7))
        expect(seen.errors).to.deep.equal([])
      })

      it('reports messages that are gone below its position', async () => {
        await appendMany(10)
        await other.trim(stream, 5)
        const seen = recorder(stream, 3)
        await bus.follow(seen.options)
        await eventually(() => seen.errors.length > 0)
        expect(seen.errors[0]).to.be.instanceOf(MessagesGone)
        expect(seen.seqs).to.deep.equal([])
      })

      it('reports a stream that ends before its position', async () => {
        await appendMany(3)
        const seen = recorder(stream, 5)
        await bus.follow(seen.options)
        await eventually(() => seen.errors.length > 0)
        expect(seen.errors[0]).to.be.instanceOf(StreamRolledBack)
      })

      it('waits for a stream that does not exist yet', async () => {
        const seen = recorder(`${stream}_LATER`, 1)
        const subscription = await bus.follow(seen.options)
        const later = { stream: `${stream}_LATER`, subject: `${subject}.later`, description: '' }
        await bus.declareStream(later)
        await bus.append(later.subject, bytes('a'))
        await eventually(() => seen.seqs.length > 0)
        await subscription.stop()
        expect(seen.texts).to.deep.equal(['a'])
      })
    })

    describe('ask and answer', () => {
      it('brings one answer back', async () => {
        const subscription = await other.answer(`ask.${subject}`, 'q', (data, replyTo) =>
          other.reply(replyTo, bytes(`${textOf(data)}!`)),
        )
        const answers = await Promise.all(
          run(1, 50).map(async (n) => textOf(await bus.ask(`ask.${subject}`, bytes(`${n}`), 5000))),
        )
        await subscription.stop()
        expect(answers).to.deep.equal(run(1, 50).map((n) => `${n}!`))
      })

      it('lets one of a queue answer each question', async () => {
        const counts = [0, 0]
        const subscriptions = await Promise.all(
          [bus, other].map((each, index) =>
            each.answer(`ask.${subject}`, 'q', (_data, replyTo) => {
              counts[index] = (counts[index] ?? 0) + 1
              each.reply(replyTo, bytes('ok'))
            }),
          ),
        )
        const asker = await underTest.connect()
        // What is asked in one turn may go to the same of them.
        for (const n of run(1, 60)) await asker.ask(`ask.${subject}`, bytes(`${n}`), 5000)
        await asker.close()
        for (const subscription of subscriptions) await subscription.stop()
        expect((counts[0] ?? 0) + (counts[1] ?? 0)).to.equal(60)
        expect(Math.min(...counts)).to.be.greaterThan(0)
      })

      it('lets another process than the asked one answer', async () => {
        const relay = await other.answer(`ask.${subject}`, 'q', (_data, replyTo) => {
          void bus.append(subject, bytes(replyTo))
        })
        const worker = await bus.follow({
          stream,
          fromSeq: 1,
          onMessage: ({ data }) => bus.reply(textOf(data), bytes('from the worker')),
          onError: (error) => expect.fail(error.message),
        })
        const asker = await underTest.connect()
        const answer = await asker.ask(`ask.${subject}`, bytes(''), 5000)
        await asker.close()
        await relay.stop()
        await worker.stop()
        expect(textOf(answer)).to.equal('from the worker')
      })

      it('throws NoAnswer with no listener, and after the listener has left', async () => {
        const never = bus.ask(`ask.${subject}`, bytes(''), 1000)
        expect(await rejectionOf(never)).to.be.instanceOf(NoAnswer)
        const subscription = await other.answer(`ask.${subject}`, 'q', (_data, replyTo) =>
          other.reply(replyTo, bytes('ok')),
        )
        await bus.ask(`ask.${subject}`, bytes(''), 1000)
        await subscription.stop()
        const gone = bus.ask(`ask.${subject}`, bytes(''), 1000)
        expect(await rejectionOf(gone)).to.be.instanceOf(NoAnswer)
      })

      it('throws NoAnswer when the answer does not come in time', async () => {
        const subscription = await other.answer(`ask.${subject}`, 'q', () => undefined)
        const late = bus.ask(`ask.${subject}`, bytes(''), 50)
        expect(await rejectionOf(late)).to.be.instanceOf(NoAnswer)
        await subscription.stop()
      })
    })

    it('stops everything when closed', async () => {
      await appendMany(3)
      const third = await underTest.connect()
      const seen = recorder(stream, 1)
      await third.follow(seen.options)
      await eventually(() => seen.seqs.length === 3)
      expect(third.isConnected()).to.equal(true)
      await third.close()
      expect(third.isConnected()).to.equal(false)
      await append('after')
      const calls = [
        () => third.append(subject, bytes('x')),
        () => third.read(stream, 1, 1),
        () => third.ask(subject, bytes('x'), 100),
      ]
      for (const call of calls) expect(await rejectionOf(call())).to.be.instanceOf(Error)
      expect(seen.seqs).to.deep.equal([1, 2, 3])
      expect((await bus.streamState(stream)).lastSeq).to.equal(4)
    })
  })
}
