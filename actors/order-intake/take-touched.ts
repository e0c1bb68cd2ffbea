import { tellTouched } from '../../bus-schemas/subjects.js'
import { decodeTouched } from '../../bus-schemas/touched-accounts.js'
import type { TouchedBlocks } from '../../core/touched-accounts.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'

/** Takes what the chain reader tells of the newest blocks. */
export const takeTouched = (
  bus: Pick<Bus, 'answer' | 'reply'>,
  queue: string,
  touched: Pick<TouchedBlocks, 'take'> | undefined,
): Promise<Subscription> =>
  bus.answer(tellTouched, queue, (data, replyTo) => {
    touched?.take(decodeTouched(data))
    bus.reply(replyTo, new Uint8Array())
  })
