import { expect } from 'chai'
import { createInbox, type NatsConnection } from 'nats'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { createAsker, MAX_QUESTIONS_IN_FLIGHT, questionsIn } from '../../../runtime/bus/nats-ask.js'
import { bytes, textOf } from './probes.js'

const nothing = new Uint8Array()

/** A connection that takes what is published and brings nothing back. */
function silentConnection() {
  const messages: { subject: string; data: Uint8Array; reply: string }[] = []
  let deliver: (error: null, message: object) => void = () => undefined
  const connection = {
    subscribe: (_subject: string, { callback }: { callback: typeof deliver }) => {
      deliver = callback
      return { unsubscribe: () => undefined }
    },
    publish: (subject: string, data: Uint8Array, options?: { reply: string }) =>
      void messages.push({ subject, data, reply: options?.reply ?? '' }),
  }
  return {
    connection: connection as NatsConnection,
    messages,
    subjects: () => messages.map(({ subject }) => subject),
    /** Brings the newest message to the caller. */
    deliverLast: () => deliver(null, messages.at(-1) ?? {}),
  }
}

const unexpected = (warning: string): never => expect.fail(warning)

const failure = (answer: Promise<unknown>) => answer.then(undefined, (error: unknown) => error)

describe('questions over NATS', () => {
  it('of one turn leave together at its end, in order', async () => {
    const { subjects, connection } = silentConnection()
    const asker = createAsker({ connection, newInbox: createInbox, isConnected: () => true })
    const answers = ['a', 'b', 'c'].map((subject) => failure(asker.ask(subject, nothing, 5_000)))
    await Promise.resolve()
    expect(subjects()).to.deep.equal([])
    await new Promise(setImmediate)
    expect(subjects()).to.deep.equal(['a', 'b', 'c'])
    asker.close()
    for (const error of await Promise.all(answers)) expect(error).to.be.instanceOf(NoAnswer)
  })

  it('to the same place leave as one message, and their answers may come so too', async () => {
    const { messages, subjects, connection, deliverLast } = silentConnection()
    const asker = createAsker({ connection, newInbox: createInbox, isConnected: () => true })
    const answers = ['a', 'b', 'c'].map((text) => asker.ask('place', bytes(text), 5_000))
    await new Promise(setImmediate)
    expect(subjects()).to.deep.equal(['place'])
    const questions = messages.flatMap(({ data, reply }) => questionsIn(data, reply, unexpected))
    for (const { data, replyTo } of questions) asker.reply(replyTo, bytes(`${textOf(data)}!`))
    await new Promise(setImmediate)
    expect(messages).to.have.length(2)
    deliverLast()
    expect((await Promise.all(answers)).map(textOf)).to.deep.equal(['a!', 'b!', 'c!'])
    asker.close()
  })

  it('in bytes that are not a group are none, and are warned of', () => {
    const warnings: string[] = []
    expect(
      questionsIn(bytes('abc'), 'inbox.-1', (warning) => warnings.push(warning)),
    ).to.deep.equal([])
    expect(warnings).to.have.length(1)
  })

  it('that no caller waits for any more are not sent', async () => {
    const { subjects, connection } = silentConnection()
    const asker = createAsker({ connection, newInbox: createInbox, isConnected: () => true })
    const answer = failure(asker.ask('late', nothing, 5_000))
    asker.close()
    await new Promise(setImmediate)
    expect(await answer).to.be.instanceOf(NoAnswer)
    expect(subjects()).to.deep.equal([])
  })

  it('are given up after their time, each in the words of its own, and never answered then', async () => {
    const { connection, messages, deliverLast } = silentConnection()
    const asker = createAsker({ connection, newInbox: createInbox, isConnected: () => true })
    const failures = ['a', 'b'].map((subject) => failure(asker.ask(subject, nothing, 30)))
    const patient = asker.ask('c', nothing, 60_000)
    const errors = await Promise.all(failures)
    expect(errors.map(String)).to.deep.equal([
      'NoAnswer: a: no answer within 30 ms',
      'NoAnswer: b: no answer within 30 ms',
    ])
    for (const { reply } of [...messages]) asker.reply(reply, bytes('late'))
    await new Promise(setImmediate)
    deliverLast()
    expect(textOf(await patient)).to.equal('late')
    asker.close()
  })

  it('get no answer that was meant for one before them', async () => {
    const { connection, messages, deliverLast } = silentConnection()
    const asker = createAsker({ connection, newInbox: createInbox, isConnected: () => true })
    const early = failure(asker.ask('s', nothing, 20))
    await new Promise(setImmediate)
    expect(await early).to.be.instanceOf(NoAnswer)
    const later = asker.ask('s', nothing, 60_000)
    await new Promise(setImmediate)
    const [first, second] = messages.map(({ reply }) => reply)
    expect(second).not.to.equal(first)
    for (const [replyTo, text] of [
      [first, 'stale'],
      [second, 'fresh'],
    ] as const) {
      asker.reply(replyTo ?? '', bytes(text))
      await new Promise(setImmediate)
      deliverLast()
    }
    expect(textOf(await later)).to.equal('fresh')
    asker.close()
  })

  it('are refused when too many await their answer', async () => {
    const { connection } = silentConnection()
    const asker = createAsker({ connection, newInbox: createInbox, isConnected: () => true })
    const asked = Array.from({ length: MAX_QUESTIONS_IN_FLIGHT }, () =>
      failure(asker.ask('s', nothing, 60_000)),
    )
    expect(await failure(asker.ask('s', nothing, 60_000))).to.be.instanceOf(NoAnswer)
    asker.close()
    expect(await Promise.all(asked)).to.have.length(MAX_QUESTIONS_IN_FLIGHT)
  })
})
