import type { OwnOrderRow } from '../select/order-row.js'
import type { ViewContext } from './page.js'

/** Cancels of many: so many are asked about, where the user has not switched that off. */
const ASKED_FROM = 5

/** Cancels all of the open market; many are asked about. */
export function cancelHere({ terminal, views, changing }: ViewContext): void {
  const name = terminal.market.value?.name
  const count = views.openHere.value.length
  if (name === undefined || count === 0) return
  if (terminal.prefs.prefs.value.confirms && count > ASKED_FROM)
    terminal.dialog.value = { name: 'cancel-all' }
  else void changing.cancelMarket(name)
}

/** Most orders that one signature cancels. */
export const MARKED_MOST = 200

/** The orders that are marked and still open. */
export const markedOpen = ({ views, marked }: ViewContext): readonly OwnOrderRow[] =>
  views.open.value.filter(({ id }) => marked.value.has(id))

/** Asks, or cancels at once where the marked are few. */
export function askCancelMarked(page: ViewContext): void {
  const { terminal } = page
  if (terminal.prefs.prefs.value.confirms && markedOpen(page).length > ASKED_FROM)
    terminal.dialog.value = { name: 'cancel-marked' }
  else cancelMarked(page)
}

export function cancelMarked(page: ViewContext): void {
  const records = markedOpen(page).map(({ record }) => record)
  page.marked.value = new Set()
  if (records.length > 0) void page.changing.cancelMany(records.slice(0, MARKED_MOST))
}
