import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import {
  BadOrderTerms,
  orderDigest,
  randomNonce,
  type EngineTerms,
  type OrderFrame,
} from '../../client/index.js'
import { formatDecimal } from '../../core/decimal.js'
import type { TicketPlan, TicketInput } from '../select/planned.js'
import type { MarketState } from '../state/market-state.js'
import type { OwnState } from '../state/own-state.js'
import type { Terminal } from '../state/terminal.js'
import type { Views } from '../state/views.js'

/** What an order says besides its plan. */
export interface Instructions {
  readonly market: MarketState
  readonly subaccountId: string
  readonly typed: TicketInput
  readonly livesSec: number
}

/** An order that is to be signed, whole. */
export type DraftTerms = OrderFrame & EngineTerms

interface DraftRequest {
  readonly own: OwnState
  readonly planned: TicketPlan
  readonly given: Instructions
}

/** What a press would sign now. */
export interface SignedTerms {
  readonly order: DraftTerms
  /** Of EIP-712: what the wallet shows as the hash of the message. */
  readonly digest: string
}

export interface Drafts {
  /** Whether the digest is looked at: it is made only then. */
  readonly isShown: Signal<boolean>
  /** Undefined while it is not looked at, and while there is nothing to sign. */
  readonly shown: ReadonlySignal<SignedTerms | undefined>
  /** The order to sign: the one that was shown, where nothing of it has changed; each is given once. */
  take(asked: DraftRequest): DraftTerms
}

interface Fresh {
  readonly nonce: bigint
  readonly expirySec: number
}

/** A draft that is shown for longer would have lived for less than was chosen. */
const SHOWN_FOR_SEC = 60

export function createDrafts(terminal: Terminal, views: Views): Drafts {
  const isShown = signal(false)
  const taken = signal(0)
  let kept: ({ readonly key: string } & Fresh) | undefined
  const turn = computed(() => Math.floor(terminal.nowSec.value / SHOWN_FOR_SEC))
  const freshOf = (asked: DraftRequest): Fresh => {
    const key = `${keyOf(asked)} ${turn.value}`
    if (kept?.key !== key) kept = { key, ...fresh(terminal, asked.given) }
    return kept
  }
  return {
    isShown,
    shown: computed(() => {
      void taken.value
      const asked = isShown.value ? askedOf(terminal, views) : undefined
      if (asked === undefined) return undefined
      const order = orderOf(asked, freshOf(asked))
      try {
        const digest = orderDigest(asked.own.trader.signer.address, terminal.domain, order)
        return { order, digest }
      } catch (error) {
        // The press says so too.
        if (error instanceof BadOrderTerms) return undefined
        throw error
      }
    }),
    take(asked) {
      const order = orderOf(asked, isShown.value ? freshOf(asked) : fresh(terminal, asked.given))
      kept = undefined
      taken.value += 1
      return order
    },
  }
}

function askedOf(
  { own, market, subaccount, ticket }: Terminal,
  views: Views,
): DraftRequest | undefined {
  const planned = views.planned.value
  const mine = own.value
  const open = market.value
  const subaccountId = subaccount.value
  if (mine === undefined || open === undefined || subaccountId === undefined) return undefined
  if (typeof planned === 'string') return undefined
  const livesSec = ticket.value.livesSec.value
  return {
    own: mine,
    planned,
    given: { market: open, subaccountId, typed: views.typed.value, livesSec },
  }
}

/** Everything of an order that is signed, but its nonce and its end. */
const keyOf = ({ own, planned, given }: DraftRequest): string =>
  [
    ...[own.trader.owner, own.trader.signer.address, given.market.name, given.subaccountId],
    ...[planned.plan.side, planned.plan.limitE18, planned.plan.amountE18],
    ...[planned.plan.worstFeeBps, given.livesSec],
  ].join()

const fresh = (terminal: Terminal, given: Instructions): Fresh => ({
  nonce: randomNonce(),
  expirySec: expiryOf(terminal, given),
})

/** No order outlives its series. */
function expiryOf({ nowSec }: Terminal, { market, livesSec }: Instructions): number {
  const wanted = nowSec.peek() + livesSec
  const last = market.entry.value.future?.last_trade_time
  return last === undefined ? wanted : Math.min(wanted, last)
}

/** An order to sign at once, with a nonce that no other has. */
export const freshOrder = (terminal: Terminal, asked: DraftRequest): DraftTerms =>
  orderOf(asked, fresh(terminal, asked.given))

function orderOf({ own, planned, given }: DraftRequest, { nonce, expirySec }: Fresh): DraftTerms {
  const { market, subaccountId, typed } = given
  const { plan } = planned
  return {
    market: market.entry.value,
    nonce,
    subaccountId,
    owner: own.trader.owner,
    expirySec,
    orderId: `page-${nonce.toString(36)}`,
    side: plan.side,
    price: formatDecimal(plan.limitE18, 18),
    amount: formatDecimal(plan.amountE18, 18),
    worstFeeBps: plan.worstFeeBps,
    ...(typed.reduceOnly && { reduceOnly: true }),
    ...(typed.force !== 'GTC' && { timeInForce: typed.force }),
    ...(typed.post !== 'off' && { postOnly: typed.post }),
  }
}
