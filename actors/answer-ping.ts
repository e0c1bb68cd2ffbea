import type { Bus, Subscription } from '../bus-schemas/bus.js'
import { encodePingAnswer } from '../bus-schemas/ping.js'
import type { PingAnswer } from '../bus-schemas/ping.js'
import { askPing } from '../bus-schemas/subjects.js'

/** How a process stands, without its name. */
export type Standing = Omit<PingAnswer, 'process'>

/** Answers this process's pings with what `standing` says at that moment; not ready when that cannot be said. */
export function answerPing(
  bus: Bus,
  process: string,
  standing: () => Standing | Promise<Standing>,
): Promise<Subscription> {
  const answer = async (replyTo: string) => {
    const current = await standing()
    bus.reply(replyTo, encodePingAnswer({ process, ...current }))
  }
  return bus.answer(askPing(process), process, (_, replyTo) => {
    answer(replyTo).catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error)
      bus.reply(replyTo, encodePingAnswer({ process, ready: false, detail, positions: {} }))
    })
  })
}
