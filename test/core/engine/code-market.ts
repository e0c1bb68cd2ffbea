import type { Address } from '../../../core/action.js'
import type { Change } from '../../../core/model/change.js'
import type { SettlementOutcome } from '../../../core/model/command.js'
import { sizeOf } from '../../../core/engine/code-windows.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { matcherOrder, testMatcher, type OrderFields } from '../../support/matching.js'

/** A market in which some signers are code, whose matches the test settles; it counts what they have paid and cost. */

export const address = (no: number): Address => `0x${no.toString(16).padStart(40, '0')}`

/** What the gas of a match costs here: the fee of 1 at price 1 is 0.0025. Odd, so that half of it shows how it is rounded. */
export const GAS = quoteE18(E18 / 1_000n + 1n)

/** A signer and its owner, by number; each pair of the two has a subaccount of its own. */
export interface Trader {
  readonly signer: number
  readonly owner: number
  readonly byCode?: boolean
}

const ofTrader = ({ signer, owner, byCode = false }: Trader): Partial<OrderFields> => ({
  signer: address(signer),
  owner: address(1_000_000 + owner),
  subaccountId: BigInt(signer * 100_000 + owner),
  ...(byCode && { signedByCode: true }),
})

interface Terms {
  readonly price?: number
  readonly size?: number
  readonly fields?: Partial<OrderFields>
}

export function codeMarket() {
  const market = testMatcher()
  const { state } = market
  let [paid, lost, orders] = [0n, 0n, 0]

  function place(
    trader: Trader,
    side: 'buy' | 'sell',
    { price = 1, size = 1, fields }: Terms = {},
  ) {
    orders += 1
    const orderId = `o${orders}`
    const applied = market.apply({
      kind: 'PlaceOrder',
      order: matcherOrder({
        orderId,
        side,
        ...ofTrader(trader),
        limitPrice: priceE18((BigInt(Math.round(price * 100)) * E18) / 100n),
        desiredAmount: amountE18((BigInt(Math.round(size * 1_000)) * E18) / 1_000n),
        goodUntilSec: market.nowMs() / 1_000 + 30 * 86_400,
        ...fields,
      }),
    })
    return { orderId, ...applied }
  }
  const tick = (sec: number) => {
    market.advance(sec * 1_000)
    const changes: Change[] = []
    for (;;) {
      const applied = market.apply({ kind: 'Tick' })
      changes.push(...applied.changes)
      if (!applied.moreIsDue) return changes
    }
  }
  const report = (settlementId: string, outcome: SettlementOutcome) =>
    market.apply({ kind: 'SettlementReported', settlementId, outcome }).changes
  /** The settlements in flight, the oldest first. */
  const pending = () => [...state.matches.keys()]
  function settle(settlementId: string, gasCost = GAS) {
    paid += (state.matches.get(settlementId)?.takerFee ?? 0n) - gasCost
    return report(settlementId, { kind: 'success', txHash: '0x01', blockNumber: 1n, gasCost })
  }
  interface Failure {
    readonly revert?: string
    readonly guilty?: 'maker' | 'taker' | 'both' | 'unclear'
    readonly isMined?: boolean
    /** Whether the code of both signers was read where it failed. */
    readonly isRead?: boolean
  }
  function fail(settlementId: string, failure: Failure = {}) {
    const { revert = 'OV_InvalidSignature', guilty = 'unclear' } = failure
    const { isMined = true, isRead = true } = failure
    if (isMined) lost += GAS
    const mined = isMined ? { txHash: '0x02' as const, gasCost: GAS } : {}
    const read = isRead && ({ signersRead: true } as const)
    return report(settlementId, { kind: 'reverted', revert, guilty, ...mined, ...read })
  }
  const windowOf = ({ signer, owner }: Trader) => {
    const of = { signer: address(signer), owner: address(1_000_000 + owner) }
    return { size: sizeOf(state.windows, of), of }
  }
  const holdOf = (orderId: string) => state.orders.get(orderId)?.hold?.reason
  return {
    ...market,
    place,
    tick,
    pending,
    settle,
    fail,
    windowOf,
    holdOf,
    /** Fees of settled matches less their gas. */
    paid: () => paid,
    /** Gas of failed matches that were mined. */
    lost: () => lost,
  }
}

export type CodeMarket = ReturnType<typeof codeMarket>
