import fc from 'fast-check'
import {
  FORGOTTEN,
  OF_NO_ORDER,
  type Block,
  type Change,
  type ChangeBase,
} from '../../core/model/change.js'
import type { Fill } from '../../core/model/match.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import { anyHold, anyMatch, matchFields } from './arbitraries.js'
import { anyTerms } from './arbitrary-markets.js'
import { anyOrder } from './arbitrary-orders.js'
import {
  anyAddress,
  anyAmount,
  anyHash,
  anyMarketName,
  anyMs,
  anySeq,
  anySide,
  anyStatus,
  anyText,
  anyUint,
  MAX_UINT256,
  withOptional,
} from './arbitrary-values.js'

export const anyFill: fc.Arbitrary<Fill> = withOptional<Fill, 'markPrice'>(
  {
    ...matchFields,
    liquidity: fc.constantFrom('maker', 'taker'),
    fee: anyAmount.map(quoteE18),
    txHash: anyHash,
    blockNumber: anyUint,
    tradeId: anySeq,
    takerSide: anySide,
    markPrice: anyAmount.map(priceE18),
  },
  ['markPrice'],
)

const standing = {
  atMs: anyMs,
  filled: anyAmount.map(amountE18),
  pending: anyAmount.map(amountE18),
  open: anyAmount.map(amountE18),
  openDelta: fc.bigInt({ min: -MAX_UINT256, max: MAX_UINT256 }),
  status: anyStatus,
}
const base: { [K in keyof Omit<ChangeBase, 'seq'>]: fc.Arbitrary<ChangeBase[K]> } = {
  orderId: anyText,
  owner: anyAddress,
  side: anySide,
  limitPrice: anyAmount.map(priceE18),
  desired: anyAmount.map(amountE18),
  ...standing,
}

type ChangeOf<K extends Change['kind']> = Omit<Extract<Change, { kind: K }>, 'seq'>
const cancelReason = fc.option(anyText, { nil: undefined })
const optionalHold = fc.option(anyHold, { nil: undefined })

const spent = { orderId: anyText, owner: anyAddress, nonce: anyUint, fingerprint: anyHash }
/** One arbitrary per change kind, all without their seq; a kind that is missing here does not compile. */
const changeOfKind: { readonly [K in Change['kind']]: fc.Arbitrary<ChangeOf<K>> } = {
  OrderPlaced: fc
    .record({
      ...standing,
      rank: anySeq,
      order: anyOrder(),
      hold: optionalHold,
      reason: cancelReason,
    })
    .map(({ hold, reason, ...placed }) => ({
      kind: 'OrderPlaced',
      orderId: placed.order.orderId,
      owner: placed.order.owner,
      side: placed.order.side,
      limitPrice: placed.order.limitPrice,
      desired: placed.order.desiredAmount,
      ...placed,
      ...(hold !== undefined && { hold }),
      ...(reason !== undefined && { cancelReason: reason }),
    })),
  OrderMatched: fc.record({ kind: fc.constant('OrderMatched'), ...base, match: anyMatch }),
  OrderFilled: fc.record({ kind: fc.constant('OrderFilled'), ...base, fill: anyFill }),
  MatchReverted: withOptional<ChangeOf<'MatchReverted'>, 'hold' | 'cancelReason'>(
    {
      kind: fc.constant('MatchReverted'),
      ...base,
      settlementId: anyText,
      revert: anyText,
      hold: anyHold,
      cancelReason: anyText,
    },
    ['hold', 'cancelReason'],
  ),
  FillReversed: withOptional<ChangeOf<'FillReversed'>, 'hold' | 'cancelReason'>(
    {
      kind: fc.constant('FillReversed'),
      ...base,
      fill: anyFill,
      revert: anyText,
      hold: anyHold,
      cancelReason: anyText,
    },
    ['hold', 'cancelReason'],
  ),
  OrderHeld: fc.record({ kind: fc.constant('OrderHeld'), ...base, hold: anyHold }),
  OrderReleased: withOptional<ChangeOf<'OrderReleased'>, 'hold' | 'cancelReason'>(
    { kind: fc.constant('OrderReleased'), ...base, hold: anyHold, cancelReason: anyText },
    ['hold', 'cancelReason'],
  ),
  OrderResized: withOptional<ChangeOf<'OrderResized'>, 'hold' | 'cancelReason'>(
    { kind: fc.constant('OrderResized'), ...base, hold: anyHold, cancelReason: anyText },
    ['hold', 'cancelReason'],
  ),
  OrderCancelled: fc.record({
    kind: fc.constant('OrderCancelled'),
    ...base,
    cancelReason: anyText,
  }),
  OrderExpired: fc.record({ kind: fc.constant('OrderExpired'), ...base }),
  CommandRefused: fc
    .record({
      kind: fc.constant('CommandRefused' as const),
      atMs: anyMs,
      command: fc.constantFrom('PlaceOrder' as const, 'SetLease'),
      source: anyText,
      sourceNo: anySeq,
    })
    .map((change) => ({ ...OF_NO_ORDER, ...change })),
  OrderForgotten: fc
    .record({ atMs: anyMs, tombstone: fc.option(fc.record(spent), { nil: undefined }) })
    .map(({ atMs, tombstone }) => ({ ...FORGOTTEN, atMs, ...(tombstone && { tombstone }) })),
}

/** A well-formed block, with or without terms: contiguous seqs, placements that agree with their orders, contents otherwise of any kind. */
export const anyBlock: fc.Arbitrary<Block> = fc
  .record({
    market: anyMarketName,
    commandSeq: anySeq,
    commandIndex: fc.nat(255),
    firstSeq: anySeq,
    changes: fc.array(fc.oneof(...Object.values(changeOfKind)), { maxLength: 8 }),
    terms: anyTerms,
    isRestated: fc.boolean(),
  })
  .map(({ changes, terms, isRestated, ...block }) => ({
    ...block,
    ...((isRestated || changes.length === 0) && { terms }),
    changes: changes.map((change, index) => ({ ...change, seq: block.firstSeq + index })),
  }))
