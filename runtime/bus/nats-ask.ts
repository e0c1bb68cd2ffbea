import type { Msg, NatsConnection } from 'nats'
import { NoAnswer } from './bus.js'

/** Most questions in flight; the next one is rejected with NoAnswer. */
export const MAX_QUESTIONS_IN_FLIGHT = 16_384
const STATUS_NO_RESPONDERS = 503

/** Asks with one inbox for all answers, and answers. */
export interface BusAsker {
  /** Rejects with NoAnswer; at once while disconnected, because a buffered question would arrive too late. */
  ask(subject: string, data: Uint8Array, timeoutMs: number): Promise<Uint8Array>
  /** Sends an answer when the server is reachable. */
  reply(replyTo: string, data: Uint8Array): void
  /** Rejects every open question with NoAnswer. */
  close(): void
}

/** An open question. */
interface OpenQuestion extends GroupItem {
  /** Token of the message that carries it. */
  group: string | undefined
  readonly resolve: (data: Uint8Array) => void
  readonly fail: (why: string) => void
}

export interface AskerDeps {
  readonly connection: NatsConnection
  /** A subject of its own for the answers. */
  readonly newInbox: () => string
  readonly isConnected: () => boolean
}

export function createAsker({ connection, newInbox, isConnected }: AskerDeps): BusAsker {
  const inbox = newInbox()
  const open = new Map<string, OpenQuestion>()
  let count = 0
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (_error, message) => receive(open, message.subject.slice(inbox.length + 1), message),
  })
  const send = createTurnGroups(sendQuestions(connection, open, inbox))
  const answer = createTurnGroups(sendAnswers(connection, isConnected))

  const ask: BusAsker['ask'] = (subject, data, timeoutMs) =>
    new Promise((resolve, reject) => {
      if (!isConnected()) return reject(new NoAnswer(`${subject}: disconnected`))
      if (open.size >= MAX_QUESTIONS_IN_FLIGHT) {
        return reject(new NoAnswer(`${subject}: ${open.size} questions await their answer`))
      }
      count += 1
      const token = count.toString(36)
      const close = (): void => {
        open.delete(token)
        clearTimeout(timer)
      }
      const fail = (why: string): void => {
        close()
        reject(new NoAnswer(`${subject}: ${why}`))
      }
      const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs)
      const answered = (answer: Uint8Array): void => {
        close()
        resolve(answer)
      }
      const question: OpenQuestion = { token, data, group: undefined, resolve: answered, fail }
      open.set(token, question)
      send(subject, question)
    })

  return {
    ask,
    reply: (replyTo, data) => {
      const { prefix, token } = splitReply(replyTo)
      answer(prefix, { token, data })
    },
    close: () => {
      subscription.unsubscribe()
      for (const { fail } of [...open.values()]) fail('the bus is closing')
    },
  }
}

type OpenQuestions = ReadonlyMap<string, OpenQuestion>

/** Handles a message to the inbox: one answer, a group of answers, or "no responders". */
function receive(open: OpenQuestions, token: string, { headers, data }: Msg): void {
  if (headers?.code === STATUS_NO_RESPONDERS) giveUp(open, token, 'no process answers')
  else if (!isGroupToken(token)) open.get(token)?.resolve(data)
  else for (const each of decodeGroup(data)) open.get(each.token)?.resolve(each.data)
}

/** Rejects every open question of a message. */
function giveUp(open: OpenQuestions, group: string, why: string): void {
  for (const question of [...open.values()]) {
    if (question.group === group) question.fail(why)
  }
}

/** Sends the items of one turn to one place. */
type SendTurn<Item extends GroupItem> = (place: string, items: readonly Item[]) => void

/** Questions that have timed out are not sent. */
function sendQuestions(
  connection: NatsConnection,
  open: OpenQuestions,
  inbox: string,
): SendTurn<OpenQuestion> {
  let groups = 0
  return (subject, questions) => {
    for (const group of inGroups(questions.filter(({ token }) => open.has(token)))) {
      groups += 1
      const token = single(group)?.token ?? groupToken(groups)
      for (const one of group) one.group = token
      try {
        const data = single(group)?.data ?? encodeGroup(group)
        connection.publish(subject, data, { reply: `${inbox}.${token}` })
      } catch (error) {
        giveUp(open, token, `not sent, ${String(error)}`)
      }
    }
  }
}

