import { type Msg, type NatsConnection, createInbox } from 'nats'
import { NoAnswer } from './bus.js'

/** Questions that may await their answer at one time; the next one gets NoAnswer. */
export const MAX_QUESTIONS_IN_FLIGHT = 16_384
const STATUS_NO_RESPONDERS = 503

/** Asks with one inbox for all answers, and answers. */
export interface Asker {
  /** Throws NoAnswer; at once while disconnected, since a question kept for later would be put too late. */
  ask(subject: string, data: Uint8Array, timeoutMs: number): Promise<Uint8Array>
  /** Sends an answer when the server is reachable. */
  reply(replyTo: string, data: Uint8Array): void
  /** Whoever still waits gets NoAnswer. */
  close(): void
}

interface Waiting {
  readonly settle: (message: Msg) => void
  readonly giveUp: (why: string) => void
}

export interface AskerDeps {
  readonly connection: NatsConnection
  readonly isConnected: () => boolean
  /** Puts a publish off to the end of the turn, so that what is sent in one turn shares a write. */
  readonly soon: (task: () => void) => void
}

export function createAsker({ connection, isConnected, soon }: AskerDeps): Asker {
  const inbox = createInbox()
  const waiting = new Map<string, Waiting>()
  let asked = 0
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (_error, message) => {
      waiting.get(message.subject.slice(inbox.length + 1))?.settle(message)
    },
  })

  const ask: Asker['ask'] = (subject, data, timeoutMs) =>
    new Promise((resolve, reject) => {
      if (!isConnected()) return reject(new NoAnswer(`${subject}: disconnected`))
      if (waiting.size >= MAX_QUESTIONS_IN_FLIGHT) {
        reject(new NoAnswer(`${subject}: ${waiting.size} questions await their answer`))
        return
      }
      asked += 1
      const token = asked.toString(36)
      const over = (): void => {
        clearTimeout(timer)
        waiting.delete(token)
      }
      const giveUp = (why: string): void => {
        over()
        reject(new NoAnswer(`${subject}: ${why}`))
      }
      const timer = setTimeout(() => giveUp(`no answer within ${timeoutMs} ms`), timeoutMs)
      const settle = (message: Msg): void => {
        if (message.headers?.code === STATUS_NO_RESPONDERS) return giveUp('nobody listens')
        over()
        resolve(message.data)
      }
      waiting.set(token, { settle, giveUp })
      soon(() => {
        if (!waiting.has(token)) return
        try {
          connection.publish(subject, data, { reply: `${inbox}.${token}` })
        } catch (error) {
          giveUp(`not sent, ${String(error)}`)
        }
      })
    })

  return {
    ask,
    reply: (replyTo, data) =>
      soon(() => {
        if (isConnected()) connection.publish(replyTo, data)
      }),
    close: () => {
      subscription.unsubscribe()
      for (const { giveUp } of [...waiting.values()]) giveUp('the bus is closing')
    },
  }
}
