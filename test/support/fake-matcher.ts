import { encodeCancelsAnswer } from '../../bus-schemas/cancels.js'
import { encodeOrderAnswer, type OrderReply } from '../../bus-schemas/orders.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import { controlRefusals } from '../../core/entry/order-refusals.js'
import { refusals } from '../../core/entry/refusals.js'
import type { LoggedCommand } from '../../core/model/command.js'
import type { Order } from '../../core/model/order.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { progressOf } from './builders.js'
import { decodeCommands } from './spot-log.js'

/** Follows a command log and answers as a matcher that refuses what is repeated, and whose book never crosses; remembers what it took. */
export interface FakeMatcher {
  /** The intake's commands in the order of the log, each source_no once. */
  readonly taken: LoggedCommand[]
  /** Commands of each message, repeats included. */
  readonly messages: LoggedCommand[][]
  stop(): Promise<void>
}

/** Of the spot market by default. */
export async function startFakeMatcher(
  bus: Bus,
  market: string,
  decode = decodeCommands,
): Promise<FakeMatcher> {
  const taken: LoggedCommand[] = []
  const messages: LoggedCommand[][] = []
  const active = new Map<string, Order>()
  let lastNo = 0
  const take = (logged: LoggedCommand): void => {
    if (logged.source !== 'intake' || logged.sourceNo <= lastNo) return
    lastNo = logged.sourceNo
    // The epoch marker of a term.
    if (logged.command.kind === 'Tick') return
    taken.push(logged)
    // It follows its order; it has no answer.
    if (logged.command.kind === 'SessionKeyObserved') return
    const data =
      cancelsAnswerTo(logged, taken.length) ??
      encodeOrderAnswer(answerTo(logged, { active, market, feedSeq: taken.length }))
    if (logged.replyTo !== undefined) bus.reply(logged.replyTo, data)
  }
  const subscription = await bus.follow({
    stream: commandsStream(market),
    fromSeq: 1,
    onMessage: ({ data }) => {
      const commands = decode(data)
      messages.push([...commands])
      for (const command of commands) take(command)
    },
    onError: (error) => {
      throw error
    },
  })
  return { taken, messages, stop: () => subscription.stop() }
}

/** As of an owner without orders; undefined for a command of one order. */
function cancelsAnswerTo({ command }: LoggedCommand, feedSeq: number): Uint8Array | undefined {
  switch (command.kind) {
    case 'CancelAll':
    case 'CancelOrders':
      return encodeCancelsAnswer({ kind: 'cancels', feed_seq: feedSeq, outcomes: [], left: 0 })
    case 'SetLease':
      return encodeCancelsAnswer({ kind: 'lease', ends_at_ms: command.seconds * 1_000 })
    case 'EndLease':
      return encodeCancelsAnswer({ kind: 'lease', ends_at_ms: 0 })
    default:
      return undefined
  }
}

interface Book {
  readonly active: Map<string, Order>
  readonly market: string
  readonly feedSeq: number
}

type OrderTaken = Extract<OrderReply, { readonly kind: 'order' }>

function answerTo({ command }: LoggedCommand, { active, market, feedSeq }: Book): OrderReply {
  const answer = (order: Order, status: 'active' | 'cancelled'): OrderTaken => ({
    kind: 'order',
    feed_seq: feedSeq,
    market,
    order,
    progress: progressOf(order, { status }),
  })
  if (command.kind === 'PlaceOrder') {
    const { order, replaces } = command
    const old = active.get(`${order.owner} ${replaces}`)
    if (replaces !== undefined && old === undefined) {
      return { kind: 'refused', refusal: refusals.activeOrderNotFound }
    }
    if (old !== undefined) active.delete(`${old.owner} ${old.nonce}`)
    active.set(`${order.owner} ${order.nonce}`, order)
    const placed = answer(order, 'active')
    return old === undefined
      ? placed
      : { ...placed, replaced: { order: old, progress: progressOf(old, { status: 'cancelled' }) } }
  }
  if (command.kind === 'RepeatOrder') {
    return { kind: 'refused', refusal: controlRefusals.postOnlyWouldCross }
  }
  if (command.kind === 'ReduceOrder') {
    const order = active.get(`${command.owner} ${command.nonce}`)
    if (order === undefined) return { kind: 'refused', refusal: refusals.activeOrderNotFound }
    return answer({ ...order, desiredAmount: command.desired }, 'active')
  }
  if (command.kind !== 'CancelOrder') throw new Error(`unexpected ${command.kind}`)
  const key = `${command.owner} ${command.nonce}`
  const order = active.get(key)
  active.delete(key)
  if (order === undefined) return { kind: 'refused', refusal: refusals.activeOrderNotFound }
  return answer(order, 'cancelled')
}
