import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Signal } from '@preact/signals'
import type { Changing } from '../act/change.js'
import type { DeadMan } from '../act/dead-man.js'
import type { DemoAccount } from '../act/demo-account.js'
import type { Placing } from '../act/place.js'
import type { Transfers } from '../act/transfer.js'
import type { Wallets } from '../act/wallets.js'
import type { Foresight } from '../state/foresight.js'
import type { Terminal } from '../state/terminal.js'
import type { Views } from '../state/views.js'

/** How much room there is: from 1200 pixels on, from 700 on, below. */
export type Room = 'wide' | 'middle' | 'narrow'

/** What every view may use. */
export interface Page {
  readonly terminal: Terminal
  readonly views: Views
  readonly placing: Placing
  readonly changing: Changing
  readonly transfers: Transfers
  readonly foresight: Foresight
  readonly demo: DemoAccount | undefined
  readonly room: Signal<Room>
  /** Whether the ticket stands over the page, where there is no room beside. */
  readonly isTicketOpen: Signal<boolean>
  /** Whether the list of open orders has those of the open market alone. */
  readonly isOnlyHere: Signal<boolean>
  /** Ids of open orders that are marked to be cancelled; some may have ended since. */
  readonly marked: Signal<ReadonlySet<string>>
  readonly deadMan: DeadMan
  readonly wallets: Wallets
}

export const PageContext = createContext<Page | undefined>(undefined)

/** Throws outside of the page. */
export function usePage(): Page {
  const page = useContext(PageContext)
  if (page === undefined) throw new Error('a view stands outside of the page')
  return page
}
