/** fast-check generators of the venue's vocabulary: every kind of command and change, with values of every size. */
import fc from 'fast-check'
import type { AccountObservation } from '../../core/account.js'
import type { Address, ActionJson, Hex } from '../../core/action.js'
import type { Block, Change, ChangeBase, Fill, HoldReason, Match } from '../../core/change.js'
import type {
  Command,
  LoggedCommand,
  ReversedLeg,
  SettlementOutcome,
  SettlementReversal,
} from '../../core/command.js'
import { amountE18, feePerUnitE18, priceE18, quoteE18 } from '../../core/money.js'
import type { Order, OrderProgress, OrderStatus, Side, UiIntent } from '../../core/order.js'
import { type StatedTerms, writeStatement } from '../../core/order-statement.js'

const MAX_UINT256 = 2n ** 256n - 1n
const MARKETS = ['cNGN-USDC', 'cNGN-PERP', 'USDC-cNGN-30NOV26']

export const anyUint = fc.bigInt({ min: 0n, max: MAX_UINT256 })
/** Amounts as they occur, with the extremes mixed in. */
export const anyAmount = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 30n }), anyUint)
export const anyMs = fc.integer({ min: 0, max: 4_102_444_800_000 })
export const anySec = fc.integer({ min: 0, max: 4_102_444_800 })
export const anySeq = fc.integer({ min: 1, max: 2 ** 40 })
export const anySide = fc.constantFrom<Side>('buy', 'sell')
export const anyStatus = fc.constantFrom<OrderStatus>(
  'active',
  'matching',
  'filled',
  'cancelled',
  'expired',
)
export const anyMarketName = fc.constantFrom(...MARKETS)
/** Client-chosen text: anything a JSON string can hold. */
export const anyText = fc.string({ unit: 'grapheme', maxLength: 40 })

const hexDigits = (digits: string, min: number, max: number): fc.Arbitrary<Hex> =>
  fc
    .string({ unit: fc.constantFrom(...digits), minLength: min, maxLength: max })
    .map((text): Hex => `0x${text}`)

export const anyAddress: fc.Arbitrary<Address> = hexDigits('0123456789abcdef', 40, 40)
export const anyHash: fc.Arbitrary<Hex> = hexDigits('0123456789abcdef', 64, 64)
export const anyHex: fc.Arbitrary<Hex> = hexDigits('0123456789abcdefABCDEF', 0, 200)

/** Any text again, short enough for all the texts of a statement to fit it. */
const anyShortText = fc.string({ unit: 'grapheme', maxLength: 10 })

export const anyActionJson: fc.Arbitrary<ActionJson> = fc.record({
  subaccount_id: anyShortText,
  nonce: anyShortText,
  module: anyShortText,
  data: anyShortText,
  expiry: anyShortText,
  owner: anyShortText,
  signer: anyShortText,
})

const anyUiIntent: fc.Arbitrary<UiIntent> = fc.record({
  side: anySide,
  price: anyText,
  size: anyText,
})

/** What an order may state, of any content. */
export const anyStatedTerms: fc.Arbitrary<StatedTerms> = withOptional<StatedTerms, 'warnings'>(
  {
    signer: anyAddress,
    recipientId: anyUint,
    assetAddress: anyAddress,
    subId: anyUint,
    worstFee: anyAmount.map(feePerUnitE18),
    expirySec: anySec,
    action: anyActionJson,
    signature: anyHex,
    warnings: fc.array(anyShortText, { maxLength: 3 }),
  },
  ['warnings'],
)

/** An order of any content; it need not be one that the venue would accept. */
export const anyOrder = (market: fc.Arbitrary<string> = anyMarketName): fc.Arbitrary<Order> =>
  withOptional<Order, 'uiIntent'>(
    {
      orderId: anyText,
      market,
      owner: anyAddress,
      subaccountId: anyUint,
      nonce: anyUint,
      side: anySide,
      desiredAmount: anyAmount.map(amountE18),
      initialFilled: anyAmount.map(amountE18),
      limitPrice: anyAmount.map(priceE18),
      worstFee: anyAmount.map(feePerUnitE18),
      goodUntilSec: anySec,
      uiIntent: anyUiIntent,
      signatureStatus: fc.constantFrom('checked', 'unchecked'),
      statement: anyStatedTerms.map(writeStatement),
    },
    ['uiIntent'],
  )

const anyHold = fc.constantFrom<HoldReason>(
  'signature_unchecked',
  'settlement_refused',
  'expiring',
  'continuing',
  'insufficient_balance',
  'not_in_custody',
)

export const anyProgress: fc.Arbitrary<OrderProgress> = withOptional<
  OrderProgress,
  'heldReason' | 'cancelReason' | 'cancelledAtMs'
>(
  {
    status: anyStatus,
    filled: anyAmount.map(amountE18),
    pending: anyAmount.map(amountE18),
    open: anyAmount.map(amountE18),
    createdAtMs: anyMs,
    updatedAtMs: anyMs,
    heldReason: anyHold,
    cancelReason: anyText,
    cancelledAtMs: anyMs,
  },
  ['heldReason', 'cancelReason', 'cancelledAtMs'],
)

const anyOutcome: fc.Arbitrary<SettlementOutcome> = fc.oneof(
  fc.record({ kind: fc.constant('success' as const), txHash: anyHash, blockNumber: anyUint }),
  withOptional<Extract<SettlementOutcome, { kind: 'reverted' }>, 'txHash'>(
    {
      kind: fc.constant('reverted'),
      revert: anyText,
      guilty: fc.constantFrom('maker', 'taker', 'both'),
      txHash: anyHash,
    },
    ['txHash'],
  ),
)

