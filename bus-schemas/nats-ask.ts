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
import { type Patient, createDeadlines } from './ask-deadlines.js'
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

/** A question whose answer is awaited. */
interface Waiting extends Addressed, Patient<Waiting> {
  readonly subject: string
  readonly resolve: (data: Uint8Array) => void
  readonly reject: (error: NoAnswer) => void
  /** Token of the message that it went with. */
  group: string | undefined
}

export interface AskerDeps {
  readonly connection: NatsConnection
  readonly isConnected: () => boolean
}

export function createAsker({ connection, isConnected }: AskerDeps): Asker {
  const inbox = createInbox()
  const waiting = createWaiting()
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (_error, message) =>
      receive(waiting, message.subject.slice(inbox.length + 1), message),
  })
  const question = createTurnGroups(sendQuestions(connection, waiting, inbox))
  const answer = createTurnGroups(sendAnswers(connection, isConnected))

  const ask: Asker['ask'] = (subject, data, timeoutMs) =>
    new Promise((resolve, reject) => {
      if (!isConnected()) return reject(new NoAnswer(`${subject}: disconnected`))
      if (waiting.count() >= MAX_QUESTIONS_IN_FLIGHT) {
        reject(new NoAnswer(`${subject}: ${waiting.count()} questions await their answer`))
        return
      }
      const one: Waiting = {
        token: waiting.newToken(),
        data,
        subject,
        timeoutMs,
        resolve,
        reject,
        group: undefined,
        dueAt: 0,
        earlier: undefined,
        later: undefined,
      }
      waiting.add(one)
      question(subject, one)
    })

  return {
    ask,
    reply: (replyTo, data) => {
      const { prefix, token } = splitReply(replyTo)
      answer(prefix, { token, data })
    },
    close: () => {
      subscription.unsubscribe()
      waiting.close()
    },
  }
}

/** The questions that await their answer, by their tokens; each until it is settled, given up or out of time. */
interface WaitingQuestions {
  readonly count: () => number
  /** A token that no question had, for the next one to be added. There must be room for it. */
  readonly newToken: () => string
  readonly add: (one: Waiting) => void
  readonly has: (token: string) => boolean
  readonly settle: (token: string, data: Uint8Array) => void
  readonly giveUp: (token: string, why: string) => void
  /** Gives up on all that went with one message. */
  readonly giveUpGroup: (group: string, why: string) => void
  readonly close: () => void
}

/** A question has a place as long as it waits, so that its place can be told from its token. */
function createWaiting(): WaitingQuestions {
  const places: (Waiting | undefined)[] = []
  const free: number[] = []
  let asked = 0
  const find = (token: string): Waiting | undefined => {
    const one = places[placeOf(token)]
    return one?.token === token ? one : undefined
  }
  const take = (token: string): Waiting | undefined => {
    const one = find(token)
    if (one === undefined) return undefined
    places[placeOf(token)] = undefined
    free.push(placeOf(token))
    deadlines.remove(one)
    return one
  }
  const giveUp = (token: string, why: string): void => {
    const one = take(token)
    one?.reject(new NoAnswer(`${one.subject}: ${why}`))
  }
  const deadlines = createDeadlines<Waiting>(({ token, timeoutMs }) =>
    giveUp(token, `no answer within ${timeoutMs} ms`),
  )
  const giveUpWhere = (isMeant: (one: Waiting) => boolean, why: string): void => {
    for (const one of [...places]) if (one !== undefined && isMeant(one)) giveUp(one.token, why)
  }
  return {
    count: () => places.length - free.length,
    newToken: () => {
      asked += 1
      return `${(free.pop() ?? places.length).toString(36)}_${asked.toString(36)}`
    },
    add: (one) => {
      places[placeOf(one.token)] = one
      deadlines.add(one)
    },
    has: (token) => find(token) !== undefined,
    settle: (token, data) => take(token)?.resolve(data),
    giveUp,
    giveUpGroup: (group, why) => giveUpWhere((one) => one.group === group, why),
    close: () => {
      giveUpWhere(() => true, 'the bus is closing')
      deadlines.clear()
    },
  }
}

/** The number before the underscore, with which a token begins. */
const placeOf = (token: string): number => Number.parseInt(token, 36)

/** Sends what one turn had for one place. */
type SendTurn<Item extends Addressed> = (place: string, items: readonly Item[]) => void

/** What came to the inbox: an answer, several, or that nobody listens. */
function receive(waiting: WaitingQuestions, token: string, { headers, data }: Msg): void {
  if (headers?.code === STATUS_NO_RESPONDERS) giveUpOn(waiting, token, 'nobody listens')
  else if (!isGroupToken(token)) waiting.settle(token, data)
  else for (const each of decodeGroup(data)) waiting.settle(each.token, each.data)
}

function giveUpOn(waiting: WaitingQuestions, token: string, why: string): void {
  if (isGroupToken(token)) waiting.giveUpGroup(token, why)
  else waiting.giveUp(token, why)
}

/** A question that timed out meanwhile is not put. */
function sendQuestions(
  connection: NatsConnection,
  waiting: WaitingQuestions,
  inbox: string,
): SendTurn<Waiting> {
  let groups = 0
  return (subject, questions) => {
    for (const group of inGroups(questions.filter(({ token }) => waiting.has(token)))) {
      groups += 1
      const token = single(group)?.token ?? groupToken(groups)
      for (const one of group) one.group = token
      try {
        const data = single(group)?.data ?? encodeGroup(group)
        connection.publish(subject, data, { reply: `${inbox}.${token}` })
      } catch (error) {
        giveUpOn(waiting, token, `not sent, ${String(error)}`)
      }
    }
  }
}

function sendAnswers(connection: NatsConnection, isConnected: () => boolean): SendTurn<Addressed> {
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
function createTurnGroups<Item extends Addressed>(
  send: SendTurn<Item>,
): (place: string, item: Item) => void {
  let places = new Map<string, Item[]>()
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
