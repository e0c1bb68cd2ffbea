import { useSignal } from '@preact/signals'
import type { JSX, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useEffect } from 'preact/hooks'
import { drawnText, editGuards, pricedAt, steppedText } from '../select/edit-plan.js'
import { formatE18, noDecimalComma, parseInput } from '../select/format.js'
import { toDrawn } from '../select/numbers.js'
import type { OwnOrderRow } from '../select/order-row.js'
import type { MarketState } from '../state/market-state.js'
import type { ChartCanvas } from './draw-chart.js'
import { editSetting } from './edit-dialog.js'
import { usePage, type ViewContext } from './page.js'

/** An order on its way to another price, which is not sent before it is dropped there and confirmed. */
interface MovedOrder {
  readonly id: string
  /** As the input of a price takes it. */
  readonly price: string
}

/** So many pixels a press may move without being meant as a drag. */
const SLIP_PX = 3
/** More would hide the chart: those are the newest. */
const GRIPS = 30

/**
 * The grips of the lines of own orders: a drag shows the new price and, once dropped, asks as an edit does. Arrows up and down move it by
 * a basis point, with Shift by ten; Enter drops it, and Escape leaves it where it was. Arrows left and right go to another order.
 */
export function Grips({ chart }: { readonly chart: ChartCanvas }): JSX.Element | null {
  const page = usePage()
  const market = page.terminal.market.value
  const moved = useSignal<MovedOrder | undefined>(undefined)
  const heights = useSignal('')
  // A scale that moves moves the grips: they are drawn again when one of them lies elsewhere.
  useEffect(() => {
    const look = (): void => {
      const rows = page.views.openHere.peek().slice(0, GRIPS)
      const now = page.terminal.market.peek()
      if (now !== undefined)
        heights.value = rows.map((row) => Math.round(heightOf(chart, now, row) ?? -1)).join()
    }
    look()
    return chart.onDrawn(look)
  }, [chart])
  void heights.value
  if (market === undefined) return null
  const rows = page.views.openHere.value.slice(0, GRIPS)
  const seen = new Map<string, number>()
  return (
    <div class="grips" role="group" aria-label="Lines of own orders">
      {rows.map((row, at) => {
        const beside = seen.get(row.price) ?? 0
        seen.set(row.price, beside + 1)
        return (
          <Grip
            key={row.id}
            chart={chart}
            market={market}
            row={row}
            moved={moved}
            beside={beside}
            isFirst={at === 0}
          />
        )
      })}
    </div>
  )
}

interface GripParts {
  readonly chart: ChartCanvas
  readonly market: MarketState
  readonly row: OwnOrderRow
  readonly moved: { value: MovedOrder | undefined }
  /** How many grips of the same price stand before it. */
  readonly beside: number
  readonly isFirst: boolean
}

function Grip({ chart, market, row, moved, beside, isFirst }: GripParts): JSX.Element | null {
  const page = usePage()
  // An order that has ended was dropped nowhere, also should it rest again.
  useEffect(
    () => () => {
      if (moved.value?.id === row.id) moved.value = undefined
    },
    [],
  )
  const { ui_price_decimals: decimals } = market.entry.value
  const mine = moved.value?.id === row.id ? moved.value : undefined
  const shownE18 =
    (mine && parseInput(mine.price, noDecimalComma)) ?? pricedAt(market.terms, row.record)
  const top = chart.yOf(toDrawn(shownE18))
  if (top === undefined) return null
  const move = (price: string | undefined): void => {
    if (price !== undefined) moved.value = { id: row.id, price }
  }
  const drop = (): void => {
    moved.value = undefined
    if (mine !== undefined) dropAt(page, market, row, mine.price)
  }
  const leave = (grip: HTMLElement): void => {
    grip.onpointermove = null
    moved.value = undefined
  }
  const onPointerDown = (event: TargetedPointerEvent<HTMLButtonElement>): void => {
    // A finger scrolls the page: it has the dialog of an edit.
    if (event.button !== 0 || event.pointerType === 'touch') return
    const grip = event.currentTarget
    const above = grip.parentElement?.getBoundingClientRect().top ?? 0
    const startY = event.clientY
    grip.setPointerCapture(event.pointerId)
    grip.onpointermove = ({ clientY }) => {
      const isMeant = moved.value !== undefined || Math.abs(clientY - startY) > SLIP_PX
      if (isMeant) move(drawnText(chart.priceAt(clientY - above), decimals))
    }
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLButtonElement>): void => {
    const { key, currentTarget: grip } = event
    const by = key === 'ArrowUp' ? 1 : key === 'ArrowDown' ? -1 : undefined
    const aside =
      key === 'ArrowLeft'
        ? grip.previousElementSibling
        : key === 'ArrowRight'
          ? grip.nextElementSibling
          : null
    if (by !== undefined) move(steppedText(shownE18, event.shiftKey ? by * 10 : by, decimals))
    else if (key === 'Enter') drop()
    else if (key === 'Escape' && mine !== undefined) leave(grip)
    else if (aside instanceof HTMLElement) aside.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <button
      type="button"
      class={mine === undefined ? `grip ${row.side}` : `grip ${row.side} moved`}
      style={{ top: `${top}px`, left: `${8 + beside * 26}px` }}
      tabIndex={isFirst ? 0 : -1}
      title="Drag it to another price"
      aria-label={`Move ${row.sideWords} ${row.size} from ${row.price}: arrows up and down, then Enter`}
      onPointerDown={onPointerDown}
      onPointerUp={(event) => {
        event.currentTarget.onpointermove = null
        drop()
      }}
      onPointerCancel={(event) => leave(event.currentTarget)}
      onKeyDown={onKeyDown}
      onBlur={(event) => leave(event.currentTarget)}
    >
      ⇕{mine !== undefined && ` ${formatE18(shownE18, decimals)}`}
    </button>
  )
}

const heightOf = (
  chart: ChartCanvas,
  { terms }: MarketState,
  { record }: OwnOrderRow,
): number | undefined => chart.yOf(toDrawn(pricedAt(terms, record)))

/** Asks before the order is replaced, unless that is switched off and nothing speaks against it. */
function dropAt(
  { terminal, views, changing }: ViewContext,
  market: MarketState,
  { id, record, price: shown }: OwnOrderRow,
  price: string,
): void {
  if (price === shown.replaceAll(',', '')) return
  const edit = { priceE18: parseInput(price, noDecimalComma), sizeE18: undefined }
  const isAsked =
    terminal.prefs.prefs.value.confirms ||
    editGuards(record, edit, editSetting(market, views)).length > 0
  if (isAsked) terminal.dialog.value = { name: 'edit', orderId: id, price }
  else void changing.edit(record, edit)
}
