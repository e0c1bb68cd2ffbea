import { balanceFacts } from '../../core/contracts/balances.js'
import fc from 'fast-check'
import type { CloseOut } from '../../core/model/close-out.js'
import type {
  Command,
  LoggedCommand,
  ReversedLeg,
  SettlementOutcome,
  SettlementReversal,
} from '../../core/model/command.js'
import type { Match, PublishedFill } from '../../core/model/match.js'
import type { AccountObservation } from '../../core/model/observation.js'
import type { OrderProgress } from '../../core/model/order.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import type { HoldReason } from '../../interface/reasons.js'
import { anyOrder } from './arbitrary-orders.js'
import { anyOpening, anyRulesChange } from './arbitrary-markets.js'
import {
  anyAddress,
  anyAmount,
  anyHash,
  anyMs,
  anySec,
  anySeq,
  anySide,
  anyStatus,
  anyText,
  anyUint,
  withOptional,
} from './arbitrary-values.js'

export * from './arbitrary-orders.js'
export * from './arbitrary-values.js'

/** fast-check generators of the venue's vocabulary: every kind of command and change, with values of every size. */

export const anyHold = fc.constantFrom<HoldReason>(
  'signature_unchecked',
  'settlement_refused',
  'expiring',
  'continuing',
  'insufficient_balance',
  'not_in_custody',
  'insufficient_margin',
  'open_interest_cap',
  'reduce_only',
  'under_liquidation',
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
  withOptional<Extract<SettlementOutcome, { kind: 'success' }>, 'markPrice' | 'gasCost'>(
    {
      kind: fc.constant('success'),
      txHash: anyHash,
      blockNumber: anyUint,
      markPrice: anyAmount.map(priceE18),
      gasCost: anyAmount.map(quoteE18),
    },
    ['markPrice', 'gasCost'],
  ),
  withOptional<
    Extract<SettlementOutcome, { kind: 'reverted' }>,
    'txHash' | 'spentElsewhere' | 'gasCost' | 'signersRead'
  >(
    {
      kind: fc.constant('reverted'),
      revert: anyText,
      guilty: fc.constantFrom('maker', 'taker', 'both', 'venue', 'unclear'),
      txHash: anyHash,
      spentElsewhere: fc.constant(true as const),
      gasCost: anyAmount.map(quoteE18),
      signersRead: fc.constant(true as const),
    },
    ['txHash', 'spentElsewhere', 'gasCost', 'signersRead'],
  ),
)

const anyBalance = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
export const anyObservation: fc.Arbitrary<AccountObservation> = withOptional<
  AccountObservation,
  'custodyOwner'
>(
  {
    subaccountId: anyUint,
    facts: fc
      .record({ base: anyBalance.map(amountE18), quote: anyBalance.map(quoteE18) })
      .map(balanceFacts),
    custodyOwner: anyAddress,
    leaving: fc.boolean(),
    blockNumber: anyUint,
    blockTimeSec: anySec,
  },
  ['custodyOwner'],
)

const anyLeg = withOptional<ReversedLeg, 'ended' | 'reducedFrom'>(
  {
    orderId: anyText,
    owner: anyAddress,
    side: anySide,
    limitPrice: anyAmount.map(priceE18),
    desired: anyAmount.map(amountE18),
    reducedFrom: anyAmount.map(amountE18),
    ended: fc.record({ status: anyStatus, filled: anyAmount.map(amountE18) }),
  },
  ['ended', 'reducedFrom'],
)

export const matchFields = {
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
      published: withOptional<PublishedFill, 'markPrice'>(
        {
          txHash: anyHash,
          blockNumber: anyUint,
          tradeId: anySeq,
          markPrice: anyAmount.map(priceE18),
        },
        ['markPrice'],
      ),
    }),
  ),
})

/** No spot market has facts of its own on the chain. */
type SpotCommandKind = Exclude<Command['kind'], 'MarketObserved'>

const anyInt = fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n })
const anyCloseOut: fc.Arbitrary<CloseOut> = fc.record({
  subaccountId: anyUint,
  owner: anyAddress,
  position: anyInt,
  price: anyAmount.map(priceE18),
  variation: anyInt,
  txHash: anyHash,
  blockNumber: anyUint,
  blockTimeSec: anySec,
})

const byOperator = { by: anyText, reason: anyText }

