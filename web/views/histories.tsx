import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { FundingRecord } from '../../client/index.js'
import { fundingRow, liquidationRow } from '../select/history-rows.js'
import { createPages } from '../state/pages.js'
import type { MarketState } from '../state/market-state.js'
import { usePage } from './page.js'
import { rove } from './rove.js'
import { Market, Table } from './table.js'
import { momentOf, wholeTime } from './time.js'
import { Transaction } from './transaction.js'

/** A page of funding: two days. */
const HOURS = 48
const READ_EVERY_MS = 60_000

/** The hourly rates of a perpetual. */
export function Funding({ market }: { readonly market: MarketState }): JSX.Element {
  const { terminal } = usePage()
  const pages = useSignal(
    createPages<FundingRecord>(
      async (before) => {
        const asked = { limit: HOURS, ...(before !== undefined && { before }) }
        const { funding, next_before: next } = await terminal.venue.funding(market.name, asked)
        return { items: funding, next }
      },
      ({ block_number: block }) => block,
    ),
  ).value
  useEffect(() => {
    void pages.readNewest()
    const timer = setInterval(() => void pages.readNewest(), READ_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const entry = market.entry.value
  const { isUtc } = terminal.prefs.prefs.value
  const rows = pages.items.value?.map((record) => fundingRow(entry, record))
  const unit = entry.ui_price_unit
  return (
    <div class="fill scroll" tabIndex={0} role="region" aria-label="Funding of the market">
      {pages.trouble.value !== undefined && (
        <p class="trouble">The funding is not read now: {pages.trouble.value}</p>
      )}
      <Table
        caption="Funding, newest hour first"
        heads={['Hour of', 'Rate, 1 h', 'Who pays', `Mark, ${unit}`, `Index, ${unit}`]}
        isEmpty={rows === undefined || rows.length === 0}
        empty={rows === undefined ? 'Reading …' : 'No funding yet.'}
      >
        {rows?.map((row) => (
          <tr key={row.key}>
            <td data-head="Hour of" title={wholeTime(row.at)}>
              {momentOf(row.at, isUtc)}
            </td>
            <td data-head="Rate, 1 h">{row.rate}</td>
            <td data-head="Who pays">{row.payer}</td>
            <td data-head="Mark">{row.mark}</td>
            <td data-head="Index">{row.index}</td>
          </tr>
        ))}
      </Table>
      {pages.hasOlder.value && (
        <button type="button" class="more" onClick={() => void pages.readOlder()}>
          Older hours
        </button>
      )}
    </div>
  )
}

/** The newest liquidations of all markets, as the chain carries them out. */
export function Liquidations(): JSX.Element {
  const { terminal } = usePage()
  const { liquidations } = terminal
  useEffect(() => liquidations.follow(), [])
  const { isUtc } = terminal.prefs.prefs.value
  const rows = liquidations.all.value?.flatMap(
    (record) => liquidationRow(terminal.entryOf(record.market), record) ?? [],
  )
  const isOld = terminal.light.value === 'lost'
  return (
    <div
      class={isOld ? 'fill scroll dead' : 'fill scroll'}
      tabIndex={0}
      onKeyDown={(event) => rove(event, 'a')}
      role="region"
      aria-label="Liquidations of all markets"
    >
      <Table
        caption="Liquidations of all markets, newest first"
        heads={['Time', 'Market', 'Account', 'Event', 'What', 'Price', 'How', 'Settled in']}
        isEmpty={rows === undefined || rows.length === 0}
        empty={rows === undefined ? 'Reading …' : 'No liquidations.'}
      >
        {rows?.map((row) => (
          <tr key={row.key}>
            <td data-head="Time" title={wholeTime(row.at)}>
              {momentOf(row.at, isUtc)}
            </td>
            <Market name={row.market} />
            <td data-head="Account">{row.account}</td>
            <td data-head="Event">{row.event}</td>
            <td data-head="What">{row.what}</td>
            <td data-head="Price">{row.price}</td>
            <td data-head="How">{row.how}</td>
            <td data-head="Settled in">
              <Transaction hash={row.hash} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  )
}
