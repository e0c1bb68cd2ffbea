import type { RpcLog } from 'viem'
import type { Hex } from '../../core/action.js'
import { ReadFailure } from './read-failure.js'

/** A node has answered in another form than the question has. */
export class OddAnswer extends ReadFailure {
  override readonly name = 'OddAnswer'
}

export const isHex = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)

/** An integer as JSON-RPC writes it, of at most 256 bits. */
export const isQuantity = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)

/** The integer; throws OddAnswer for anything else. */
export function quantityOf(value: unknown, what: string): bigint {
  if (!isQuantity(value)) throw new OddAnswer(`${what} is no quantity`)
  return BigInt(value)
}

/** Bytes as JSON-RPC writes them; throws OddAnswer for anything else. */
export function hexOf(value: unknown, what: string): Hex {
  if (!isHex(value)) throw new OddAnswer(`${what} has no bytes`)
  return value
}

/** What every event has, wherever it is read. */
export type EventForm = Pick<RpcLog, 'address' | 'topics' | 'data'>

export function isEvent(value: unknown): value is EventForm {
  if (typeof value !== 'object' || value === null) return false
  const { address, topics, data } = value as Record<keyof EventForm, unknown>
  return isHex(address) && Array.isArray(topics) && topics.every(isHex) && isHex(data)
}

/** The events of an answer; throws OddAnswer for anything but a list of them. */
export function eventsOf(answer: unknown): readonly RpcLog[] {
  if (!Array.isArray(answer) || !answer.every(isPlacedEvent))
    throw new OddAnswer('no list of events')
  return answer
}

const PLACES = ['transactionHash', 'blockHash', 'blockNumber'] as const

/** A pending event has no place yet. */
const isPlacedEvent = (value: unknown): value is RpcLog =>
  isEvent(value) &&
  PLACES.every((place) => {
    const at: unknown = (value as Partial<RpcLog>)[place]
    return at === undefined || at === null || isHex(at)
  })
