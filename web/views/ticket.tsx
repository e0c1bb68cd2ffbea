import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { MarketEntry } from '../../client/index.js'
import { formatE18 } from '../select/format.js'
import { freeWords } from '../select/free-words.js'
import type { TicketGuard } from '../select/guards.js'
import { engineSide } from '../select/market-terms.js'
import type { LadderPlan, NoLadderPlan } from '../select/ladder.js'
import type { NoTicketPlan, TicketPlan } from '../select/planned.js'
import { plainText, priceText } from '../select/price-text.js'
import type { BookRow } from '../select/book-rows.js'
import { receiptLines, type ReceiptLine } from '../select/receipt-lines.js'
import { marginLines } from '../select/margin-lines.js'
import {
  GUARD_WORDS,
  NO_LADDER_WORDS,
  NO_PLAN_WORDS,
  receiptWords,
} from '../select/ticket-words.js'
import { sideWords } from '../select/side-words.js'
import type { MarketState } from '../state/market-state.js'
import { GUARDS_BPS } from '../state/prefs.js'
import { LIVES } from '../state/ticket-state.js'
import { leastText, nearestText, type NearestText } from '../select/nearest-text.js'
import { Field } from './field.js'
import { LadderGuards, LadderPrices, LadderReceipt } from './ladder-ticket.js'
import { usePage, type ViewContext } from './page.js'
import { momentOf } from './time.js'

const PERCENTS = [25, 50, 75, 100] as const

/** The order ticket: what is given at most and received at least is said before it is signed, from the terms that are signed. */
export function Ticket(): JSX.Element {
  const page = usePage()
  const { terminal, placing } = page
  const market = terminal.market.value
  if (market === undefined) return <section class="panel ticket" aria-label="Order" />
  const entry = market.entry.value
  const isLadder = terminal.ticket.value.kind.value === 'ladder'
  const submit = (event: Event): void => {
    event.preventDefault()
    void placing.press()
  }
  return (
    <section class="panel ticket" aria-label="Order">
      <form
        onSubmit={submit}
        // A key that is held asks and answers in one: it is one press.
        onKeyDown={(event) => event.key === 'Enter' && event.repeat && event.preventDefault()}
        onInput={() => placing.forget()}
        onChange={() => placing.forget()}
      >
        <Sides entry={entry} />
        <Kinds />
        {isLadder ? <LadderPrices entry={entry} /> : <Price market={market} />}
        <Size market={market} />
        <Options isMargined={market.terms.isMargined} />
        {isLadder ? <LadderGuards /> : <Guards market={market} />}
        <Submit market={market} />
        {isLadder ? <LadderReceipt market={market} /> : <Receipt market={market} />}
        <AccountChoice market={market} />
      </form>
    </section>
  )
}

function Sides({ entry }: { readonly entry: MarketEntry }): JSX.Element {
  const { terminal, placing } = usePage()
  const { side } = terminal.ticket.value
  return (
    <div class="sides" role="group" aria-label="Side">
      {(['buy', 'sell'] as const).map((one) => (
        <button
          key={one}
          type="button"
          class={one}
          aria-pressed={side.value === one}
          onClick={() => {
            side.value = one
            placing.forget()
          }}
        >
          {sideWords(entry, one)}
        </button>
      ))}
    </div>
  )
}

function Kinds(): JSX.Element {
  const { terminal, placing } = usePage()
  const { kind } = terminal.ticket.value
  return (
    <div class="tabs" role="group" aria-label="Kind of order">
      {(['limit', 'market', 'ladder'] as const).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={kind.value === one}
          onClick={() => {
            kind.value = one
            placing.forget()
          }}
        >
          {one}
        </button>
      ))}
    </div>
  )
}

