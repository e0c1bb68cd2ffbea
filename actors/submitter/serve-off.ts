import type { Bus } from '../../bus-schemas/bus.js'
import type { Running } from '../../bus-schemas/process.js'
import { askTransfer, askTransferRecord } from '../../bus-schemas/subjects.js'
import { encodeTransferAnswer } from '../../bus-schemas/transfer-requests.js'
import { transfersOff } from '../../core/transfer-refusals.js'
import type { TransferKind } from '../../core/transfer.js'
import { answerPing } from '../answer-ping.js'

/** Answers for a submitter that has nothing to submit with: every request is refused, and that is no fault. */
export async function serveOff(bus: Bus, kind: TransferKind, why: string): Promise<Running> {
  const queue = `${kind}-submitter`
  const off = encodeTransferAnswer({ kind: 'refused', refusal: transfersOff(kind) })
  const refuse = (_: Uint8Array, replyTo: string): void => bus.reply(replyTo, off)
  const subscriptions = await Promise.all([
    bus.answer(askTransfer(kind), queue, refuse),
    bus.answer(askTransferRecord(kind), queue, refuse),
    answerPing(bus, queue, () => ({ ready: true, detail: `off: ${why}`, positions: {} })),
  ])
  return {
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()))
    },
  }
}
