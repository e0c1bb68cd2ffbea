import { setTimeout as delay } from 'node:timers/promises'
import type { OrderRecord } from '../client/index.js'
import { ToolRefused } from './tool.js'

/** Orders that are sent and of which the venue has not said yet what became of them. Bounded by the calls under way. */
export interface SentOrders {
  /** Sends an order. Throws what `send` throws, and ToolRefused once the program stops: nothing is sent then. */
  track(orderId: string, send: () => Promise<OrderRecord>): Promise<OrderRecord>
  /**
   * From now on nothing is sent. Resolves when all that was sent is answered, or after so long; says of each order that it waits for,
   * what became of it, and at the end which have no answer: no client may be left to hear it.
   */
  settle(withinMs: number): Promise<void>
}

export function createSentOrders(say: (words: string) => void): SentOrders {
  const underWay = new Map<string, Promise<unknown>>()
  let isStopping = false

  async function tell(orderId: string, sending: Promise<OrderRecord>): Promise<void> {
    try {
      const { status } = await sending
      if (isStopping) say(`order ${orderId} is ${status}`)
    } catch (error) {
      if (isStopping) say(`order ${orderId}: ${error instanceof Error ? error.message : 'failed'}`)
    } finally {
      underWay.delete(orderId)
    }
  }

  return {
    track(orderId, send) {
      if (isStopping)
        throw new ToolRefused('stopping', 'this program stops', 'Place the order after its start.')
      const sending = send()
      underWay.set(orderId, tell(orderId, sending))
      return sending
    },
    async settle(withinMs) {
      isStopping = true
      if (underWay.size === 0) return
      say(`stops, and waits for the answer to ${[...underWay.keys()].join(', ')}`)
      const ended = new AbortController()
      const late = delay(withinMs, undefined, { signal: ended.signal }).catch(() => undefined)
      await Promise.race([Promise.all(underWay.values()), late])
      ended.abort()
      for (const orderId of underWay.keys())
        say(`order ${orderId} has no answer: it may be placed. Look it up by this id`)
    },
  }
}