function Price({ market }: { readonly market: MarketState }): JSX.Element {
  const { terminal, views, placing } = usePage()
  const { kind, price } = terminal.ticket.value
  const entry = market.entry.value
  if (kind.value === 'market') return <GuardChoice />
  const { side } = terminal.ticket.value
  const fill = (text: string) => () => {
    if (!views.isLive.value) return
    price.value = text
    placing.forget()
  }
  const ofRow = (row: BookRow | undefined): string | undefined => {
    const engine = engineSide(market.terms, side.value)
    return row && priceText(market.terms, engine, row.bestEngineE18, entry.ui_price_decimals)
  }
  const middle = views.spread.value?.middleE18
  const prices = [
    ['bid', ofRow(views.bids.value[0])],
    [
      'mid',
      middle === undefined ? undefined : plainText(middle, entry.ui_price_decimals, 'nearest'),
    ],
    ['ask', ofRow(views.asks.value[0])],
  ] as const
  return (
    <div>
      <Field label="Price" unit={entry.ui_price_unit} value={price} name="price" />
      <div class="chips" role="group" aria-label="Prices of the book">
        {prices.map(([name, text]) => (
          <button
            key={name}
            type="button"
            disabled={text === undefined}
            onClick={text === undefined ? undefined : fill(text)}
          >
            {name}
          </button>
        ))}
      </div>
    </div>
  )
}

/** How far from the best price a market order may go. */
export function GuardChoice(): JSX.Element {
  const { prefs, set } = usePage().terminal.prefs
  return (
    <label class="field">
      <span>Price guard of market orders</span>
      <select
        value={prefs.value.guardBps}
        onChange={(event) => set({ guardBps: Number(event.currentTarget.value) })}
      >
        {GUARDS_BPS.map((bps) => (
          <option key={bps} value={bps}>
            {`at most ${formatE18(BigInt(bps) * 10n ** 16n, 2)} % beyond the best price`}
          </option>
        ))}
      </select>
    </label>
  )
}

function Size({ market }: { readonly market: MarketState }): JSX.Element {
  const page = usePage()
  const { terminal, placing, views } = page
  const { size, unit, side } = terminal.ticket.value
  const free = freeWords(market.entry.value, market.terms, views.free.value, side.value)
  const { base_asset_symbol: base, quote_asset_symbol: quote } = market.entry.value
  const change = (): void => {
    unit.value = unit.value === 'base' ? 'quote' : 'base'
    placing.forget()
  }
  const [shown, other] = unit.value === 'base' ? [base, quote] : [quote, base]
  return (
    <div>
      <div class="with-unit">
        <Field label="Size" unit="" value={size} name="size" />
        <button type="button" class="unit-choice" title={`Size in ${other}`} onClick={change}>
          {shown}
        </button>
      </div>
      {free !== undefined && <p class="quiet hint">Free: {free}</p>}
      <div class="chips" role="group" aria-label="Share of what is free">
        {PERCENTS.map((percent) => (
          <button key={percent} type="button" onClick={() => fillShare(page, percent)}>
            {percent} %
          </button>
        ))}
      </div>
    </div>
  )
}

/** Fills in so many per cent of what is free, or of the position where the order may only reduce it. */
export function fillShare({ terminal, views, placing }: ViewContext, percent: number): void {
  const market = terminal.market.value
  if (market === undefined) return
  const share = views.share(BigInt(percent))
  if (share === undefined) return
  const { size, unit } = terminal.ticket.value
  placing.forget()
  unit.value = 'base'
  size.value = plainText(share, market.entry.value.ui_size_decimals, 'down')
}

