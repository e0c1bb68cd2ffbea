import { useComputed, useSignal } from '@preact/signals'
import type { JSX, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { MarketEntry } from '../../client/index.js'
import type { BookRow } from '../select/book-rows.js'
import { formatBps, formatE18 } from '../select/format.js'
import { engineSide } from '../select/market-terms.js'
import { toDrawn } from '../select/numbers.js'
import { plainText, priceText } from '../select/price-text.js'
import { usePage, type ViewContext } from './page.js'
import { rove } from './rove.js'

const ROW_PX = { wide: 21, middle: 23, narrow: 32 } as const
/** Head, spread and borders. */
const AROUND_PX = 62
const LEAST_ROWS = 4

/** The ladder: asks above, bids below, with sums outwards. A click on a price fills in the price, on a sum price and size. */
export function Book(): JSX.Element {
  const page = usePage()
  const { terminal, views, room } = page
  const place = useRef<HTMLDivElement>(null)
  const fits = useSignal(LEAST_ROWS)
  useEffect(() => {
    const look = (): void => {
      const height = place.current?.clientHeight ?? 0
      const rows = Math.floor((height - AROUND_PX) / 2 / ROW_PX[room.value])
      fits.value = Math.max(LEAST_ROWS, rows)
    }
    const observer = new ResizeObserver(look)
    if (place.current !== null) observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  const asks = useComputed(() => views.asks.value.slice(0, fits.value))
  const bids = useComputed(() => views.bids.value.slice(0, fits.value))
  const market = terminal.market.value
  if (market === undefined) return <div class="fill" ref={place} />
  const entry = market.entry.value
  const lowest = asks.value.at(-1)
  const highest = bids.value.at(-1)
  const most = Math.max(
    toDrawn(lowest?.sumE18 ?? 0n),
    toDrawn(highest?.sumE18 ?? 0n),
    Number.MIN_VALUE,
  )
  const isDead = !views.isLive.value
  return (
    <section class="panel book" aria-label="Order book">
      <div class="panel-head">
        <h2>Book</h2>
        <Groups />
      </div>
      <div class="fill" ref={place}>
        <table
          class={isDead ? 'ladder dead' : 'ladder'}
          style={{ '--most': `${most}` }}
          onClick={(event) => onPress(page, event)}
          onKeyDown={(event) => rove(event, 'button')}
          aria-live="off"
          tabIndex={0}
          aria-label="Order book; arrow keys go through its rows"
        >
          <caption class="unseen">
            Asks above, bids below; sums from the best price outwards
          </caption>
          <thead>
            <tr>
              <th scope="col">Price, {entry.ui_price_unit}</th>
              <th scope="col">Size, {entry.base_asset_symbol}</th>
              <th scope="col">Sum</th>
            </tr>
          </thead>
          <tbody class="asks">
            {asks.value.toReversed().map((row) => drawn(row, 'ask', entry))}
          </tbody>
          <tbody>
            <Middle entry={entry} />
          </tbody>
          <tbody class="bids">{bids.value.map((row) => drawn(row, 'bid', entry))}</tbody>
        </table>
        {asks.value.length + bids.value.length === 0 && (
          <p class="quiet pad">{isDead ? 'The feed is lost.' : 'No open orders.'}</p>
        )}
      </div>
    </section>
  )
}

function Groups(): JSX.Element {
  const { views, terminal } = usePage()
  const decimals = terminal.market.value?.entry.value.ui_price_decimals ?? 2
  return (
    <select
      aria-label="Group prices by"
      class="small"
      value={views.groupE18.value.toString()}
      onChange={(event) => (views.groupE18.value = BigInt(event.currentTarget.value))}
    >
      {views.groups.value.map((group) => (
        <option key={group.toString()} value={group.toString()}>
          {group === 0n ? 'every price' : formatE18(group, decimals)}
        </option>
      ))}
    </select>
  )
}

function Middle({ entry }: { readonly entry: MarketEntry }): JSX.Element {
  const spread = usePage().views.spread.value
  return (
    <tr class="middle">
      <td>{spread === undefined ? '–' : formatE18(spread.middleE18, entry.ui_price_decimals)}</td>
      <td colSpan={2}>
        {spread === undefined
          ? 'no spread'
          : `spread ${formatE18(spread.absoluteE18, entry.ui_price_decimals)} (${formatBps(spread.bps).replace('+', '')})`}
      </td>
    </tr>
  )
}

const made = new WeakMap<BookRow, VNode>()

/** A row that is the same object as before is the same node: it is not compared again. */
function drawn(row: BookRow, side: 'bid' | 'ask', entry: MarketEntry): VNode {
  const known = made.get(row)
  if (known !== undefined) return known
  const { ui_price_decimals: price, ui_size_decimals: size } = entry
  const key = row.priceE18.toString()
  const shown = formatE18(row.priceE18, price)
  const sum = formatE18(row.sumE18, size, 'down')
  const node = (
    <tr key={key} class={side} style={{ '--sum': `${toDrawn(row.sumE18)}` }}>
      <td
        class={row.ownE18 > 0n ? 'own' : undefined}
        title={row.ownE18 > 0n ? ownWords(row, entry) : undefined}
      >
        <button type="button" class="cell" data-row={key} data-what="price" tabIndex={-1}>
          {shown}
          {row.ownE18 > 0n && <span class="unseen">{ownWords(row, entry)}</span>}
        </button>
      </td>
      <td>{formatE18(row.sizeE18, size, 'down')}</td>
      <td>
        <button
          type="button"
          class="cell"
          data-row={key}
          data-what="sum"
          tabIndex={-1}
          aria-label={`Take ${sum} up to ${shown}`}
        >
          {sum}
        </button>
      </td>
    </tr>
  )
  made.set(row, node)
  return node
}

/** What is one's own of a row, and what is hit before it. */
function ownWords(
  { ownE18, aheadE18 }: BookRow,
  { ui_size_decimals: decimals, base_asset_symbol: base }: MarketEntry,
): string {
  const own = ` with ${formatE18(ownE18, decimals, 'down')} ${base} of yours`
  return aheadE18 === undefined ? own : `${own}, ${formatE18(aheadE18, decimals)} ${base} ahead`
}

function onPress(
  { terminal, views, placing, room, isTicketOpen }: ViewContext,
  event: Event,
): void {
  const button = (event.target as Element).closest<HTMLElement>('button[data-row]')
  const market = terminal.market.value
  if (button === null || market === undefined || !views.isLive.value) return
  const { row: key, what } = button.dataset
  const isKey = (one: BookRow): boolean => one.priceE18.toString() === key
  const bid = views.bids.value.find(isKey)
  const ask = views.asks.value.find(isKey)
  const row = button.closest('tr')?.classList.contains('ask') === true ? ask : bid
  if (row === undefined) return
  placing.forget()
  const { price, size, side, unit, kind } = terminal.ticket.value
  const entry = market.entry.value
  if (kind.value === 'market') kind.value = 'limit'
  if (what === 'sum') {
    // Who takes the asks buys.
    side.value = row === ask ? 'buy' : 'sell'
    unit.value = 'base'
    size.value = plainText(row.sumE18, entry.ui_size_decimals, 'down')
  }
  const engine = engineSide(market.terms, side.value)
  const level = what === 'sum' ? row.worstEngineE18 : row.bestEngineE18
  price.value = priceText(market.terms, engine, level, entry.ui_price_decimals)
  if (room.value === 'narrow') isTicketOpen.value = true
}
