import { type Msg, type NatsConnection, createInbox } from 'nats'
import {
  type Addressed,
  decodeGroup,
  encodeGroup,
  groupToken,
  inGroups,
  isGroupToken,
  splitReply,
} from './ask-group.js'
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
  /** Token of the message that it went with. */
  group?: string
  readonly settle: (data: Uint8Array) => void
  readonly giveUp: (why: string) => void
}

export interface AskerDeps {
  readonly connection: NatsConnection
  readonly isConnected: () => boolean
}

export function createAsker({ connection, isConnected }: AskerDeps): Asker {
  const inbox = createInbox()
  const waiting = new Map<string, Waiting>()
  let asked = 0
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (_error, message) =>
      receive(waiting, message.subject.slice(inbox.length + 1), message),
  })
  const question = createTurnGroups(sendQuestions(connection, waiting, inbox))
  const answer = createTurnGroups(sendAnswers(connection, isConnected))

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
      const settle = (answered: Uint8Array): void => {
        over()
        resolve(answered)
      }
      waiting.set(token, { settle, giveUp })
      question(subject, { token, data })
    })

  return {
    ask,
    reply: (replyTo, data) => {
      const { prefix, token } = splitReply(replyTo)
      answer(prefix, { token, data })
    },
    close: () => {
      subscription.unsubscribe()
      for (const { giveUp } of [...waiting.values()]) giveUp('the bus is closing')
    },
  }
}

type WaitingByToken = ReadonlyMap<string, Waiting>
/** Sends what one turn had for one place. */
type SendTurn = (place: string, items: readonly Addressed[]) => void

/** What came to the inbox: an answer, several, or that nobody listens. */
function receive(waiting: WaitingByToken, token: string, { headers, data }: Msg): void {
  if (headers?.code === STATUS_NO_RESPONDERS) giveUpOn(waiting, token, 'nobody listens')
  else if (!isGroupToken(token)) waiting.get(token)?.settle(data)
  else for (const each of decodeGroup(data)) waiting.get(each.token)?.settle(each.data)
}

function giveUpOn(waiting: WaitingByToken, token: string, why: string): void {
  if (!isGroupToken(token)) return waiting.get(token)?.giveUp(why)
  for (const one of [...waiting.values()]) if (one.group === token) one.giveUp(why)
}

/** A question that timed out meanwhile is not put. */
function sendQuestions(
  connection: NatsConnection,
  waiting: WaitingByToken,
  inbox: string,
): SendTurn {
  let groups = 0
  return (subject, questions) => {
    for (const group of inGroups(questions.filter(({ token }) => waiting.has(token)))) {
      groups += 1
      const token = single(group)?.token ?? groupToken(groups)
      for (const each of group) {
        const one = waiting.get(each.token)
        if (one !== undefined) one.group = token
      }
      try {
        const data = single(group)?.data ?? encodeGroup(group)
        connection.publish(subject, data, { reply: `${inbox}.${token}` })
      } catch (error) {
        giveUpOn(waiting, token, `not sent, ${String(error)}`)
      }
    }
  }
}

function sendAnswers(connection: NatsConnection, isConnected: () => boolean): SendTurn {
  return (prefix, answers) => {
    if (!isConnected()) return
    for (const group of inGroups(answers)) {
      const token = single(group)?.token ?? groupToken(0)
      connection.publish(`${prefix}.${token}`, single(group)?.data ?? encodeGroup(group))
    }
  }
}

/** The only one of a group that has no other. */
const single = (group: readonly Addressed[]): Addressed | undefined =>
  group.length === 1 ? group[0] : undefined

/** Gathers what one turn of the event loop has for the same place, and hands it over at the turn's end, in order. */
function createTurnGroups(send: SendTurn): (place: string, item: Addressed) => void {
  let places = new Map<string, Addressed[]>()
  const flush = (): void => {
    const due = places
    places = new Map()
    for (const [place, items] of due) send(place, items)
  }
  return (place, item) => {
    if (places.size === 0) setImmediate(flush)
    const items = places.get(place)
    if (items === undefined) places.set(place, [item])
    else items.push(item)
  }
}

/** The questions of a message as it came to whoever answers, each with where its answer goes. */
export function questionsIn(
  data: Uint8Array,
  replyTo: string,
): { readonly data: Uint8Array; readonly replyTo: string }[] {
  const { prefix, token } = splitReply(replyTo)
  if (!isGroupToken(token)) return [{ data, replyTo }]
  return decodeGroup(data).map((each) => ({ data: each.data, replyTo: `${prefix}.${each.token}` }))
}
