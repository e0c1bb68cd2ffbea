import type { AccountBalances } from '../client/index.js'
import { el, panel, table } from './dom.js'
import { amount } from './units.js'

export interface BalancesView {
  readonly section: HTMLElement
  /** All accounts that the channel follows; it replaces what the channel said before. */
  follow(accounts: readonly AccountBalances[]): void
  /** Accounts that were read once; what the channel says of an account counts more. */
  read(accounts: readonly AccountBalances[]): void
  say(text: string): void
}

/** What the account's subaccounts hold on the chain, what orders and matches have reserved of it, and what is left. */
export function createBalancesView(): BalancesView {
  const { section, body } = panel('Balances', 'wide')
  const said = el(
    'p',
    { class: 'quiet', role: 'status' },
    'Choose an account to see what it holds.',
  )
  const list = el('div')
  body.append(said, list)
  let [followed, once]: (readonly AccountBalances[])[] = [[], []]
  const draw = (): void => {
    const known = new Map(
      [...(once ?? []), ...(followed ?? [])].map((one) => [one.subaccount_id, one]),
    )
    const accounts = [...known.values()].sort(
      (a, b) => Number(a.subaccount_id) - Number(b.subaccount_id),
    )
    if (accounts.length > 0) said.textContent = standing(accounts)
    list.replaceChildren(...tables(accounts))
  }
  return {
    section,
    follow(accounts) {
      followed = accounts
      draw()
    },
    read(accounts) {
      once = accounts
      draw()
    },
    say: (text) => void (said.textContent = text),
  }
}

function standing(accounts: readonly AccountBalances[]): string {
  const block = Math.max(...accounts.map(({ block_number }) => block_number))
  const isStale = accounts.some(({ facts }) => facts === 'stale')
  return `As block ${block} shows it${isStale ? '; the chain has not been read for a while' : ''}.`
}

function tables(accounts: readonly AccountBalances[]): HTMLElement[] {
  const tokens = accounts.flatMap(({ subaccount_id: id, tokens }) =>
    tokens.map((one) => [
      ...[id, one.token],
      ...[one.ui_total, one.reserved_by_orders, one.reserved_by_matches].map(amount),
      amount(one.ui_available),
    ]),
  )
  const margin = accounts.flatMap(({ subaccount_id: id, margin }) =>
    margin.map((one) => [
      ...[id, one.market],
      ...[one.position, one.free, one.reserved_by_orders, one.reserved_by_matches].map(amount),
      one.price_status === 'ok' ? amount(one.maintenance_margin_surplus) : 'price is stale',
    ]),
  )
  const reserved = ['In orders', 'In matches'] as const
  return [
    ...(tokens.length === 0
      ? []
      : [table('Tokens', ['Account', 'Token', 'Total', ...reserved, 'Available'], tokens)]),
    ...(margin.length === 0
      ? []
      : [
          table(
            'Margin, in USDC',
            ['Account', 'Market', 'Position', 'Free', ...reserved, 'Above maintenance'],
            margin,
          ),
        ]),
  ]
}
