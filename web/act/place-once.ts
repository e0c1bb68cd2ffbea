import { signal, type ReadonlySignal } from '@preact/signals'
import {
  OutcomeUnknown,
  VenueRefused,
  type NewOrder,
  type OrderRecord,
  type RestClient,
} from '../../client/index.js'

/** One press, one order: what keeps a double click, a held key and a repeat after silence from placing two. */

/** A lock that the press itself closes, before anything is awaited or drawn. */
export interface PressLock {
  readonly isBusy: ReadonlySignal<boolean>
  /** Runs an action unless one runs. */
  run(action: () => Promise<void>): Promise<void>
}

export function createLock(): PressLock {
  const isBusy = signal(false)
  return {
    isBusy,
    async run(action) {
      if (isBusy.value) return
      isBusy.value = true
      try {
        await action()
      } finally {
        isBusy.value = false
      }
    },
  }
}

export interface SinglePlacement {
  /** The order of which no answer has come; undefined without one. What draws it is told when it changes. */
  unanswered(): NewOrder | undefined
  /** The ticket has changed: the next order is another one. */
  forget(): void
  /** Sends an order. Without an answer it is kept, and the next press sends the same bytes. Throws as `placeOrder` does. */
  place(order: NewOrder): Promise<OrderRecord>
}

export function createPlacement(venue: Pick<RestClient, 'placeOrder'>): SinglePlacement {
  const kept = signal<NewOrder | undefined>(undefined)
  return {
    unanswered: () => kept.value,
    forget: () => void (kept.value = undefined),
    async place(order) {
      const isAgain = kept.value === order
      kept.value = order
      try {
        const record = await venue.placeOrder(order)
        kept.value = undefined
        return record
      } catch (error) {
        // Any answer settles it, but that it was sent again too soon.
        if (isAgain && error instanceof VenueRefused && error.retry === 'same')
          throw new OutcomeUnknown(error.message, { cause: error })
        if (!(error instanceof OutcomeUnknown)) kept.value = undefined
        throw error
      }
    },
  }
}
