import type { Address } from '../../core/action.js'
import { parseInteger } from '../../core/decimal.js'
import { asJsonObject, parseAddress } from '../../core/json.js'

/** Most requests of one kind that wait for the placements of one order: each holds a place among all requests in flight. */
const MAX_WAITING = 16

/** Decides a request by its body; the rest is what else it came with. */
type DecideByBody<Rest extends readonly unknown[], Decided> = (
  body: unknown,
  ...rest: Rest
) => Promise<Decided>

/** Resolves when every placement that was on its way is in a log or refused; undefined when none was. */
export type PlacementWait = Promise<unknown> | 'too_many' | undefined

/** Placements that are being decided, by what the request says that names their order. */
export interface UnderWay {
  /** The same decision, which is known to be under way until it is made. */
  during<Rest extends readonly unknown[], Decided>(
    decide: DecideByBody<Rest, Decided>,
  ): DecideByBody<Rest, Decided>
  waitForNonce(owner: Address, nonce: bigint): PlacementWait
  /** A list of ids is asked of each market: the requests of one do not count for another. */
  waitForId(owner: Address, orderId: string, market: string): PlacementWait
}

interface DecisionsUnderWay {
  readonly placements: Set<Promise<unknown>>
  /** Requests that wait, by the market whose list they are of; under '' those that name the order by its nonce. */
  readonly waiting: Map<string, number>
}

/**
 * Anyone can send a placement that names the owner and the nonce of another: one name has as many placements as were sent with it.
 * There are at most as many as requests in flight.
 */
export function createUnderWay(): UnderWay {
  const byName = new Map<string, DecisionsUnderWay>()
  const add = (name: string, placement: Promise<unknown>): void => {
    const known = byName.get(name)
    if (known !== undefined) known.placements.add(placement)
    else byName.set(name, { placements: new Set([placement]), waiting: new Map() })
  }
  const remove = (name: string, placement: Promise<unknown>): void => {
    const known = byName.get(name)
    known?.placements.delete(placement)
    if (known?.placements.size === 0) byName.delete(name)
  }
  const waitFor = (name: string, market = ''): PlacementWait => {
    const known = byName.get(name)
    if (known === undefined) return undefined
    const { placements, waiting } = known
    const count = (): number => waiting.get(market) ?? 0
    if (count() >= MAX_WAITING) return 'too_many'
    waiting.set(market, count() + 1)
    return Promise.allSettled(placements).finally(() => waiting.set(market, count() - 1))
  }
  return {
    during:
      (decide) =>
      async (body, ...rest) => {
        const decided = decide(body, ...rest)
        const names = namesOf(body)
        for (const name of names) add(name, decided)
        try {
          return await decided
        } finally {
          for (const name of names) remove(name, decided)
        }
      },
    waitForNonce: (owner, nonce) => waitFor(nonceName(owner, nonce)),
    waitForId: (owner, orderId, market) => waitFor(idName(owner, orderId), market),
  }
}

const nonceName = (owner: Address, nonce: bigint): string => `${owner} nonce ${nonce}`
const idName = (owner: Address, orderId: string): string => `${owner} id ${orderId}`

/** What a cancel would name the order of this placement by. */
function namesOf(body: unknown): string[] {
  const fields = asJsonObject(body)
  const owner = parseAddress(fields?.owner_address)
  const nonce = parseInteger(fields?.nonce)
  const orderId = fields?.order_id
  if (owner === undefined || nonce === undefined) return []
  const name = nonceName(owner, nonce)
  return typeof orderId === 'string' ? [name, idName(owner, orderId)] : [name]
}
