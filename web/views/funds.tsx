import type { JSX } from 'preact'
import type { AccountBalances } from '../../client/index.js'
import { marginRows, tokenRows } from '../select/balance-rows.js'
import { usePage } from './page.js'
import { Table } from './table.js'
import { momentOf } from './time.js'
import { Transaction } from './transaction.js'

/** What the trader's accounts hold, what is reserved and what is free, with the ways in and out. */
export function Funds(): JSX.Element {
  const { terminal } = usePage()
  const accounts = terminal.own.value?.balances.value ?? []
  if (accounts.length === 0)
    return <p class="quiet pad">Reading what your accounts hold … or they hold nothing yet.</p>
  return (
    <div class="funds">
      {accounts.map((account) => (
        <Account key={account.subaccount_id} account={account} />
      ))}
      <Receipts />
    </div>
  )
}

function Account({ account }: { readonly account: AccountBalances }): JSX.Element {
  const { terminal } = usePage()
  const { subaccount_id: subaccountId, facts, manager_address: manager } = account
  const isPerpetual = manager.toLowerCase() === terminal.facts.contracts.perp_manager?.toLowerCase()
  const open = (name: 'deposit' | 'withdraw') => () =>
    (terminal.dialog.value = { name, subaccountId })
  const tokens = tokenRows(account)
  const margin = marginRows(account)
  return (
    <section aria-label={`Account ${subaccountId}`}>
      <h2>
        {isPerpetual ? 'Margin account' : 'Trading account'} {subaccountId}
        {facts === 'stale' && <span class="ask"> as the chain was a while ago</span>}
        <span class="tools">
          {isPerpetual && (
            <button type="button" onClick={open('deposit')}>
              Deposit<span class="unseen"> into {subaccountId}</span>
            </button>
          )}
          <button type="button" onClick={open('withdraw')}>
            Withdraw<span class="unseen"> from {subaccountId}</span>
          </button>
        </span>
      </h2>
      {tokens.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              {['Token', 'Total', 'Reserved', 'Free'].map((head) => (
                <th key={head} scope="col" data-head={head}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tokens.map((row) => (
              <tr key={row.token}>
                <td data-head="Token">{row.token}</td>
                <td data-head="Total">{row.total}</td>
                <td data-head="Reserved">{row.reserved}</td>
                <td data-head="Free">{row.free}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {margin.length > 0 && <Margin rows={margin} />}
    </section>
  )
}

/** What was paid in and out since the page is open. */
function Receipts(): JSX.Element | null {
  const { terminal, transfers } = usePage()
  const owner = terminal.own.value?.trader.owner
  const mine = transfers.receipts.value.filter((receipt) => receipt.owner === owner)
  const { isUtc } = terminal.prefs.prefs.value
  if (mine.length === 0) return null
  return (
    <section aria-label="Transfers of this visit">
      <h2>Transfers of this visit</h2>
      <Table
        caption="Transfers of this visit, newest first"
        heads={['Time', 'Kind', 'Account', 'Amount', 'State', 'Settled in']}
        isEmpty={false}
        empty=""
      >
        {mine.map(({ atSec, kind, subaccountId, amount, token, status, hash }, at) => (
          <tr key={mine.length - at}>
            <td data-head="Time">{momentOf(new Date(atSec * 1_000).toISOString(), isUtc)}</td>
            <td data-head="Kind">{kind}</td>
            <td data-head="Account">{subaccountId ?? 'new'}</td>
            <td data-head="Amount">
              {amount} {token}
            </td>
            <td data-head="State">{status}</td>
            <td data-head="Settled in">{hash === undefined ? '–' : <Transaction hash={hash} />}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function Margin({ rows }: { readonly rows: ReturnType<typeof marginRows> }): JSX.Element {
  const heads = [
    ...['Margin, USDC', 'Balance', 'Profit not paid', 'Required', 'Reserved', 'Free'],
    'Above maintenance',
  ]
  return (
    <table class="list">
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col" data-head={head}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.market}>
            <td data-head="Market">{row.market}</td>
            <td data-head="Balance">{row.balance}</td>
            <td data-head="Profit not paid">{row.unpaid}</td>
            <td data-head="Required">{row.required}</td>
            <td data-head="Reserved">{row.reserved}</td>
            <td data-head="Free">{row.free}</td>
            <td data-head="Above maintenance">{row.aboveMaintenance}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