/** One arbitrary per command kind; a kind that is missing here does not compile. */
const commandOfKind: {
  readonly [K in SpotCommandKind]: fc.Arbitrary<Extract<Command, { kind: K }>>
} = {
  MarketOpened: fc.record({ kind: fc.constant('MarketOpened'), opening: anyOpening }),
  RepeatOrder: fc.record({
    kind: fc.constant('RepeatOrder'),
    orderId: anyText,
    by: fc.constantFrom('order_id', 'nonce'),
  }),
  MarketRulesSet: fc.record({
    kind: fc.constant('MarketRulesSet'),
    rules: anyRulesChange,
    ...byOperator,
  }),
  MarketPaused: fc.record({ kind: fc.constant('MarketPaused'), ...byOperator }),
  MarketResumed: fc.record({ kind: fc.constant('MarketResumed'), ...byOperator }),
  MarketDisabled: fc.record({ kind: fc.constant('MarketDisabled'), ...byOperator }),
  MarketEnabled: fc.record({ kind: fc.constant('MarketEnabled'), ...byOperator }),
  PlaceOrder: withOptional<Extract<Command, { kind: 'PlaceOrder' }>, 'account' | 'replaces'>(
    {
      kind: fc.constant('PlaceOrder'),
      order: anyOrder(),
      account: anyObservation,
      replaces: anyUint,
    },
    ['account', 'replaces'],
  ),
  ReduceOrder: fc.record({
    kind: fc.constant('ReduceOrder'),
    owner: anyAddress,
    nonce: anyUint,
    desired: anyAmount.map(amountE18),
    reason: anyText,
  }),
  AccountObserved: fc.record({ kind: fc.constant('AccountObserved'), account: anyObservation }),
  ChainFaultObserved: withOptional<Extract<Command, { kind: 'ChainFaultObserved' }>, 'revert'>(
    { kind: fc.constant('ChainFaultObserved'), revert: anyText },
    ['revert'],
  ),
  SignerCodeObserved: fc.record({ kind: fc.constant('SignerCodeObserved'), signer: anyAddress }),
  SessionKeyObserved: fc.record({
    kind: fc.constant('SessionKeyObserved'),
    orderId: anyText,
    endsSec: anySec,
  }),
  CancelOrder: fc.record({
    kind: fc.constant('CancelOrder'),
    owner: anyAddress,
    nonce: anyUint,
    reason: anyText,
  }),
  CancelAll: withOptional<Extract<Command, { kind: 'CancelAll' }>, 'side' | 'subaccountId'>(
    {
      kind: fc.constant('CancelAll'),
      owner: anyAddress,
      side: anySide,
      subaccountId: anyUint,
      reason: anyText,
    },
    ['side', 'subaccountId'],
  ),
  CancelOrders: fc.record({
    kind: fc.constant('CancelOrders'),
    owner: anyAddress,
    orderIds: fc.array(anyText, { maxLength: 5 }),
    reason: anyText,
  }),
  SetLease: withOptional<Extract<Command, { kind: 'SetLease' }>, 'leaseId'>(
    {
      kind: fc.constant('SetLease'),
      owner: anyAddress,
      leaseId: anyText,
      seconds: anySeq,
      opens: fc.boolean(),
    },
    ['leaseId'],
  ),
  EndLease: withOptional<Extract<Command, { kind: 'EndLease' }>, 'leaseId'>(
    { kind: fc.constant('EndLease'), owner: anyAddress, leaseId: anyText, cancels: fc.boolean() },
    ['leaseId'],
  ),
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
  PositionsClosed: fc.record({
    kind: fc.constant('PositionsClosed'),
    closed: fc.array(anyCloseOut, { minLength: 1, maxLength: 3 }),
  }),
  ClockObserved: fc.record({ kind: fc.constant('ClockObserved'), chainMs: anySeq }),
  EngineVersionSet: fc.record({ kind: fc.constant('EngineVersionSet'), version: anySeq }),
  MarketRestored: fc.record({ kind: fc.constant('MarketRestored'), ...byOperator }),
  GapAccepted: fc.record({ kind: fc.constant('GapAccepted'), ...byOperator }),
  GapObserved: fc.record({
    kind: fc.constant('GapObserved'),
    more: fc.boolean(),
    gap: fc.record({
      filled: fc.array(fc.record({ orderId: anyText, filled: anyAmount.map(amountE18) })),
      used: fc.array(fc.record({ owner: anyAddress, nonce: anyUint })),
      fills: fc.array(fc.record({ txHash: anyHash, logIndex: anySeq })),
    }),
  }),
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
