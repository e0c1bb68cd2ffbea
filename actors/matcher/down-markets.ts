import { setTimeout as delay } from 'node:timers/promises'
import { encodePingAnswer } from '../../bus-schemas/operations.js'
import { askPing } from '../../bus-schemas/subjects.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'

/** Markets whose matcher has ended with what only an operator can change, and stays down. */
export interface DownMarkets {
  /** From now on pings of its matcher are answered with that. */
  readonly add: (market: string) => void
  readonly names: () => Iterable<string>
  /** The same as matchers that are not started. */
  readonly running: () => ReadonlyMap<string, undefined>
  stop(): Promise<void>
}

export interface DownMarketsOptions {
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  readonly standby: boolean
  readonly onError: (error: unknown) => void
}

/** A matcher that leads elsewhere answers first; half of what the gateway waits. */
const ANSWER_AFTER_MS = 500

const WHY = 'its matcher stays down until an operator mends what its log says (exit code 78)'

/** Answers for matchers that cannot. */
export function openDownMarkets({ bus, standby, onError }: DownMarketsOptions): DownMarkets {
  const down = new Map<string, undefined>()
  const answering: Promise<Subscription>[] = []
  let isOver = false
  const answer = (name: string): Promise<Subscription> => {
    const data = encodePingAnswer({ process: name, ready: false, detail: WHY, positions: {} })
    // With the queue of the matchers a question would reach one of both alone.
    return bus.answer(askPing(name), `${name}-down`, (_, replyTo) => {
      void delay(ANSWER_AFTER_MS, undefined, { ref: false }).then(() => {
        // The bus may be closed by now.
        if (!isOver) bus.reply(replyTo, data)
      })
    })
  }
  return {
    add: (market) => {
      down.set(market, undefined)
      const pings = answer(`matcher-${market}${standby ? '-standby' : ''}`)
      pings.catch(onError)
      answering.push(pings)
    },
    names: () => down.keys(),
    running: () => down,
    async stop() {
      isOver = true
      const pings = await Promise.all(answering)
      await Promise.all(pings.map((each) => each.stop()))
    },
  }
}
