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
  const size = useSignal(row?.size.replaceAll(',', '') ?? '')
  const said = useSignal('')
  if (row === undefined)
    return (
      <Modal title="Edit the order">
        <p>The order is not open any more.</p>
      </Modal>
    )
  const market = terminal.market.value
  const guards =
    market?.name !== row.market
      ? []
      : editGuards(row.record, { price: price.value, size: size.value }, editSetting(market, views))
  const [first] = guards
  const submit = (event: Event): void => {
    event.preventDefault()
    const [priceE18, sizeE18] = [price.value, size.value].map((text) =>
      parseInput(text, isDecimalComma),
    )
    if (!priceE18 || !sizeE18) return void (said.value = 'Enter a price and a size above 0.')
    if (first?.level === 'block') return void (said.value = GUARD_WORDS[first.code])
    terminal.dialog.value = undefined
    // The row rounds its price: what was not touched stays as it was signed.
    const isSame = price.value === shownPrice
    void changing.edit(row.record, { priceE18: isSame ? undefined : priceE18, sizeE18 })
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
  isDecimalComma,
})
