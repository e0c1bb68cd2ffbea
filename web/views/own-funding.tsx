import { useComputed, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { FundingRecord, MarketEntry } from '../../client/index.js'
import { wordsOf } from '../../client/words-of.js'
import { formatE18, formatSigned } from '../select/format.js'
import { formatRate } from '../select/header-facts.js'
import { fundingPayments, type FundingPayment } from '../select/own-funding.js'
import { readOrZero } from '../select/numbers.js'
import type { OwnState } from '../state/own-state.js'
import { usePage } from './page.js'
import { Market, Table } from './table.js'
import { momentOf, wholeTime } from './time.js'

/** Four days: what a page of the history holds. What passed since is read so often. */
const HOURS = 96
const READ_EVERY_MS = 60_000
/** Those of USDC: an hour’s funding is little. */
const MONEY_DECIMALS = 6

/** What the trader has paid and received for funding in the last four days, by market. */
export function OwnFunding(): JSX.Element {
  const { terminal } = usePage()
  const from = terminal.own.value?.fillsFrom.value
  const markets = terminal.markets.value.filter(({ perp }) => perp !== undefined)
  return (
    <>
      {markets.map((entry) => (
        <OfMarket key={entry.market} entry={entry} />
      ))}
      <p class="quiet pad">
        Of the last four days, worked out of each hour’s first rate and of your newest fills: the
        chain counts every moment, and settles the exact sum into the account with its next trade.
      </p>
      {from !== undefined && isWithinHours(from, terminal.nowSec.peek()) && (
        <p class="warn-words pad">
          The list begins at {momentOf(from, terminal.prefs.prefs.value.isUtc)}: older fills of
          yours are not read, and what you held before is not known.
        </p>
      )}
    </>
  )
}

/** Whether a moment is in the days that are shown. */
const isWithinHours = (at: string, nowSec: number): boolean =>
  Date.parse(at) > (nowSec - HOURS * 3_600) * 1_000

function OfMarket({ entry }: { readonly entry: MarketEntry }): JSX.Element {
  const { terminal } = usePage()
  const hours = useSignal<readonly FundingRecord[] | undefined>(undefined)
  const trouble = useSignal('')
  useEffect(() => {
    const read = async (): Promise<void> => {
      try {
        hours.value = (await terminal.venue.funding(entry.market, { limit: HOURS })).funding
        trouble.value = ''
      } catch (error) {
        trouble.value = wordsOf(error)
      }
    }
    void read()
    const timer = setInterval(() => void read(), READ_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const payments = useComputed(() =>
    paymentsOf(entry.market, terminal.own.value, hours.value ?? [], terminal.nowSec.peek()),
  ).value
  const isRead = hours.value !== undefined && terminal.own.value?.isRead.value === true
  const { isUtc } = terminal.prefs.prefs.value
  const base = entry.base_asset_symbol
  return (
    <Table
      caption={`Funding of ${entry.market}, newest hour first`}
      heads={['Hour of', 'Market', `Position, ${base}`, 'Rate, 1 h', 'About, USDC']}
      isEmpty={payments.length === 0}
      empty={emptyWords(entry.market, trouble.value, isRead)}
    >
      {payments.map((one) => (
        <tr key={one.at}>
          <td data-head="Hour of" title={wholeTime(one.at)}>
            {momentOf(one.at, isUtc)}
          </td>
          <Market name={entry.market} />
          <td data-head={`Position, ${base}`}>{formatE18(one.sizeE18, entry.ui_size_decimals)}</td>
          <td data-head="Rate, 1 h">{formatRate(one.rate)}</td>
          <td data-head="About, USDC" class={one.receivedE18 < 0n ? 'ask' : 'bid'}>
            {receivedWords(one)}
          </td>
        </tr>
      ))}
    </Table>
  )
}

function emptyWords(market: string, trouble: string, isRead: boolean): string {
  if (trouble !== '') return `The funding is not read now: ${trouble}`
  return isRead ? `No funding of ${market}.` : 'Reading …'
}

const receivedWords = ({ receivedE18: received }: FundingPayment): string =>
  `${received === 0n ? '' : received < 0n ? 'paid ' : 'received '}${formatSigned(received, MONEY_DECIMALS)}`

/** Positions of all accounts of the owner count together: the history of fills does not name them. */
function paymentsOf(
  market: string,
  own: OwnState | undefined,
  hours: readonly FundingRecord[],
  nowSec: number,
): readonly FundingPayment[] {
  // Before the positions are read, what is held now is not known.
  if (own?.isRead.value !== true) return []
  const from = own.fillsFrom.value
  return fundingPayments({
    hours,
    fills: own.fills.value
      .filter((one) => one.market === market && one.leg.tx_hash !== undefined)
      .map(({ leg }) => leg),
    sizeE18: own.positions.value
      .flatMap(({ positions }) => positions)
      .filter((one) => one.market === market)
      .reduce((sum, { engine_position: size }) => sum + readOrZero(size), 0n),
    knownFromMs: from === undefined ? 0 : Date.parse(from),
    nowMs: nowSec * 1_000,
  })
}
