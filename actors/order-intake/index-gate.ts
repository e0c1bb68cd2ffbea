import { decodeIndexLagQuestion, encodeIndexLagAnswer } from '../../bus-schemas/index-lag.js'
import { askIndexLag } from '../../bus-schemas/subjects.js'
import {
  indexLagAt,
  type IndexLag,
  type IndexLagGate,
  type IndexWatch,
} from '../../core/contracts/index-lag.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'

/** The newest sample of the index and the gate that judges new orders by it. */
export interface IndexGate extends Subscription {
  /** As of this moment; undefined without a gate. */
  readonly lag: (nowMs: number) => IndexLag | undefined
}

/**
 * Answers reports of samples and questions for the gate. The newest sample counts, by the time at which it was taken. It
 * is in memory alone: after a start, the next report counts.
 */
export async function openIndexGate(
  bus: Pick<Bus, 'answer' | 'reply'>,
  queue: string,
  gate: IndexLagGate | undefined,
): Promise<IndexGate> {
  let watch: IndexWatch | undefined = gate && { gate }
  const subscription = await bus.answer(askIndexLag, queue, (data, replyTo) => {
    const { sample } = decodeIndexLagQuestion(data)
    if (watch !== undefined && sample !== undefined && sample.atMs >= (watch.sample?.atMs ?? 0)) {
      watch = { ...watch, sample }
    }
    bus.reply(replyTo, encodeIndexLagAnswer(watch === undefined ? {} : { watch }))
  })
  return {
    lag: (nowMs) => watch && indexLagAt(watch, nowMs),
    stop: () => subscription.stop(),
  }
}
