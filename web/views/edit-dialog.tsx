import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { editGuards } from '../select/edit-plan.js'
import { parseInput } from '../select/format.js'
import { GUARD_WORDS } from '../select/ticket-words.js'
import type { MarketState } from '../state/market-state.js'
import { isDecimalComma, type Views } from '../state/views.js'
import { Modal } from './modal.js'
import { usePage } from './page.js'

interface EditParts {
  readonly orderId: string
  /** The price that it was moved to; undefined: its own. */
  readonly to: string | undefined
}

/** Another price or size of an open order. Less at the same price keeps the place in the queue. */
export function EditDialog({ orderId, to }: EditParts): JSX.Element {
  const { terminal, views, changing } = usePage()
  const row = views.open.value.find(({ id }) => id === orderId)
  const shownPrice = row?.price.replaceAll(',', '') ?? ''
  const price = useSignal(to ?? shownPrice)
  const shownSize = row?.size.replaceAll(',', '') ?? ''
  const size = useSignal(shownSize)
  const said = useSignal('')
  if (row === undefined)
    return (
      <Modal title="Edit the order">
        <p>The order is not open any more.</p>
      </Modal>
    )
  const market = terminal.market.value
  // The row rounds both: what was not touched stays as it was signed.
  const typed = (text: string, shown: string): bigint | undefined =>
    text === shown ? undefined : (parseInput(text, isDecimalComma) ?? 0n)
  const edit = {
    priceE18: typed(price.value, shownPrice),
    sizeE18: typed(size.value, shownSize),
  }
  const isNone =
    edit.priceE18 === 0n || edit.sizeE18 === 0n || (edit.priceE18 ?? edit.sizeE18) === undefined
  const [first] =
    isNone || market?.name !== row.market
      ? []
      : editGuards(row.record, edit, editSetting(market, views))
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isNone) return void (said.value = 'Enter another price or size, above 0.')
    if (first?.level === 'block') return void (said.value = GUARD_WORDS[first.code])
    terminal.dialog.value = undefined
    void changing.edit(row.record, edit)
  }
  return (
    <Modal title={`Edit: ${row.sideWords}`}>
      <form onSubmit={submit}>
        <label class="field">
          <span>New price</span>
          <input
            inputMode="decimal"
            value={price.value}
            onInput={(event) => (price.value = event.currentTarget.value)}
          />
          <span class="unit">{row.priceUnit}</span>
        </label>
        <label class="field">
          <span>New size in all</span>
          <input
            inputMode="decimal"
            value={size.value}
            onInput={(event) => (size.value = event.currentTarget.value)}
          />
          <span class="unit">{row.sizeUnit}</span>
        </label>
        <p class="quiet">
          Less at the same price keeps the place in the queue; another price or more takes a new
          place.
        </p>
        {first !== undefined && <p class="warn-words">{GUARD_WORDS[first.code]}</p>}
        <button type="submit" class="main">
          Change the order
        </button>
        <p class="said" role="alert">
          {said.value}
        </p>
      </form>
    </Modal>
  )
}

/** What an edit of an order of the open market stands in. */
export const editSetting = (market: MarketState, { isLive }: Pick<Views, 'isLive'>) => ({
  entry: market.entry.value,
  terms: market.terms,
  book: (isLive.value ? market.book.value : undefined) ?? { bids: [], asks: [] },
  isLive: isLive.value,
})
