import { randomUUID } from 'node:crypto'
import { decodeMarketAnswer, encodeMarketRequest } from '../../bus-schemas/markets.js'
import { askMarket } from '../../bus-schemas/subjects.js'
import { marketsIn, readRegister } from '../../runtime/bus/market-register.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import type { BusPlace } from '../../runtime/bus/nats-access.js'
import type { CalendarVenue } from './keep-calendar.js'

const ANSWER_WITHIN_MS = 5_000

/** What the venue on this bus has registered, and how its markets stand. */
export interface RegisteredMarkets extends Pick<CalendarVenue, 'markets' | 'isEnabled'> {
  readonly close: () => Promise<void>
}

/** Connects when it is first asked. Both questions throw BusUnavailable, and `isEnabled` NoAnswer without a matcher. */
export function registeredMarkets(place: BusPlace): RegisteredMarkets {
  let connecting: ReturnType<typeof connectNatsBus> | undefined
  const connected = () =>
    (connecting ??= connectNatsBus({ ...place, name: 'feeder', user: 'operator' }))
  return {
    markets: async () => marketsIn(await readRegister(await connected())),
    async isEnabled(market) {
      const request = {
        request_id: randomUUID(),
        by: 'feeder',
        reason: '',
        change: { kind: 'show' },
      } as const
      const bus = await connected()
      const data = await bus.ask(askMarket(market), encodeMarketRequest(request), ANSWER_WITHIN_MS)
      const answer = decodeMarketAnswer(data)
      if (answer.kind === 'refused') throw new Error(answer.message)
      return answer.terms.enabled
    },
    async close() {
      await (await connecting)?.close()
    },
  }
}
