import fc from 'fast-check'
import type { Address } from '../../core/action.js'
import { createSettlementTrail } from '../../core/engine/settlement-trail.js'
import type { OrderOptions } from '../../core/model/order.js'
import type { Change } from '../../core/model/change.js'
import type { Command, MarketCommand, SettlementOutcome } from '../../core/model/command.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../core/money.js'
import { rarely } from './arbitrary-values.js'
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
      readonly controls?: OrderOptions
      /** Picks the order that it replaces. */
      readonly replaces?: number | undefined
      /** 1 or 2 for a lease; others: none. */
      readonly lease?: number
      readonly byCode?: boolean
    }
  | { readonly act: 'reduce'; readonly pick: number; readonly size: number }
  | {
      readonly act: 'signature'
      readonly pick: number
      readonly valid: boolean
      readonly byCode?: boolean
    }
  | { readonly act: 'cancel'; readonly pick: number }
  | {
      readonly act: 'cancels'
      readonly what: 'all' | 'buy' | 'trader' | 'list'
      readonly pick: number
    }
  | {
      readonly act: 'lease'
      readonly what: 'open' | 'renew' | 'end' | 'end_quietly'
      readonly lease: number
      readonly sec: number
    }
  | {
      readonly act: 'settle'
      readonly pick: number
      readonly outcome: 'success' | 'maker' | 'taker' | 'both' | 'unclear'
      /** What the gas cost, in thousandths of quote; absent when nothing was sent. */
      readonly gas?: number | undefined
      /** Absent: a rule that no signature breaks. */
      readonly revert?: string
    }
  /** The trader's signer turns out to be code. */
  | { readonly act: 'code'; readonly trader: number }
  /** The chain says the opposite of what was told about a settlement. */
  | { readonly act: 'reverse'; readonly pick: number }
  | { readonly act: 'wait'; readonly sec: number }
  /** How many live orders an account may have from here on; 0 for any number. */
  | { readonly act: 'limit'; readonly openOrderLimit: number }
  /** What an operator does. */
  | {
      readonly act: 'operator'
      readonly does: 'pause' | 'resume' | 'disable' | 'enable' | 'set'
      readonly takerFeeBps: number
    }

const bookControls: fc.Arbitrary<OrderOptions> = fc.constantFrom<OrderOptions[]>(
  ...Array<OrderOptions>(8).fill({}),
  ...([{ timeInForce: 'IOC' }, { timeInForce: 'FOK' }] as const),
  ...([{ postOnly: 'reject' }, { postOnly: 'slide' }] as const),
)

/** All test orders are of one owner: one with his scope meets none that is not his. */
const ownControls: fc.Arbitrary<OrderOptions> = fc.constantFrom<OrderOptions[]>(
  ...Array<OrderOptions>(16).fill({}),
  ...([{ stp: 'cancel_oldest' }, { stp: 'cancel_oldest' }, { stp: 'cancel_both' }] as const),
  ...([{ stpScope: 'owner' }, { stpScope: 'owner', stp: 'cancel_oldest' }] as const),
)

/** Mostly none. */
export const anyControls: fc.Arbitrary<OrderOptions> = fc
  .tuple(bookControls, ownControls)
  .map(([ofBook, ofOwn]) => ({ ...ofBook, ...ofOwn }))

/** What is placed. */
export const placed = {
  act: fc.constant('place' as const),
  buy: fc.boolean(),
  price: fc.integer({ min: 95, max: 105 }),
  size: fc.integer({ min: 1, max: 20 }),
  trader: fc.integer({ min: 1, max: 5 }),
  livesSec: fc.constantFrom(5, 15, 60, 200, 86_400),
  unchecked: fc.integer({ min: 1, max: 8 }).map((eighth) => eighth === 1),
  controls: anyControls,
  replaces: rarely(fc.nat(500)),
}
const place = fc.record(placed)
const placeUnderLease = fc.record({ ...placed, lease: fc.integer({ min: 1, max: 2 }) })

