import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import {
  assertUnled,
  Fenced,
  takeTerm,
  untilSilent,
  type Actor,
  type LeadershipTerm,
  type SilenceWait,
} from '../../../runtime/actor/leadership.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { rejectionOf } from '../bus/probes.js'
import { eventually } from '../../support/eventually.js'
import { aCopy, declareToy, SILENCE_MS, STREAM, SUBJECT, termMessage } from './toy-stream.js'

/** As many questions, or looks, as a copy makes in some silences. */
const LOOKS_OF_SILENCES = 12

describe('the lead of an actor', () => {
  let bus: MemoryBus
  const leads: LeadershipTerm[] = []
  beforeEach(async () => {
    bus = createMemoryBus()
    await declareToy(bus)
  })
  afterEach(async () => {
    for (const lead of leads.splice(0)) await lead.stop()
  })

  const fenced: unknown[] = []
  beforeEach(() => void fenced.splice(0))

  /** Takes the term behind message `lastSeq`; `ownEnd` is what the leader has appended since. */
  async function take(actor: Actor, term: number, lastSeq: number, ownEnd?: () => number) {
    const lead = await takeTerm(actor, {
      term,
      lastSeq,
      message: termMessage(term, actor.id),
      onFenced: (error) => fenced.push(error),
    })
    if (ownEnd !== undefined) lead.writes(ownEnd)
    leads.push(lead)
    return lead
  }

  function wait(actor: Actor, waiting: Partial<SilenceWait> = {}) {
    const seen = { isOver: false, looks: 0, led: [] as string[] }
    const waited = untilSilent(actor, {
      mustLast: false,
      onLed: (leader) => seen.led.push(leader),
      meanwhile: () => {
        seen.looks += 1
        return Promise.resolve(true)
      },
      ...waiting,
    }).then(() => void (seen.isOver = true))
    return { seen, waited }
  }

  describe('is waited for', () => {
    it('by a copy that follows until the leader is gone, and names it once', async () => {
      const first = await take(aCopy(bus, 'first'), 1, 0)
      const { seen, waited } = wait(aCopy(bus, 'second'))
      await eventually(() => seen.looks > 3)
      expect(seen).to.deep.include({ isOver: false, led: ['first of term 1'] })
      await first.stop()
      const looksWhenGone = seen.looks
      await waited
      // One may have been on its way to the first.
      expect(seen.looks).to.be.greaterThan(looksWhenGone + 1)
    })

    it('not at all without a listener, unless the silence must last', async () => {
      const alone = wait(aCopy(bus, 'alone'))
      await alone.waited
      expect(alone.seen.looks).to.equal(1)
      const { seen, waited } = wait(aCopy(bus, 'alone'), { mustLast: true })
      await waited
      expect(seen.looks).to.be.greaterThan(2)
    })

    it('for the whole silence where a leader listens and does not answer', async () => {
      const mute = await bus.answer('ask.lead.toy', 'mute', () => undefined)
      const { seen, waited } = wait(aCopy(bus, 'second'))
      await waited
      expect(seen.looks).to.be.greaterThan(1)
      await mute.stop()
    })

    it('for as long as the bus does not answer', async () => {
      let isReached = false
      let looks = 0
      const { seen, waited } = wait(aCopy(bus, 'cut off'), {
        meanwhile: () => {
          looks += 1
          return Promise.resolve(isReached)
        },
      })
      await eventually(() => looks > LOOKS_OF_SILENCES)
      expect(seen.isOver).to.equal(false)
      isReached = true
      await waited
      const line = bus.connect()
      line.setConnected(false)
      let questions = 0
      const ask: Bus['ask'] = (...given) => {
        questions += 1
        return line.ask(...given)
      }
      const second = wait(aCopy({ ...line, ask }, 'cut off too'), { mustLast: true })
      await eventually(() => questions > LOOKS_OF_SILENCES)
      expect(second.seen.isOver).to.equal(false)
      line.setConnected(true)
      await second.waited
    })

    it('with questions of which a pause of the waiting process makes one long', async () => {
      const first = await take(aCopy(bus, 'first'), 1, 0)
      let questions = 0
      const ask: Bus['ask'] = async (...given) => {
        questions += 1
        if (questions !== 2) return bus.ask(...given)
        // As after SIGSTOP and SIGCONT: the answer that waits is read after the timer has fired.
        await delay(3 * SILENCE_MS)
        return bus.ask('ask.lead.none', given[1], given[2])
      }
      const { seen, waited } = wait(aCopy({ ...bus, ask }, 'second'))
      await eventually(() => questions > 5)
      expect(seen.isOver).to.equal(false)
      await first.stop()
      await waited
    })

    it('until the process stops', async () => {
      await take(aCopy(bus, 'first'), 1, 0)
      const stopping = new AbortController()
      const { waited } = wait(aCopy(bus, 'second'), { signal: stopping.signal })
      stopping.abort(new Error('stopping'))
      expect(await rejectionOf(waited)).to.be.instanceOf(Error)
    })
  })

  describe('is taken', () => {
    it('by one of two that find the same end of the stream, before either answers', async () => {
      const held = createHeldAsk(bus)
      const taken = [
        take(aCopy({ ...bus, ask: held.ask }, 'one'), 1, 0),
        take(aCopy({ ...bus, ask: held.ask }, 'two'), 1, 0),
      ].map((each) => rejectionOf(each.then(() => Promise.reject(new Error('taken')))))
      await eventually(() => held.asked() === 2)
      held.answer()
      const outcomes = await Promise.all(taken)
      expect(outcomes.map((each) => (each as Error).name).toSorted()).to.deep.equal([
        ...['Error', 'Fenced'],
      ])
      expect((await bus.streamState(STREAM)).lastSeq).to.equal(1)
      expect(await rejectionOf(assertUnled(aCopy(bus, 'three')))).to.be.instanceOf(Fenced)
    })

    it('from no leader that answers', async () => {
      await take(aCopy(bus, 'first'), 1, 0)
      const refused = await rejectionOf(take(aCopy(bus, 'second'), 2, 1))
      expect(String(refused)).to.equal(
        'Fenced: first of term 1 leads toy already; STANDBY=1 would follow it',
      )
      expect((await bus.streamState(STREAM)).lastSeq).to.equal(1)
    })

    it('once, when the acknowledgement or the message is lost', async () => {
      bus.failNextAppendAck()
      await (await take(aCopy(bus, 'first'), 1, 0)).stop()
      bus.loseNextAppend()
      expect((await take(aCopy(bus, 'second'), 2, 1)).firstSeq).to.equal(2)
    })

    it('with an answer for who starts meanwhile, which ends with the lead', async () => {
      const release = bus.holdAppendAcks()
      const taking = take(aCopy(bus, 'first'), 1, 0)
      await eventually(async () => (await bus.streamState(STREAM)).lastSeq === 1)
      expect(await rejectionOf(assertUnled(aCopy(bus, 'second')))).to.be.instanceOf(Fenced)
      release()
      await (await taking).stop()
      await assertUnled(aCopy(bus, 'second'))
    })
  })

  describe('ends', () => {
    it('for a leader that was cut off and has nothing to append, after a later term and entries of it (OPE-020)', async () => {
      const line = bus.connect()
      const looking = counting(line)
      await take(aCopy(looking.bus, 'first'), 1, 0)
      line.setConnected(false)
      await (await take(aCopy(bus, 'second'), 2, 1)).stop()
      await bus.append(SUBJECT, Buffer.from('entry'))
      await looking.more()
      expect(fenced).to.deep.equal([])
      line.setConnected(true)
      await eventually(() => fenced.length === 1)
      expect(String(fenced[0])).to.include('since term 2, this one is of term 1')
    })

    it('not for a message of its own that it has trimmed while it looked', async () => {
      let ownEnd = 1
      let goOn: (() => void) | undefined
      let looks = 0
      const streamState: Bus['streamState'] = async (stream) => {
        looks += 1
        if (looks === 2) await new Promise<void>((resolve) => (goOn = resolve))
        return bus.streamState(stream)
      }
      await take(aCopy({ ...bus, streamState }, 'first'), 1, 0, () => ownEnd)
      await eventually(() => goOn !== undefined)
      ownEnd = await bus.append(SUBJECT, Buffer.from('entry'))
      await bus.append(SUBJECT, Buffer.from('another'))
      ownEnd += 1
      await bus.trim(STREAM, ownEnd)
      goOn?.()
      await eventually(() => looks > 4)
      expect(fenced).to.deep.equal([])
    })

    it('not for a stream that the server does not know for a moment, however often', async () => {
      let looks = 0
      const streamState: Bus['streamState'] = (stream) => {
        looks += 1
        return looks % 2 === 0 ? bus.streamState(stream) : createMemoryBus().streamState(stream)
      }
      await take(aCopy({ ...bus, streamState }, 'first'), 1, 0)
      await eventually(() => looks > LOOKS_OF_SILENCES)
      expect(fenced).to.deep.equal([])
    })

    it('not for what the leader itself appends, acknowledged or not', async () => {
      let ownEnd = 1
      const looking = counting(bus)
      await take(aCopy(looking.bus, 'first'), 1, 0, () => ownEnd)
      for (let entries = 0; entries < 2; entries += 1) {
        const lastSeq = await bus.append(SUBJECT, Buffer.from(`entry ${entries}`))
        await looking.more()
        ownEnd = lastSeq
      }
      expect(fenced).to.deep.equal([])
    })

    for (const what of ['rolled back', 'deleted', 'replaced by an equal one of another'] as const) {
      it(`for a leader whose stream was ${what}`, async () => {
        const other = createMemoryBus()
        let now: MemoryBus = bus
        await bus.append(SUBJECT, Buffer.from('entry'))
        const reads: Pick<Bus, 'streamState' | 'lastMessage' | 'read'> = {
          streamState: (stream) => now.streamState(stream),
          lastMessage: (stream) => now.lastMessage(stream),
          read: (...given) => now.read(...given),
        }
        await take(aCopy({ ...bus, ...reads }, 'first'), 1, 1)
        if (what !== 'deleted') {
          await declareToy(other)
          await other.append(SUBJECT, Buffer.from('entry'))
        }
        if (what.startsWith('replaced')) await other.append(SUBJECT, termMessage(1, 'second'))
        now = other
        await eventually(() => fenced.length === 1)
        expect(fenced[0]).to.be.instanceOf(Fenced)
      })
    }
  })
})

/** A bus of which a leader looks at the end of its stream, counted; `more` resolves after some further looks. */
function counting(bus: MemoryBus) {
  let looks = 0
  const streamState: Bus['streamState'] = (stream) => {
    looks += 1
    return bus.streamState(stream)
  }
  const more = (): Promise<void> => {
    const before = looks
    return eventually(() => looks >= before + 3)
  }
  return { bus: { ...bus, streamState }, more }
}

/** Questions that are answered, each with silence, when the test says so. */
function createHeldAsk(bus: MemoryBus) {
  const waiting: (() => void)[] = []
  const ask: Bus['ask'] = async (...given) => {
    const answer = bus.ask(...given)
    // It is known before the other one answers.
    const silence = answer.then(
      (value) => () => Promise.resolve(value),
      (error: Error) => () => Promise.reject<Uint8Array>(error),
    )
    const outcome = await silence
    await new Promise<void>((resolve) => waiting.push(resolve))
    return outcome()
  }
  return {
    ask,
    asked: () => waiting.length,
    answer: () => {
      for (const each of waiting.splice(0)) each()
    },
  }
}
