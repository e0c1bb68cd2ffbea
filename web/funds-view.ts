import {
  createTransferClient,
  randomNonce,
  signDeposit,
  signPermit,
  signWithdrawal,
  type MarginAccount,
  type MarketEntry,
  type PositionRecord,
  type RestClient,
  type SigningDomain,
} from '../client/index.js'
import { parseDecimal } from '../core/decimal.js'
import type { VenueFacts } from '../interface/signing.js'
import { el, panel, table } from './dom.js'
import type { Account } from './keys.js'
import { pressOnce, wordsOf } from './place-once.js'
import { formatBps, formatSigned } from './select/format.js'
import { gainOf, returnBps, type Position } from './select/position.js'

const FIVE_MINUTES = 300
/** The interface has deposits of cash into margin accounts only. */
const HOW_TO_FUND =
  'The venue carries out deposits into accounts of a perpetual: see there. An account that trades this market is funded by its owner’s own transaction, createAndDepositSubAccount or deposit of its manager’s assets, which costs the owner gas.'

export interface FundsParts {
  /** Where the page came from. */
  readonly base: string
  readonly market: MarketEntry
  readonly venue: RestClient
  readonly facts: VenueFacts
  readonly domain: SigningDomain
  readonly account: () => Account | undefined
}

export interface FundsView {
  readonly section: HTMLElement
  /** Reads the position and the margin of the account again. */
  refresh(): Promise<void>
}

/** What the account holds in the market's margin, and the way out: a withdrawal that is shown in words before it is signed. */
export function createFundsView(parts: FundsParts): FundsView {
  const { market, venue } = parts
  const { section, body } = panel('Funds', 'wide')
  const holdings = el('div')
  body.append(
    holdings,
    market.perp === undefined ? el('p', { class: 'quiet' }, HOW_TO_FUND) : depositForm(parts),
    withdrawalForm(parts),
  )
  return {
    section,
    async refresh() {
      const subaccountId = parts.account()?.subaccountOf(market)
      if (market.perp === undefined || subaccountId === undefined) return
      const { positions, accounts } = await venue.positions(subaccountId)
      const here = (record: { readonly market: string }): boolean => record.market === market.market
      holdings.replaceChildren(
        positionTable(positions.filter(here)),
        marginTable(accounts.filter(here)),
      )
    },
  }
}

const positionTable = (positions: readonly PositionRecord[]): HTMLElement =>
  positions.length === 0
    ? el('p', { class: 'quiet' }, 'No position in this market.')
    : table(
        'Positions',
        [
          ...['Side', 'Size (cNGN)', 'Worth (USDC)', 'Entry (USDC per cNGN)', 'Since entry (USDC)'],
          ...['Not settled (USDC)', 'Liquidation near'],
        ],
        positions.map((position) => [
          ...[position.ui_side, position.ui_size, position.ui_notional_usdc],
          ...[position.entry_price ?? '', gainWords(position), position.unrealized_pnl],
          position.liquidation_price_ui ?? '',
        ]),
      )

const GAIN_DECIMALS = 2

/** Gain and return since entry; empty while a price is missing. */
function gainWords(record: PositionRecord): string {
  const position = positionOf(record)
  const [gain, share] = [gainOf(position), returnBps(position)]
  if (gain === undefined || share === undefined) return ''
  return `${formatSigned(gain, GAIN_DECIMALS)} (${formatBps(share)})`
}

function positionOf(record: PositionRecord): Position {
  const { engine_position: signed, entry_price: entry, mark_price_ui: mark } = record
  const isShort = signed.startsWith('-')
  const size = parseDecimal(isShort ? signed.slice(1) : signed, 18) ?? 0n
  return {
    sizeE18: isShort ? -size : size,
    entryE18: parseDecimal(entry, 18),
    markE18: parseDecimal(mark, 18),
  }
}

const marginTable = (accounts: readonly MarginAccount[]): HTMLElement =>
  table(
    'Margin',
    ['Account', 'Cash (USDC)', 'Above initial margin', 'Above maintenance margin', 'Collateral'],
    accounts.map((account) => [
      ...[account.subaccount_id, account.cash, account.initial_margin_surplus],
      account.maintenance_margin_surplus,
      account.collateral.map(({ symbol, balance }) => `${balance} ${symbol}`).join(', '),
    ]),
  )

/** What an account may hold, as words and as the address that is signed. */
function assetsOf({ contracts }: VenueFacts): readonly (readonly [name: string, asset: string])[] {
  return [
    ['USDC', contracts.wrapped_usdc ?? ''],
    ['cNGN', contracts.wrapped_cngn ?? ''],
    ['USDC, the cash of a perpetual account', contracts.cash_asset ?? ''],
  ]
}