/** To a part of the size of most orders, sometimes to nothing or to more. */
export const anyReduction = fc.record({
  act: fc.constant('reduce' as const),
  pick: fc.nat(500),
  size: fc.nat(14),
})

const cancels = fc.record({
  act: fc.constant('cancels' as const),
  what: fc.constantFrom('all' as const, 'buy', 'trader', 'list', 'list'),
  pick: fc.nat(500),
})

const lease = fc.record({
  act: fc.constant('lease' as const),
  what: fc.constantFrom('open' as const, 'open', 'open', 'renew', 'end', 'end_quietly'),
  lease: fc.integer({ min: 0, max: 2 }),
  sec: fc.integer({ min: 10, max: 90 }),
})

const operator = fc.record({
  act: fc.constant('operator' as const),
  does: fc.constantFrom('pause' as const, 'resume', 'resume', 'disable', 'enable', 'enable', 'set'),
  takerFeeBps: fc.integer({ min: 0, max: 100 }),
})

/** Random market days: mostly orders near one price, some cancels, results of settlements and waiting. */
export const marketActs = (maxLength: number): fc.Arbitrary<MarketAct[]> => actsOf(maxLength, [])

const limit = fc.record({
  act: fc.constant('limit' as const),
  openOrderLimit: fc.constantFrom(0, 1, 3, 6),
})

/** The same, on which an account may have only so many live orders. */
export const limitedActs = (maxLength: number): fc.Arbitrary<MarketAct[]> =>
  actsOf(maxLength, [{ weight: 1, arbitrary: limit }])

/** The same with cancels of many orders, and with leases. */
export const cancellingActs = (maxLength: number): fc.Arbitrary<MarketAct[]> =>
  actsOf(maxLength, [
    { weight: 1, arbitrary: cancels },
    { weight: 2, arbitrary: lease },
    { weight: 2, arbitrary: placeUnderLease },
  ])

/** The same, on which an operator changes the market's rules, pauses and disables it. */
export const ruledActs = (maxLength: number): fc.Arbitrary<MarketAct[]> =>
  actsOf(maxLength, [{ weight: 2, arbitrary: operator }])

/** The same with more kinds of acts. */
export const actsOf = (
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
      { weight: 2, arbitrary: anyReduction },
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
          outcome: fc.constantFrom(
            ...(['success', 'success', 'maker', 'taker', 'both', 'unclear', 'unclear'] as const),
          ),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          act: fc.constant('code' as const),
          trader: fc.integer({ min: 1, max: 5 }),
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
    { maxLength, size: 'max' },
  )

export interface ActContext {
  readonly placed: number
  readonly nowMs: number
  /** The matches proposed so far, oldest first. */
  readonly settlementIds: readonly string[]
  /** All changes so far; without them nothing is reversed. */
  readonly changes?: readonly Change[]
  /** The orders are of so many owners in turn; absent: of one. */
  readonly owners?: number
}

