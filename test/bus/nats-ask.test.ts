import { expect } from 'chai'
import type { NatsConnection } from 'nats'
import { NoAnswer } from '../../bus-schemas/bus.js'
import { createAsker, MAX_QUESTIONS_IN_FLIGHT } from '../../bus-schemas/nats-ask.js'
import { createTurnQueue } from '../../bus-schemas/turn-queue.js'

const nothing = new Uint8Array()

/** A connection that takes what is published and brings nothing back. */
function silentConnection() {
  const published: string[] = []
  const connection = {
    subscribe: () => ({ unsubscribe: () => undefined }),
    publish: (subject: string) => void published.push(subject),
  }
  return { published, connection: connection as unknown as NatsConnection }
}

const failure = (answer: Promise<unknown>) => answer.then(undefined, (error: unknown) => error)

describe('questions over NATS', () => {
  it('of one turn leave together at its end, in order', async () => {
    const { published, connection } = silentConnection()
    const asker = createAsker({ connection, isConnected: () => true, soon: createTurnQueue() })
    const answers = ['a', 'b', 'c'].map((subject) => failure(asker.ask(subject, nothing, 5_000)))
    await Promise.resolve()
    expect(published).to.deep.equal([])
    await new Promise(setImmediate)
    expect(published).to.deep.equal(['a', 'b', 'c'])
    asker.close()
    for (const error of await Promise.all(answers)) expect(error).to.be.instanceOf(NoAnswer)
  })

  it('that nobody waits for any more are not put', async () => {
    const { published, connection } = silentConnection()
    const asker = createAsker({ connection, isConnected: () => true, soon: createTurnQueue() })
    const answer = failure(asker.ask('late', nothing, 5_000))
    asker.close()
    await new Promise(setImmediate)
    expect(await answer).to.be.instanceOf(NoAnswer)
    expect(published).to.deep.equal([])
  })

  it('are refused when too many await their answer', async () => {
    const { connection } = silentConnection()
    const asker = createAsker({ connection, isConnected: () => true, soon: () => undefined })
    const asked = Array.from({ length: MAX_QUESTIONS_IN_FLIGHT }, () =>
      failure(asker.ask('s', nothing, 60_000)),
    )
    expect(await failure(asker.ask('s', nothing, 60_000))).to.be.instanceOf(NoAnswer)
    asker.close()
    expect(await Promise.all(asked)).to.have.length(MAX_QUESTIONS_IN_FLIGHT)
  })
})
