import fc from 'fast-check'
import type { Change } from '../../core/change.js'
import type { Command } from '../../core/command.js'
import { createSettlementTrail } from '../../core/settlement-trail.js'
import { amountE18, E18, priceE18 } from '../../core/money.js'
import { matcherOrder, START_MS } from './matching.js'

/** A step of a random market day: what is done, and how long after the step before. */
export type MarketAct =
  | {
      readonly act: 'place'
      readonly buy: boolean
      readonly price: number
      readonly size: number
      readonly trader: number
      readonly livesSec: number
      readonly unchecked: boolean
    }
  | { readonly act: 'signature'; readonly pick: number; readonly valid: boolean }
  | { readonly act: 'cancel'; readonly pick: number }
  | {
      readonly act: 'settle'
      readonly pick: number
      readonly outcome: 'success' | 'maker' | 'taker' | 'both'
    }
  /** The chain says the opposite of what was told about a settlement. */
  | { readonly act: 'reverse'; readonly pick: number }
  | { readonly act: 'wait'; readonly sec: number }

const place = fc.record({
  act: fc.constant('place' as const),
  buy: fc.boolean(),
  price: fc.integer({ min: 95, max: 105 }),
  size: fc.integer({ min: 1, max: 20 }),
  trader: fc.integer({ min: 1, max: 5 }),
  livesSec: fc.constantFrom(5, 15, 60, 200, 86_400),
  unchecked: fc.integer({ min: 1, max: 8 }).map((eighth) => eighth === 1),
})

/** Random market days: mostly orders near one price, some cancels, results of settlements and waiting. */
export const marketActs = (maxLength: number): fc.Arbitrary<MarketAct[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: place },
      {
        weight: 2,
        arbitrary: fc.record({ act: fc.constant('cancel' as const), pick: fc.nat(500) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constant('signature' as const),
          pick: fc.nat(500),
          valid: fc.boolean(),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          act: fc.constant('settle' as const),
          pick: fc.nat(500),
          outcome: fc.constantFrom('success' as const, 'success', 'maker', 'taker', 'both'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ act: fc.constant('reverse' as const), pick: fc.nat(500) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constant('wait' as const),
          sec: fc.integer({ min: 1, max: 40 }),
        }),
      },
    ),
    { maxLength },
  )

export interface ActContext {
  readonly placed: number
  readonly nowMs: number
  /** The matches proposed so far, oldest first. */
  readonly settlementIds: readonly string[]
  /** All changes so far; without them nothing is reversed. */
  readonly changes?: readonly Change[]
}

/** Turns acts into commands. */
export function commandOf(act: MarketAct, context: ActContext): Command {
  switch (act.act) {
    case 'place':
      return {
        kind: 'PlaceOrder',
        order: matcherOrder({
          orderId: `o${context.placed + 1}`,
          side: act.buy ? 'buy' : 'sell',
          nonce: BigInt(context.placed + 1),
          subaccountId: BigInt(act.trader),
          limitPrice: priceE18((BigInt(act.price) * E18) / 100n),
          desiredAmount: amountE18(BigInt(act.size) * E18),
          goodUntilSec: context.nowMs / 1000 + act.livesSec,
          signatureStatus: act.unchecked ? 'unchecked' : 'checked',
        }),
      }
    case 'cancel': {
      const nonce = BigInt(1 + (act.pick % (context.placed + 1)))
      return { kind: 'CancelOrder', owner: `0x${'a'.repeat(40)}`, nonce, reason: 'unspecified' }
    }
    case 'signature': {
      const orderId = `o${1 + (act.pick % (context.placed + 1))}`
      return { kind: 'SignatureChecked', orderId, valid: act.valid }
    }
    case 'settle': {
      const { settlementIds } = context
      return {
        kind: 'SettlementReported',
        settlementId: settlementIds[act.pick % Math.max(1, settlementIds.length)] ?? 'none',
        outcome:
          act.outcome === 'success'
            ? { kind: 'success', txHash: '0x01', blockNumber: 1n }
            : { kind: 'reverted', revert: 'TM_PriceTooLow', guilty: act.outcome },
      }
    }
    case 'reverse':
      return reversalOf(act.pick, context) ?? { kind: 'Tick' }
    case 'wait':
      return { kind: 'Tick' }
  }
}

/** Of a settlement with an outcome: a number of its own for each change, since each is of another reversal. */
function reversalOf(
  pick: number,
  { settlementIds, changes = [] }: ActContext,
): Command | undefined {
  const settlementId = settlementIds[pick % Math.max(1, settlementIds.length)] ?? 'none'
  const trail = createSettlementTrail([settlementId])
  changes.forEach(trail.fold)
  const no = changes.length + 1
  for (const truth of [
    { kind: 'reverted', revert: 'OV_ActionExpired' },
    { kind: 'success', txHash: '0x02', blockNumber: 2n },
  ] as const) {
    const reversal = trail.reversalOf(settlementId, no, truth)
    if (reversal !== undefined && reversal !== 'untold') {
      return { kind: 'SettlementReversed', reversal }
    }
  }
  return undefined
}

export { START_MS }