/** Turns acts into commands. */
export function commandOf(act: MarketAct, context: ActContext): Command {
  switch (act.act) {
    case 'place':
      return {
        kind: 'PlaceOrder',
        order: matcherOrder({
          orderId: `o${context.placed + 1}`,
          signer: signerOf(act.trader),
          side: act.buy ? 'buy' : 'sell',
          nonce: BigInt(context.placed + 1),
          subaccountId: BigInt(act.trader),
          limitPrice: priceE18((BigInt(act.price) * E18) / 100n),
          desiredAmount: amountE18(BigInt(act.size) * E18),
          goodUntilSec: context.nowMs / 1000 + act.livesSec,
          signatureStatus: act.unchecked ? 'unchecked' : 'checked',
          ...act.controls,
          ...leaseOf(act.lease),
          ...(act.byCode === true && { signedByCode: true as const }),
          owner: ownerOf(BigInt(context.placed + 1), context),
        }),
        ...(act.replaces !== undefined && {
          replaces: BigInt(1 + (act.replaces % (context.placed + 1))),
        }),
      }
    case 'reduce':
      return {
        kind: 'ReduceOrder',
        reason: 'unspecified',
        ...ofPlaced(act.pick, context),
        desired: amountE18(BigInt(act.size) * E18),
      }
    case 'cancel': {
      return { kind: 'CancelOrder', ...ofPlaced(act.pick, context), reason: 'unspecified' }
    }
    case 'cancels':
      return cancelsCommand(act, context)
    case 'lease': {
      const { what, sec: seconds } = act
      const of = { owner: `0x${'a'.repeat(40)}` as const, ...leaseOf(act.lease) }
      if (what === 'end' || what === 'end_quietly') {
        return { kind: 'EndLease', ...of, cancels: what === 'end' }
      }
      return { kind: 'SetLease', ...of, seconds, opens: what === 'open' }
    }
    case 'signature': {
      const orderId = `o${1 + (act.pick % (context.placed + 1))}`
      const byCode = act.byCode === true && ({ byCode: true } as const)
      return { kind: 'SignatureChecked', orderId, valid: act.valid, ...byCode }
    }
    case 'settle': {
      const { settlementIds } = context
      return {
        kind: 'SettlementReported',
        settlementId: settlementIds[act.pick % Math.max(1, settlementIds.length)] ?? 'none',
        outcome: outcomeOf(act),
      }
    }
    case 'code':
      return { kind: 'SignerCodeObserved', signer: signerOf(act.trader) }
    case 'reverse':
      return reversalOf(act.pick, context) ?? { kind: 'Tick' }
    case 'wait':
      return { kind: 'Tick' }
    case 'limit':
      return {
        kind: 'MarketRulesSet',
        rules: { openOrderLimit: act.openOrderLimit },
        ...BY_OPERATOR,
      }
    case 'operator':
      return operatorCommand(act)
  }
}

function outcomeOf({
  outcome,
  gas,
  revert = 'TM_PriceTooLow',
}: Extract<MarketAct, { act: 'settle' }>): SettlementOutcome {
  const gasCost = gas === undefined ? {} : { gasCost: quoteE18((BigInt(gas) * E18) / 1_000n) }
  if (outcome === 'success') return { kind: 'success', txHash: '0x01', blockNumber: 1n, ...gasCost }
  const mined = gas === undefined ? {} : { txHash: '0x02' as const, ...(gas > 0 && gasCost) }
  const read = areSignersRead(gas) && ({ signersRead: true } as const)
  return { kind: 'reverted', revert, guilty: outcome, ...mined, ...read }
}

/** As random as the gas: whether the code of the signers could be read. */
const areSignersRead = (gas = 1): boolean => gas % 3 !== 0

const ownerOf = (nonce: bigint, { owners = 1 }: ActContext): Address =>
  `0x${'abcde'.charAt(Number(nonce) % owners).repeat(40)}`

function ofPlaced(pick: number, context: ActContext) {
  const nonce = BigInt(1 + (pick % (context.placed + 1)))
  return { owner: ownerOf(nonce, context), nonce }
}

/** Each trader signs with a key of its own. */
export const signerOf = (trader: number): Address => `0x${String(trader).padStart(40, '0')}`

const leaseOf = (lease = 0) => (lease === 1 || lease === 2 ? { leaseId: `lease-${lease}` } : {})

function cancelsCommand(
  { what, pick }: Extract<MarketAct, { act: 'cancels' }>,
  { placed }: ActContext,
): Command {
  const by = { owner: `0x${'a'.repeat(40)}`, reason: 'unspecified' } as const
  if (what === 'list') {
    const orderIds = [0, 1, 5].map((next) => `o${1 + ((pick + next) % (placed + 1))}`)
    return { kind: 'CancelOrders', ...by, orderIds: [...new Set(orderIds)] }
  }
  return {
    kind: 'CancelAll',
    ...by,
    ...(what === 'buy' && { side: 'buy' }),
    ...(what === 'trader' && { subaccountId: BigInt(1 + (pick % 5)) }),
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