function Options({ isMargined }: { readonly isMargined: boolean }): JSX.Element {
  const { terminal } = usePage()
  const { kind, force, livesSec, post, reduceOnly } = terminal.ticket.value
  const isLimit = kind.value === 'limit'
  const rests = kind.value === 'ladder' || (isLimit && force.value === 'GTC')
  const chosen = !isLimit || force.value === 'GTC' ? `GTC ${livesSec.value}` : force.value
  const choose = (value: string): void => {
    const [name, seconds] = value.split(' ')
    force.value = name === 'IOC' || name === 'FOK' ? name : 'GTC'
    if (seconds !== undefined) livesSec.value = Number(seconds)
  }
  return (
    <div class="options">
      {kind.value !== 'market' && (
        <label class="field">
          <span>Time in force</span>
          <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
            {LIVES.map(([words, seconds]) => (
              <option key={seconds} value={`GTC ${seconds}`}>
                {`rests for ${words}`}
              </option>
            ))}
            {isLimit && <option value="IOC">IOC: now, or cancelled</option>}
            {isLimit && <option value="FOK">FOK: whole now, or not</option>}
          </select>
        </label>
      )}
      {rests && (
        <label class="field">
          <span>Post-only</span>
          <select
            value={post.value}
            onChange={(event) => (post.value = event.currentTarget.value as typeof post.value)}
          >
            <option value="off">off: it may take</option>
            <option value="reject">refuse it where it would take</option>
            <option value="slide">slide it behind the best price</option>
          </select>
        </label>
      )}
      {isMargined && (
        <label class="check">
          <input
            type="checkbox"
            name="reduce_only"
            checked={reduceOnly.value}
            onChange={(event) => (reduceOnly.value = event.currentTarget.checked)}
          />
          Only reduce a position
        </label>
      )}
    </div>
  )
}

/** What stands in the way or is to be known, in words, with the nearest value that passes as a button. */
function Guards({ market }: { readonly market: MarketState }): JSX.Element | null {
  const { views } = usePage()
  const planned = views.planned.value
  if (typeof planned === 'string' || planned.guards.length === 0) return null
  return (
    <ul class="guards">
      {planned.guards.map((guard) => (
        <li key={guard.code} class={guard.level}>
          {GUARD_WORDS[guard.code]} <Nearest guard={guard} market={market} planned={planned} />
        </li>
      ))}
    </ul>
  )
}

interface NearestParts {
  readonly guard: TicketGuard
  readonly market: MarketState
  readonly planned: TicketPlan
}

function Nearest({ guard, market, planned }: NearestParts): JSX.Element | null {
  const near = nearestText(market.entry.value, market.terms, planned.plan, guard)
  return near === undefined ? null : <Fill near={near} />
}

/** The least of the market, where a size is below it. */
function Least({ market }: { readonly market: MarketState }): JSX.Element | null {
  const text = leastText(market.entry.value, market.terms)
  if (usePage().views.planned.value !== 'below_step' || text === undefined) return null
  return (
    <p class="hint">
      <Fill near={{ field: 'size', text }} />
    </p>
  )
}

/** Fills in a value that passes. */
function Fill({ near }: { readonly near: NearestText }): JSX.Element {
  const { terminal, placing } = usePage()
  const { price, size, unit } = terminal.ticket.value
  const fill = (): void => {
    placing.forget()
    if (near.field === 'price') price.value = near.text
    else {
      unit.value = 'base'
      size.value = near.text
    }
  }
  return (
    <button type="button" class="link" onClick={fill}>
      {`${near.field} ${near.text}`}
    </button>
  )
}

const ASKED_LABELS: Readonly<Record<string, string>> = {
  no_live_book: 'Place without a live book',
}

const noPlanWords = (planned: TicketPlan | NoTicketPlan): string | undefined =>
  typeof planned === 'string' ? NO_PLAN_WORDS[planned] : undefined

const noLadderWords = (ladder: LadderPlan | NoLadderPlan): string | undefined =>
  typeof ladder === 'string' ? NO_LADDER_WORDS[ladder] : undefined

const firstGuard = (planned: TicketPlan | string): string =>
  typeof planned === 'string' ? '' : (planned.guards[0]?.code ?? '')

