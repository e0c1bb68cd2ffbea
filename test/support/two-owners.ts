import type { Change } from '../../core/model/change.js'
import { addressOf, alicesKey, bobsKey } from './auth-frames.js'
import { busyHistory } from './random-history.js'

export const alice = addressOf(alicesKey)
export const bob = addressOf(bobsKey)

/** A lively history in which about half of the orders are Alice's and the others Bob's. */
export function historyOfTwo(rounds: number): Change[] {
  return busyHistory(rounds).map((change) => {
    const owner = isAlices(change.orderId) ? alice : bob
    return change.kind === 'OrderPlaced'
      ? { ...change, owner, order: { ...change.order, owner } }
      : { ...change, owner }
  })
}

/** Not simply every other order: makers and takers are to be of both. */
const isAlices = (orderId: string): boolean => Number(orderId.replace(/\D/g, '')) % 3 === 0
