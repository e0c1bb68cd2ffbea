import type { JSX, VNode } from 'preact'
import type { MarketEntry } from '../../client/index.js'
import { traderPrice, traderSize } from '../select/book-rows.js'
import { formatE18 } from '../select/format.js'
import type { MarketArithmetic } from '../select/market-terms.js'
import { readOrZero } from '../select/numbers.js'
import { traderSide } from '../select/side-words.js'
import type { TapeTrade } from '../state/market-state.js'
import { usePage } from './page.js'
import { clockOf, wholeTime } from './time.js'

/** The tape: settled trades, newest first, each with the transaction that settled it. */
export function Trades(): JSX.Element {
  const { terminal } = usePage()
  const market = terminal.market.value
  const { isUtc } = terminal.prefs.prefs.value
  if (market === undefined) return <section class="panel trades" aria-label="Trades" />
  const entry = market.entry.value
  const trades = market.trades.value
  return (
    <section class="panel trades" aria-label="Trades">
      <div class="panel-head">
        <h2>Trades</h2>
      </div>
      <div class="fill scroll" tabIndex={0} role="region" aria-label="Newest trades">
        <table class="tape" aria-live="off">
          <thead>
            <tr>
              <th scope="col">Price, {entry.ui_price_unit}</th>
              <th scope="col">Size, {entry.base_asset_symbol}</th>
              <th scope="col">Time</th>
              <th scope="col">Settled in</th>
            </tr>
          </thead>
          <tbody>{trades.map((trade) => drawn(trade, entry, market.terms, isUtc))}</tbody>
        </table>
        {trades.length === 0 && <p class="quiet pad">No trades yet.</p>}
      </div>
    </section>
  )
}

const made = new WeakMap<TapeTrade, { readonly isUtc: boolean; readonly node: VNode }>()

function drawn(
  trade: TapeTrade,
  entry: MarketEntry,
  terms: MarketArithmetic,
  isUtc: boolean,
): VNode {
  const known = made.get(trade)
  if (known?.isUtc === isUtc) return known.node
  const priceE18 = readOrZero(trade.price)
  const sizeE18 = traderSize(terms, { priceE18, amountE18: readOrZero(trade.size) })
  const isBuy = traderSide(terms, trade.aggressor_side) === 'buy'
  const { tx_hash: hash = '' } = trade
  const node = (
    <tr key={trade.trade_id}>
      <td class={isBuy ? 'bid' : 'ask'}>
        {formatE18(traderPrice(terms, priceE18), entry.ui_price_decimals)}
        <span class="unseen">{isBuy ? ' bought' : ' sold'}</span>
      </td>
      <td>{formatE18(sizeE18, entry.ui_size_decimals)}</td>
      <td title={wholeTime(trade.created_at)}>{clockOf(trade.created_at, isUtc)}</td>
      <td class="quiet hash" title={hash === '' ? 'being read' : hash}>
        {hash.slice(0, 8)}
      </td>
    </tr>
  )
  made.set(trade, { isUtc, node })
  return node
}
