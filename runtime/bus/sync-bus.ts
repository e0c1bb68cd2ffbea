import { BusUnavailable } from './bus.js'

/** What a restore says to the program that runs it beside a bus of its own, and hears from it. */
export const SYNC_BUS = 'sync-bus'
/** At once: it is the program that does so. */
export const BUS_SYNCS = 'bus-syncs'
export const BUS_SYNCED = 'bus-synced'

/** Another program that has started this one, such as a task runner, says nothing. */
const SAID_WITHIN_MS = 15_000

/** The end of a channel to the program that started this one. */
export type ParentChannel = Pick<NodeJS.Process, 'send' | 'on' | 'off'>

/**
 * Has the bus stopped, its store synced, and the bus started again with a sync for each write, by the program that started this one
 * beside it. False where there is none: the bus is another's. Throws BusUnavailable when that fails.
 */
export async function syncBus(
  parent: ParentChannel = process,
  saidWithinMs = SAID_WITHIN_MS,
): Promise<boolean> {
  const send = parent.send?.bind(parent)
  if (send === undefined) return false
  return new Promise<boolean>((resolve, reject) => {
    let hasSaid = false
    const timer = setTimeout(() => end(() => resolve(false)), saidWithinMs)
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      parent.off('message', hear)
      parent.off('disconnect', lose)
      settle()
    }
    const hear = (message: unknown): void => {
      if (message === BUS_SYNCED) return end(() => resolve(true))
      if (message !== BUS_SYNCS) return
      hasSaid = true
      clearTimeout(timer)
    }
    const lose = (): void =>
      end(() => {
        if (!hasSaid) return resolve(false)
        reject(new BusUnavailable('the bus was not started again after its store was synced'))
      })
    parent.on('message', hear)
    parent.on('disconnect', lose)
    send(SYNC_BUS)
  })
}
