import fc from 'fast-check'
import type { ActionJson } from '../../core/action.js'
import type { Order, UiIntent } from '../../core/model/order.js'
import { amountE18, feePerUnitE18, priceE18 } from '../../core/money.js'
import {
  anyAddress,
  anyAmount,
  anyHex,
  anyMarketName,
  anySec,
  anySide,
  anyText,
  anyUint,
  withOptional,
} from './arbitrary-values.js'

/** fast-check generators of orders. */

const anyUiIntent: fc.Arbitrary<UiIntent> = fc.record({
  side: anySide,
  price: anyText,
  size: anyText,
})

const anyOwnTexts: fc.Arbitrary<Partial<ActionJson>> = fc.record(
  {
    subaccount_id: anyText,
    nonce: anyText,
    module: anyText,
    data: anyText,
    expiry: anyText,
    owner: anyText,
    signer: anyText,
  },
  { requiredKeys: [] },
)

const SELDOM_OF_ORDER = [
  ...(['uiIntent', 'ownTexts', 'warnings', 'reduceOnly'] as const),
  ...(['timeInForce', 'postOnly', 'signedLimitPrice', 'stp', 'stpScope'] as const),
  ...(['signedDesiredAmount', 'replaces', 'leaseId', 'signedByCode'] as const),
]
type SeldomOfOrder = (typeof SELDOM_OF_ORDER)[number]

/** An order of any content; it need not be one that the venue would accept. */
export const anyOrder = (market: fc.Arbitrary<string> = anyMarketName): fc.Arbitrary<Order> =>
  withOptional<Omit<Order, 'goodUntilSec'>, SeldomOfOrder>(
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
      uiIntent: anyUiIntent,
      signatureStatus: fc.constantFrom('checked', 'unchecked'),
      signer: anyAddress,
      expirySec: anySec,
      actionExpirySec: fc.oneof(anySec.map(BigInt), anyUint),
      signature: anyHex,
      ownTexts: anyOwnTexts,
      warnings: fc.array(anyText, { maxLength: 3 }),
      reduceOnly: fc.constant(true as const),
      timeInForce: fc.constantFrom('IOC', 'FOK'),
      postOnly: fc.constantFrom('reject', 'slide'),
      signedLimitPrice: anyAmount.map(priceE18),
      stp: fc.constantFrom('cancel_oldest', 'cancel_both'),
      stpScope: fc.constant('owner'),
      signedDesiredAmount: anyAmount.map(amountE18),
      replaces: anyText,
      leaseId: anyText,
      signedByCode: fc.constant(true as const),
    },
    SELDOM_OF_ORDER,
  ).chain((order) =>
    // A market whose trading ends may end it earlier.
    fc
      .oneof(fc.constant(0), fc.nat())
      .map((sec) => ({ ...order, goodUntilSec: Math.max(earlierExpiry(order) - sec, 0) })),
  )

const earlierExpiry = ({ expirySec, actionExpirySec }: Omit<Order, 'goodUntilSec'>): number =>
  actionExpirySec < BigInt(expirySec) ? Number(actionExpirySec) : expirySec
