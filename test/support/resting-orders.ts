import { commandMessages } from '../../bus-schemas/commands.js'
import { commandsSubject } from '../../bus-schemas/subjects.js'
import { INTAKE_SOURCE } from '../../core/model/command.js'
import type { Market } from '../../core/model/market.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { matcherOrder } from './matching.js'

/** Appends to a market's log so many orders in one message, as the intake does. */
export type PlaceResting = (market: Market, count?: number) => Promise<void>

/** Orders that buy and rest, each of a nonce of its own over all markets. */
export function restingOrders(busOf: () => Pick<Bus, 'append'>): PlaceResting {
  let sourceNo = 0
  return async (market, count = 1) => {
    const commands = Array.from({ length: count }, () => {
      sourceNo += 1
      const order = matcherOrder({
        orderId: `o${sourceNo}`,
        nonce: BigInt(sourceNo),
        side: 'buy',
        goodUntilSec: 4_000_000_000,
        market: market.market,
      })
      const command = { kind: 'PlaceOrder', order } as const
      return { source: INTAKE_SOURCE, sourceNo, atMs: Date.now(), command }
    })
    await busOf().append(commandsSubject(market.market), commandMessages(market).encode(commands))
  }
}