function sendAnswers(connection: NatsConnection, isConnected: () => boolean): SendTurn<GroupItem> {
  return (prefix, answers) => {
    if (!isConnected()) return
    for (const group of inGroups(answers)) {
      const token = single(group)?.token ?? groupToken(0)
      connection.publish(`${prefix}.${token}`, single(group)?.data ?? encodeGroup(group))
    }
  }
}

/** The only item of a group of one. */
const single = (group: readonly GroupItem[]): GroupItem | undefined =>
  group.length === 1 ? group[0] : undefined

/** Collects the items of one turn of the event loop by place and sends them at its end, in order. */
function createTurnGroups<Item extends GroupItem>(
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

/** The questions of a received message, each with its own reply subject; none of bytes that are not a group, which is warned of. */
export function questionsIn(
  data: Uint8Array,
  replyTo: string,
  onWarning: (message: string) => void,
): { readonly data: Uint8Array; readonly replyTo: string }[] {
  const { prefix, token } = splitReply(replyTo)
  if (!isGroupToken(token)) return [{ data, replyTo }]
  return groupOf(data, onWarning).map((each) => ({
    data: each.data,
    replyTo: `${prefix}.${each.token}`,
  }))
}

/**
 * A question or an answer in a group. Those of one turn of the event loop to the same place share a message, because the
 * cost in client and server is per message more than per byte. The token is the last part of the reply subject.
 */
export interface GroupItem {
  readonly token: string
  readonly data: Uint8Array
}

/** Most bytes of a group, far below the limit of a message, and most items. */
const MAX_GROUP_BYTES = 256 * 1024
const MAX_GROUP = 64
/** Length of a token in one byte, of its data in four. */
const FRAME_BYTES = 5
/** First character of a group's token; the token of a single question never starts with it. */
const GROUP_MARK = '-'

export const groupToken = (number: number): string => `${GROUP_MARK}${number.toString(36)}`
export const isGroupToken = (token: string): boolean => token.startsWith(GROUP_MARK)

/** Splits a reply subject into the inbox of the asker and the token. */
export function splitReply(replyTo: string): { readonly prefix: string; readonly token: string } {
  const dot = replyTo.lastIndexOf('.')
  return { prefix: replyTo.slice(0, dot), token: replyTo.slice(dot + 1) }
}

/** Cuts the items, in order, into groups that fit a message. */
export function inGroups<Item extends GroupItem>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = []
  let bytes = Infinity
  for (const item of items) {
    const size = FRAME_BYTES + item.token.length + item.data.length
    const last = groups.at(-1)
    if (last === undefined || last.length === MAX_GROUP || bytes + size > MAX_GROUP_BYTES) {
      groups.push([item])
      bytes = size
    } else {
      last.push(item)
      bytes += size
    }
  }
  return groups
}

/** Tokens are at most 255 Latin-1 characters. */
export function encodeGroup(items: readonly GroupItem[]): Uint8Array {
  const size = items.reduce((sum, { token, data }) => {
    return sum + FRAME_BYTES + token.length + data.length
  }, 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const { token, data } of items) {
    at = bytes.writeUInt8(token.length, at)
    at += bytes.write(token, at, 'latin1')
    at = bytes.writeUInt32BE(data.length, at)
    bytes.set(data, at)
    at += data.length
  }
  return bytes
}

/** As `decodeGroup`, but of other bytes there are no items, and a warning. */
function groupOf(data: Uint8Array, onWarning: (message: string) => void): GroupItem[] {
  try {
    return decodeGroup(data)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    onWarning(`questions cannot be read: ${error.message}`)
    return []
  }
}

/** The inverse of encodeGroup, without a copy of the data. Throws RangeError on bytes that are not a group. */
export function decodeGroup(data: Uint8Array): GroupItem[] {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const items: GroupItem[] = []
  let at = 0
  while (at < bytes.length) {
    const tokenAt = at + 1
    const lengthAt = tokenAt + bytes.readUInt8(at)
    const dataAt = lengthAt + 4
    at = dataAt + bytes.readUInt32BE(lengthAt)
    if (at > bytes.length) throw new RangeError('a group ends in the middle of a message')
    const token = bytes.toString('latin1', tokenAt, lengthAt)
    items.push({ token, data: bytes.subarray(dataAt, at) })
  }
  return items
}
