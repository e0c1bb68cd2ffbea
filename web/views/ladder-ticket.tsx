import type { JSX } from 'preact'
import type { MarketEntry } from '../../client/index.js'
import { ladderLines, MOST_RUNGS } from '../select/ladder.js'
import { GUARD_WORDS } from '../select/ticket-words.js'
import type { MarketState } from '../state/market-state.js'
import { Field } from './field.js'
import { usePage } from './page.js'

/** What the ticket has in the place of a price for a ladder: the prices of both ends, and how many orders it has. */
export function LadderPrices({ entry }: { readonly entry: MarketEntry }): JSX.Element {
  const { terminal } = usePage()
  const { price, last, count } = terminal.ticket.value
  const unit = entry.ui_price_unit
  return (
    <>
      <Field label="First price" unit={unit} value={price} name="price" />
      <Field label="Last price" unit={unit} value={last} name="last" />
      <Field label={`Orders, 2 to ${MOST_RUNGS}`} unit="" value={count} name="count" />
      {terminal.own.value?.trader.isSilent === false && (
        <p class="quiet hint">Each order is signed: enable trading without prompts first.</p>
      )}
    </>
  )
}

/** What stands in the way of a ladder, in words. */
export function LadderGuards(): JSX.Element | null {
  const ladder = usePage().views.ladder.value
  if (typeof ladder === 'string' || ladder.guards.length === 0) return null
  return (
    <ul class="guards">
      {ladder.guards.map(({ code, level }) => (
        <li key={code} class={level}>
          {GUARD_WORDS[code]}
        </li>
      ))}
    </ul>
  )
}

export function LadderReceipt({ market }: { readonly market: MarketState }): JSX.Element | null {
  const ladder = usePage().views.ladder.value
  if (typeof ladder === 'string') return null
  return (
    <dl class="receipt">
      {ladderLines(market.entry.value, market.terms, ladder).map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
