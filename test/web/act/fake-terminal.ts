import { signal } from '@preact/signals'
import { privateKeyToAccount } from 'viem/accounts'
import type { OrderRecord, RestClient } from '../../../client/index.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { marketTerms } from '../../../web/select/market-terms.js'
import type { MarketState } from '../../../web/state/market-state.js'
import type { OwnState } from '../../../web/state/own-state.js'
import type { Dialog, Terminal } from '../../../web/state/terminal.js'
import { createTicket } from '../../../web/state/ticket-state.js'
import { createToasts } from '../../../web/state/toasts.js'
import type { Trader } from '../../../web/state/trader.js'
import type { Signer } from '../../../web/wallet/signer.js'
import { aMarket, aPerp } from '../../support/builders.js'

const SIGNER = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const OTHER = privateKeyToAccount(`0x${'22'.repeat(32)}`)

/** What an owner has, without a socket; each call makes a new state, as a renewed key does. */
export function anOwn({
  account = SIGNER,
  signer = account,
  isSilent = true,
}: {
  readonly account?: typeof SIGNER
  readonly signer?: Signer
  readonly isSilent?: boolean
} = {}) {
  const trader: Trader = {
    kind: 'developer',
    name: 'a',
    owner: account.address,
    isSilent,
    known: new Map(),
    signer,
    moneySigner: signer,
  }
  const orders = signal<ReadonlyMap<string, OrderRecord>>(new Map())
  const note = (record: OrderRecord): void => {
    orders.value = new Map([...orders.value, [record.order_id, record]])
  }
  const fills = signal([])
  const failure = signal(undefined)
  return { trader, orders, note, fills, failure } as unknown as OwnState
}

/** The same of another owner. */
export const anotherOwn = (): OwnState => anOwn({ account: OTHER })

const ENTRIES = [aMarket(), aPerp()].map((market) => marketEntry(market))

/** The store of a page without sockets: what a test sets, its deeds see. */
export function fakeTerminal(venue: Partial<RestClient>) {
  const markets = ENTRIES.map((entry) => ({
    name: entry.market,
    entry: signal(entry),
    terms: marketTerms(entry),
    book: signal({ bids: [], asks: [] }),
  })) as unknown as readonly MarketState[]
  const market = signal(markets[0])
  const own = signal<OwnState | undefined>(anOwn())
  const ticket = signal(createTicket())
  const nowSec = signal(1_800_000_000)
  const toasts = createToasts()
  const terminal = {
    venue,
    market,
    own,
    ticket,
    nowSec,
    toasts,
    dialog: signal<Dialog | undefined>(undefined),
    subaccount: signal<string | undefined>('7'),
    domain: { chainId: 31_337, matching: `0x${'aa'.repeat(20)}` },
    entryOf: (name: string) => ENTRIES.find((entry) => entry.market === name),
    open: (name: string) => void (market.value = markets.find((one) => one.name === name)),
  }
  return { ...terminal, markets, terminal: terminal as unknown as Terminal }
}
