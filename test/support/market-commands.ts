import fc from 'fast-check'
import type { Change } from '../../core/engine/change.js'
import type { Command, MarketCommand } from '../../core/engine/command.js'
import { createSettlementTrail } from '../../core/engine/settlement-trail.js'
import type { OrderControls } from '../../core/entry/order-controls.js'
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
      readonly controls?: OrderControls
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
  /** What an operator does. */
  | {
      readonly act: 'operator'
      readonly does: 'pause' | 'resume' | 'disable' | 'enable' | 'set'
      readonly takerFeeBps: number
    }

/** Mostly none. */
export const anyControls: fc.Arbitrary<OrderControls> = fc.constantFrom<OrderControls[]>(
  ...Array<OrderControls>(8).fill({}),
  ...([{ timeInForce: 'IOC' }, { timeInForce: 'FOK' }] as const),
  ...([{ postOnly: 'reject' }, { postOnly: 'slide' }] as const),
)

const place = fc.record({
  act: fc.constant('place' as const),
  buy: fc.boolean(),
  price: fc.integer({ min: 95, max: 105 }),
  size: fc.integer({ min: 1, max: 20 }),
  trader: fc.integer({ min: 1, max: 5 }),
  livesSec: fc.constantFrom(5, 15, 60, 200, 86_400),
  unchecked: fc.integer({ min: 1, max: 8 }).map((eighth) => eighth === 1),
  controls: anyControls,
})

const operator = fc.record({
  act: fc.constant('operator' as const),
  does: fc.constantFrom('pause' as const, 'resume', 'resume', 'disable', 'enable', 'enable', 'set'),
  takerFeeBps: fc.integer({ min: 0, max: 100 }),
})

/** Random market days: mostly orders near one price, some cancels, results of settlements and waiting. */
export const marketActs = (maxLength: number): fc.Arbitrary<MarketAct[]> => actsOf(maxLength, [])

/** The same, on which an operator changes the market's rules, pauses and disables it. */
export const ruledActs = (maxLength: number): fc.Arbitrary<MarketAct[]> =>
  actsOf(maxLength, [{ weight: 2, arbitrary: operator }])

const actsOf = (
  maxLength: number,
  more: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<MarketAct> }[],
): fc.Arbitrary<MarketAct[]> =>
  fc.array(
    fc.oneof<fc.WeightedArbitrary<MarketAct>[]>(
      ...more,
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
          ...act.controls,
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
    case 'operator':
      return operatorCommand(act)
  }
}

const BY_OPERATOR = { by: 'ada', reason: 'maintenance' }

function operatorCommand({
  does,
  takerFeeBps,
}: Extract<MarketAct, { act: 'operator' }>): MarketCommand {
  switch (does) {
    case 'set':
      return { kind: 'MarketRulesSet', rules: { takerFeeBps }, ...BY_OPERATOR }
    case 'pause':
      return { kind: 'MarketPaused', ...BY_OPERATOR }
    case 'resume':
      return { kind: 'MarketResumed', ...BY_OPERATOR }
    case 'disable':
      return { kind: 'MarketDisabled', ...BY_OPERATOR }
    case 'enable':
      return { kind: 'MarketEnabled', ...BY_OPERATOR }
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
    if (reversal !== undefined && reversal !== 'unpublished') {
      return { kind: 'SettlementReversed', reversal }
    }
  }
  return undefined
}

export { START_MS }