function Submit({ market }: { readonly market: MarketState }): JSX.Element {
  const { terminal, views, placing } = usePage()
  const { side, asked, kind } = terminal.ticket.value
  const planned = views.planned.value
  const why = kind.value === 'ladder' ? noLadderWords(views.ladder.value) : noPlanWords(planned)
  const own = terminal.own.value
  const words = sideWords(market.entry.value, side.value)
  const isAsked = asked.value !== '' && placing.said.value !== ''
  const label =
    own === undefined
      ? 'Open an account to trade'
      : placing.isUnanswered.value
        ? 'Send the same order again'
        : isAsked
          ? (ASKED_LABELS[firstGuard(planned)] ?? 'Place anyway')
          : words
  return (
    <div>
      <button
        type="submit"
        class={`main ${side.value}`}
        disabled={placing.isBusy.value}
        aria-busy={placing.isBusy.value}
        // The second click of a double click answers no question: it came before it was read.
        onClick={(event) => event.detail > 1 && event.preventDefault()}
      >
        {placing.isBusy.value ? 'One moment …' : label}
      </button>
      <p class="said" role="alert">
        {placing.said.value}
      </p>
      {own !== undefined && why !== undefined && placing.said.value === '' && (
        <p class="quiet hint">{why}</p>
      )}
      <Least market={market} />
      {terminal.halt.value !== undefined && <p class="warn-words">{terminal.halt.value}</p>}
    </div>
  )
}

function Receipt({ market }: { readonly market: MarketState }): JSX.Element | null {
  const { views, foresight, placing } = usePage()
  const { isShown } = placing.drafts
  useEffect(() => () => void (isShown.value = false), [])
  const planned = views.planned.value
  if (typeof planned === 'string') return null
  const entry = market.entry.value
  const verdict = foresight.verdict.value
  const lines: readonly ReceiptLine[] = [
    ...receiptLines(entry, market.terms, planned),
    ...marginLines(entry, verdict),
  ]
  return (
    <div class="receipt">
      <dl>
        {lines.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {verdict?.valid === false && (
        <p class="warn-words">
          The venue would refuse it: {verdict.refusal?.message ?? verdict.refusal?.error}
        </p>
      )}
      <details onToggle={(event) => (isShown.value = event.currentTarget.open)}>
        <summary>What is signed</summary>
        <p>{receiptWords(entry, planned.plan, planned.receipt)}.</p>
        <p class="quiet">
          {`Engine ${engineSide(market.terms, views.typed.value.side)}, limit ${formatE18(planned.plan.limitE18, 12)} ${entry.engine_price_unit}, amount ${formatE18(planned.plan.amountE18, 6)} ${entry.engine_amount_unit}.`}
        </p>
        <Signed />
      </details>
    </div>
  )
}

/** The digest of what the next press signs, to be held against what a wallet shows. */
function Signed(): JSX.Element | null {
  const { terminal, placing } = usePage()
  const signed = placing.drafts.shown.value
  if (signed === undefined) return null
  const { digest, order } = signed
  const end = new Date(order.expirySec * 1_000).toISOString()
  const lines = [
    ['Digest (EIP-712)', digest],
    ['Nonce', `${order.nonce}`],
    ['Account', order.subaccountId],
    ['Ends', momentOf(end, terminal.prefs.prefs.value.isUtc)],
  ] as const
  return (
    <dl>
      {lines.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="hash">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Which account trades, where the owner has several. */
function AccountChoice({ market }: { readonly market: MarketState }): JSX.Element | null {
  const { terminal } = usePage()
  const own = terminal.own.value
  if (own === undefined) return null
  const mine = own.accounts.value.filter(({ markets }) => markets.includes(market.name))
  const { prefs, set } = terminal.prefs
  const id = terminal.subaccount.value
  if (mine.length < 2) return <p class="quiet hint">{id === undefined ? '' : `Account ${id}`}</p>
  return (
    <label class="field">
      <span>Account</span>
      <select
        value={id}
        onChange={(event) =>
          set({ accounts: { ...prefs.value.accounts, [market.name]: event.currentTarget.value } })
        }
      >
        {mine.map(({ subaccount_id }) => (
          <option key={subaccount_id} value={subaccount_id}>
            {subaccount_id}
          </option>
        ))}
      </select>
    </label>
  )
}