/** USDC of the wallet into the margin account, with a permit in the same request. */
function depositForm(parts: FundsParts): HTMLElement {
  const { facts, domain } = parts
  const transfers = createTransferClient(parts.base)
  const amount = el('input', { name: 'deposit_amount', inputmode: 'decimal', required: true })
  const account = parts.account()?.subaccountOf(parts.market)
  const into = account === undefined ? 'a new margin account' : `margin account ${account}`
  const address = (name: string) => facts.contracts[name] as `0x${string}`
  return transferForm({
    title: 'Deposit',
    fields: [['Amount to deposit', amount]],
    words: () =>
      amount.value === ''
        ? undefined
        : `You sign twice: let the deposit module take ${amount.value} USDC of your wallet, and deposit them into ${into}, once, within five minutes. The venue pays the gas.`,
    async send(say) {
      const owner = parts.account()
      if (owner === undefined) throw new Error('Choose an account first.')
      const { signer } = owner
      const tokenNonce = await transfers.permitNonce(signer.address)
      const [expirySec, value] = [soonSec(), amount.value.trim()]
      const modules = { depositModule: address('deposit_module'), amount: value }
      const permit = await signPermit(signer, {
        ...modules,
        ...{ chainId: domain.chainId, usdc: address('usdc'), tokenNonce, deadlineSec: expirySec },
      })
      const body = await signDeposit(signer, domain, {
        ...modules,
        ...{ cashAsset: address('cash_asset'), perpManager: address('perp_manager') },
        ...{ nonce: randomNonce(), expirySec, permit },
        ...(account !== undefined && { subaccountId: account }),
      })
      say('Sent; waiting for the chain …')
      const { action_hash } = await transfers.deposit(body)
      const { status, tx_hash } = await transfers.settledDeposit(action_hash)
      return `The deposit is ${status}: ${tx_hash ?? 'no transaction'}`
    },
  })
}

function withdrawalForm(parts: FundsParts): HTMLElement {
  const { market, facts, domain } = parts
  const assets = assetsOf(facts)
  const transfers = createTransferClient(parts.base)
  const amount = el('input', { name: 'withdraw_amount', inputmode: 'decimal', required: true })
  const account = el('input', { name: 'withdraw_from', inputmode: 'numeric', required: true })
  const names = assets.map(([name]) => el('option', {}, name))
  const asset = el('select', { name: 'withdraw_asset' }, ...names)
  asset.selectedIndex = market.perp === undefined ? 0 : 2
  account.value = parts.account()?.subaccountOf(market) ?? ''
  const chosen = () => assets[asset.selectedIndex] ?? ['', '']
  return transferForm({
    title: 'Withdraw',
    fields: [
      ['Amount to withdraw', amount],
      ['Asset', asset],
      ['Out of account', account],
    ],
    words: () =>
      amount.value === ''
        ? undefined
        : `You sign: pay ${amount.value} ${chosen()[0]} of subaccount ${account.value} out to your wallet, once, within five minutes. The venue pays the gas.`,
    async send(say) {
      const owner = parts.account()
      if (owner === undefined) throw new Error('Choose an account first.')
      const body = await signWithdrawal(owner.signer, domain, {
        withdrawalModule: facts.contracts.withdrawal_module as `0x${string}`,
        asset: chosen()[1] as `0x${string}`,
        ...{ subaccountId: account.value.trim(), amount: amount.value.trim() },
        ...{ nonce: randomNonce(), expirySec: soonSec() },
      })
      say('Sent; waiting for the chain …')
      const { action_hash } = await transfers.withdraw(body)
      const { status, tx_hash } = await transfers.settledWithdrawal(action_hash)
      return `The withdrawal is ${status}: ${tx_hash ?? 'no transaction'}`
    },
  })
}

const soonSec = (): number => Math.floor(Date.now() / 1_000) + FIVE_MINUTES

interface TransferForm {
  readonly title: string
  readonly fields: readonly (readonly [label: string, field: HTMLElement])[]
  /** What will be signed; undefined while something is missing. */
  readonly words: () => string | undefined
  /** Signs, sends, and returns what became of it. */
  readonly send: (say: (text: string) => void) => Promise<string>
}

/** A form that shows in words what it signs. */
function transferForm({ title, fields, words, send }: TransferForm): HTMLElement {
  const said = el('p', { role: 'status', class: 'quiet' })
  const shown = el('p', { class: 'quiet', 'aria-live': 'polite' })
  const tell = (): void => {
    shown.textContent = words() ?? 'Enter an amount to see what will be signed.'
  }
  const say = (text: string, isError = false): void => {
    said.className = isError ? 'error' : 'quiet'
    said.textContent = text
  }
  tell()
  const button = el('button', { type: 'submit' }, `Sign and ${title.toLowerCase()}`)
  const once = pressOnce([button])
  const onsubmit = (event: Event): void => {
    event.preventDefault()
    void once(async () => {
      say('Waiting for the signature …')
      await send(say).then(say, (error: unknown) => say(wordsOf(error), true))
    })
  }
  return el(
    'form',
    { oninput: tell, onsubmit, 'aria-label': title },
    ...fields.map(([label, field]) => el('label', {}, label, field)),
    shown,
    button,
    said,
  )
}