const anyBalance = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
export const anyObservation: fc.Arbitrary<AccountObservation> = withOptional<
  AccountObservation,
  'custodyOwner'
>(
  {
    subaccountId: anyUint,
    base: anyBalance.map(amountE18),
    quote: anyBalance.map(quoteE18),
    custodyOwner: anyAddress,
    leaving: fc.boolean(),
    blockNumber: anyUint,
    blockTimeSec: anySec,
  },
  ['custodyOwner'],
)

const anyLeg = withOptional<ReversedLeg, 'ended'>(
  {
    orderId: anyText,
    owner: anyAddress,
    side: anySide,
    limitPrice: anyAmount.map(priceE18),
    desired: anyAmount.map(amountE18),
    ended: fc.record({ status: anyStatus, filled: anyAmount.map(amountE18) }),
  },
  ['ended'],
)

const matchFields = {
  settlementId: anyText,
  makerOrderId: anyText,
  takerOrderId: anyText,
  price: anyAmount.map(priceE18),
  amount: anyAmount.map(amountE18),
  takerFee: anyAmount.map(quoteE18),
}
export const anyMatch: fc.Arbitrary<Match> = fc.record(matchFields)

const anyReversal: fc.Arbitrary<SettlementReversal> = fc.record({
  no: anySeq.filter((no) => no > 0),
  match: anyMatch,
  maker: anyLeg,
  taker: anyLeg,
  now: fc.oneof(
    fc.record({ kind: fc.constant('success' as const), txHash: anyHash, blockNumber: anyUint }),
    fc.record({
      kind: fc.constant('reverted' as const),
      revert: anyText,
      told: fc.record({ txHash: anyHash, blockNumber: anyUint, tradeId: anySeq }),
    }),
  ),
})

/** One arbitrary per command kind; a kind that is missing here does not compile. */
const commandOfKind: {
  readonly [K in Command['kind']]: fc.Arbitrary<Extract<Command, { kind: K }>>
} = {
  PlaceOrder: withOptional<Extract<Command, { kind: 'PlaceOrder' }>, 'account'>(
    { kind: fc.constant('PlaceOrder'), order: anyOrder(), account: anyObservation },
    ['account'],
  ),
  AccountObserved: fc.record({ kind: fc.constant('AccountObserved'), account: anyObservation }),
  CancelOrder: fc.record({
    kind: fc.constant('CancelOrder'),
    owner: anyAddress,
    nonce: anyUint,
    reason: anyText,
  }),
  Tick: fc.record({ kind: fc.constant('Tick') }),
  ContinueOrder: fc.record({ kind: fc.constant('ContinueOrder'), orderId: anyText }),
  SignatureChecked: fc.record({
    kind: fc.constant('SignatureChecked'),
    orderId: anyText,
    valid: fc.boolean(),
  }),
  SettlementReported: fc.record({
    kind: fc.constant('SettlementReported'),
    settlementId: anyText,
    outcome: anyOutcome,
  }),
  SettlementReversed: fc.record({
    kind: fc.constant('SettlementReversed'),
    reversal: anyReversal,
  }),
  ReversalsRead: fc.record({ kind: fc.constant('ReversalsRead'), upTo: anySeq }),
}

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(...Object.values(commandOfKind))

export const anyLoggedCommand: fc.Arbitrary<LoggedCommand> = withOptional<
  LoggedCommand,
  'replyTo' | 'requestId'
>(
  {
    source: anyText,
    sourceNo: anySeq,
    atMs: anyMs,
    replyTo: anyText,
    requestId: anyText,
    command: anyCommand,
  },
  ['replyTo', 'requestId'],
)

export const anyFill: fc.Arbitrary<Fill> = fc.record({
  ...matchFields,
  liquidity: fc.constantFrom('maker', 'taker'),
  fee: anyAmount.map(quoteE18),
  txHash: anyHash,
  blockNumber: anyUint,
  tradeId: anySeq,
  takerSide: anySide,
})

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
  OrderCancelled: fc.record({
    kind: fc.constant('OrderCancelled'),
    ...base,
    cancelReason: anyText,
  }),
  OrderExpired: fc.record({ kind: fc.constant('OrderExpired'), ...base }),
}

/** A well-formed block: contiguous seqs, placements that agree with their orders, contents otherwise of any kind. */
export const anyBlock: fc.Arbitrary<Block> = fc
  .record({
    market: anyMarketName,
    commandSeq: anySeq,
    commandIndex: fc.nat(255),
    firstSeq: anySeq,
    changes: fc.array(fc.oneof(...Object.values(changeOfKind)), { minLength: 1, maxLength: 8 }),
  })
  .map(({ changes, ...block }) => ({
    ...block,
    changes: changes.map((change, index) => ({ ...change, seq: block.firstSeq + index })),
  }))

/** A record whose named keys are each present or absent. */
function withOptional<T, K extends keyof T>(
  model: { [P in keyof Required<T>]: fc.Arbitrary<Exclude<T[P], undefined>> },
  optional: readonly K[],
): fc.Arbitrary<T> {
  const requiredKeys = (Object.keys(model) as (keyof T)[]).filter(
    (key) => !(optional as readonly (keyof T)[]).includes(key),
  )
  return fc.record(model, { requiredKeys })
}
