import { useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { wordsOf } from '../../client/words-of.js'
import { closePlan, type CloseShare } from '../select/close-plan.js'
import type { PositionRow } from '../select/position-row.js'
import { receiptLines } from '../select/receipt-lines.js'
import { GUARD_WORDS, NO_PLAN_WORDS } from '../select/ticket-words.js'
import { refill } from '../state/ticket-state.js'
import type { MarketState } from '../state/market-state.js'
import { Modal } from './modal.js'
import { usePage } from './page.js'

interface CloseParts {
  readonly market: string
  readonly subaccountId: string
}

/** Closes a share of a position, or turns it over: at market within the guard, or at a limit by the ticket. */
export function CloseDialog({ market: name, subaccountId }: CloseParts): JSX.Element {
  const { terminal, views } = usePage()
  const market = terminal.market.value
  const row = views.positions.value.find(
    (one) => one.market === name && one.subaccountId === subaccountId,
  )
  return (
    <Modal title={`Close ${name}`}>
      {market?.name !== name ? (
        <>
          <p>The market has to be open to show at which prices the position closes.</p>
          <button type="button" class="main" onClick={() => terminal.open(name)}>
            Open {name}
          </button>
        </>
      ) : row === undefined ? (
        <p>The position is closed.</p>
      ) : (
        <Closes market={market} row={row} />
      )}
    </Modal>
  )
}

interface ClosesParts {
  readonly market: MarketState
  readonly row: PositionRow
}

function Closes({ market, row }: ClosesParts): JSX.Element {
  const { terminal, views, placing, room, isTicketOpen } = usePage()
  const how = useSignal<CloseShare>(100)
  const said = useSignal('')
  const guardBps = BigInt(terminal.prefs.prefs.value.guardBps)
  const book = views.isLive.value ? market.book.value : undefined
  const terms = { entry: market.entry.value, terms: market.terms }
  const { typed, planned } = closePlan(terms, row, { how: how.value, book, guardBps })
  const first = typeof planned === 'string' ? undefined : planned.guards[0]
  const place = async (): Promise<void> => {
    if (typeof planned === 'string' || first?.level === 'block') return
    said.value = ''
    await placing
      .placePlan(planned, { market, subaccountId: row.subaccountId, typed, livesSec: 600 })
      .then(() => (terminal.dialog.value = undefined))
      .catch((error: unknown) => (said.value = wordsOf(error)))
  }
  const atLimit = (): void => {
    placing.forget()
    refill(terminal.ticket.value, { ...typed, kind: 'limit', force: 'GTC' })
    terminal.dialog.value = undefined
    isTicketOpen.value = room.value === 'narrow'
  }
  return (
    <>
      <p>
        {row.side} {row.size} {row.unit}
      </p>
      <Shares how={how} />
      {typeof planned === 'string' ? (
        <p class="ask">{NO_PLAN_WORDS[planned]}</p>
      ) : (
        <dl class="receipt">
          {receiptLines(market.entry.value, market.terms, planned).map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {first !== undefined && <p class="warn-words">{GUARD_WORDS[first.code]}</p>}
      <button
        type="button"
        class="main"
        disabled={placing.isBusy.value || typeof planned === 'string'}
        onClick={() => void place()}
      >
        {how.value === 'reverse' ? 'Reverse at market' : `Close ${how.value} % at market`}
      </button>
      <button type="button" onClick={atLimit}>
        {how.value === 'reverse' ? 'Reverse at a limit …' : `Close ${how.value} % at a limit …`}
      </button>
      <p class="said" role="alert">
        {said.value}
      </p>
    </>
  )
}

const SHARES: readonly CloseShare[] = [25, 50, 75, 100, 'reverse']

function Shares({ how }: { readonly how: Signal<CloseShare> }): JSX.Element {
  return (
    <div class="chips" role="group" aria-label="How much">
      {SHARES.map((share) => (
        <button
          key={share}
          type="button"
          aria-pressed={how.value === share}
          onClick={() => (how.value = share)}
        >
          {share === 'reverse' ? share : `${share} %`}
        </button>
      ))}
    </div>
  )
}
