import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Signal } from '@preact/signals'
import type { OrderChanges } from '../act/change.js'
import type { DeadManSwitch } from '../act/dead-man.js'
import type { DemoAccount } from '../act/demo-account.js'
import type { OrderPlacement } from '../act/place.js'
import type { Transfers } from '../act/transfer.js'
import type { Wallets } from '../act/wallets.js'
import type { TicketForesight } from '../state/foresight.js'
import type { Terminal } from '../state/terminal.js'
import type { Views } from '../state/views.js'

/** How much room there is: from 1200 pixels on, from 700 on, below. */
export type PageWidth = 'wide' | 'middle' | 'narrow'

/** What every view may use. */
export interface ViewContext {
  readonly terminal: Terminal
  readonly views: Views
  readonly placing: OrderPlacement
  readonly changing: OrderChanges
  readonly transfers: Transfers
  readonly foresight: TicketForesight
  readonly demo: DemoAccount | undefined
  readonly room: Signal<PageWidth>
  /** Whether the ticket stands over the page, where there is no room beside. */
  readonly isTicketOpen: Signal<boolean>
  /** Whether the list of open orders has those of the open market alone. */
  readonly isOnlyHere: Signal<boolean>
  /** Ids of open orders that are marked to be cancelled; some may have ended since. */
  readonly marked: Signal<ReadonlySet<string>>
  readonly deadMan: DeadManSwitch
  readonly wallets: Wallets
}

export const PageContext = createContext<ViewContext | undefined>(undefined)

/** Throws outside of the page. */
export function usePage(): ViewContext {
  const page = useContext(PageContext)
  if (page === undefined) throw new Error('a view stands outside of the page')
  return page
}
