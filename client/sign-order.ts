import { hashTypedData, type TypedDataDomain } from 'viem'
import type { Action, Address, Hex } from '../core/action.js'
import { signedUnits } from '../core/contracts/entry-terms.js'
import { intentToEngine } from '../core/contracts/translation.js'
import { formatDecimal, parseDecimal } from '../core/decimal.js'
import { encodeTradeData } from '../core/entry/read-action.js'
import { SIGNED_STRUCTS } from '../core/entry/signed-structs.js'
import type { Side } from '../core/model/order.js'
import { amountE18, E18, mulDivCeil, priceE18 } from '../core/money.js'
import type { MarketEntry } from '../interface/market.js'
import type { ActionJson, NewOrder } from '../interface/order.js'
import {
  OPTION_NAMES,
  optionKey,
  type OptionName,
  type SentOptions,
} from '../interface/order-options.js'

/** The deployment for which an action is signed. */
export interface SigningDomain {
  readonly chainId: number
  /** The matching contract. */
  readonly matching: Address
}

/** The holder of the key: a viem local account, or a wallet with the same method. */
export interface TypedDataSigner {
  readonly address: Address
  signTypedData(typedData: ActionTypedData): Promise<Hex>
}

/** What every kind of order needs besides its terms. */
export interface OrderFrame extends SentOptions {
  readonly market: MarketEntry
  readonly orderId: string
  /** Decimal digits; the subaccount that trades and receives. */
  readonly subaccountId: string
  readonly nonce: bigint
  /** Unix seconds, of the order and of the signed action. */
  readonly expirySec: number
  /** Signed fee bound in basis points of the worst price of execution, on futures of a contract's size; default 30. */
  readonly worstFeeBps?: number
  /**
   * The best bid of the market now, engine terms (RestClient.bestBid); counts for engine sells alone. A sell executes at any price
   * above its limit, and its fee is of that price. The worst one is taken as the limit, or as BID_HEADROOM_BPS above this bid where
   * that is more. Without it the limit counts alone: a sell more than 20 % below the bids is then cancelled, `fee_bound_too_low`.
   */
  readonly bestBid?: string | undefined
  /** Differs from the signer's address when a session key signs. */
  readonly owner?: Address
}

/** Terms as the engine states them: price in quote per base, both plain decimal text. */
export interface EngineTerms {
  readonly side: Side
  readonly price: string
  readonly amount: string
}

/**
 * Terms as a trader states them: on the spot market the side of USDC, cNGN per USDC, and USDC; on the perpetual the same
 * as the engine's.
 */
export interface TraderTerms {
  readonly side: Side
  readonly price: string
  readonly size: string
}

/** A signed order in engine terms, and in trader terms too when it was entered so. */
export interface OrderBody extends NewOrder {
  readonly sub_id: string
  readonly action_json: ActionJson
  readonly side: Side
  readonly desired_amount: string
  readonly limit_price: string
}

/** A number is not plain decimal text with at most 18 decimals, or the market does not take such an order. */
export class BadOrderTerms extends Error {
  override readonly name = 'BadOrderTerms'
}

const DEFAULT_WORST_FEE_BPS = 30n
/** How far the bids may rise between signing and matching before the fee bound of a sell breaks, in basis points. */
export const BID_HEADROOM_BPS = 500n

const actionTypes = { Action: SIGNED_STRUCTS.Action } as const

/** An action as EIP-712 typed data on the matching contract's domain. */
export interface ActionTypedData {
  readonly domain: TypedDataDomain
  readonly types: typeof actionTypes
  readonly primaryType: 'Action'
  readonly message: Action
}

/** The EIP-712 domain that everything is signed on. */
export function signingDomain({ chainId, matching }: SigningDomain): TypedDataDomain {
  return { name: 'Matching', version: '1.0', chainId, verifyingContract: matching }
}

export function actionTypedData(domain: SigningDomain, action: Action): ActionTypedData {
  return {
    domain: signingDomain(domain),
    types: actionTypes,
    primaryType: 'Action',
    message: action,
  }
}

/** The digest that is signed, which is also the venue's `action_hash`. */
export function actionDigest(domain: SigningDomain, action: Action): Hex {
  return hashTypedData(actionTypedData(domain, action))
}

/** The digest of the order that signOrder would have this address sign. Throws BadOrderTerms. */
export const orderDigest = (
  signer: Address,
  domain: SigningDomain,
  order: OrderFrame & EngineTerms,
): Hex => actionDigest(domain, orderAction(signer, order).action)

/** Signs an order in engine terms and returns the body to post. Throws BadOrderTerms. */
export async function signOrder(
  signer: TypedDataSigner,
  domain: SigningDomain,
  order: OrderFrame & EngineTerms,
): Promise<OrderBody> {
  const { action, worstFee } = orderAction(signer.address, order)
  const signature = await signer.signTypedData(actionTypedData(domain, action))
  const subaccount = order.subaccountId
  return {
    order_id: order.orderId,
    owner_address: action.owner,
    signer_address: action.signer,
    subaccount_id: subaccount,
    recipient_id: subaccount,
    nonce: order.nonce.toString(),
    asset_address: order.market.asset_address,
    sub_id: order.market.sub_id,
    worst_fee: worstFee.toString(),
    expiry: order.expirySec,
    action_json: {
      subaccount_id: subaccount,
      nonce: order.nonce.toString(),
      module: action.module,
      data: action.data,
      expiry: order.expirySec.toString(),
      owner: action.owner,
      signer: action.signer,
    },
    signature,
    side: order.side,
    desired_amount: order.amount,
    limit_price: order.price,
    ...optionsOf(order),
  }
}

/** The stated options as fields of a body. */
const optionsOf = (order: SentOptions): Pick<NewOrder, OptionName> =>
  Object.fromEntries(
    OPTION_NAMES.flatMap((name) => {
      const value = order[optionKey(name)]
      return value === undefined || value === false ? [] : [[name, value]]
    }),
  )

/**
 * Signs an order in trader terms on a market with an order entry spec: it is translated as the venue does it, and the
 * body carries both forms. Throws BadOrderTerms.
 */
export async function signTraderOrder(
  signer: TypedDataSigner,
  domain: SigningDomain,
  order: OrderFrame & TraderTerms,
): Promise<OrderBody> {
  const body = await signOrder(signer, domain, { ...order, ...translate(order.market, order) })
  const { side, price, size } = order
  return { ...body, order_entry_spec: entrySpec(order.market), ui_intent: { side, price, size } }
}

/** Engine terms of trader terms: exact, except that the price is rounded to the tick and the amount down to the step. */
export function translate(market: MarketEntry, terms: TraderTerms): EngineTerms {
  entrySpec(market)
  const orientation = market.engine_side_policy === 'invert_ui_side' ? 'inverted' : 'identity'
  const intent = {
    side: terms.side,
    priceE18: readPositive('price', terms.price),
    sizeE18: readPositive('size', terms.size),
  }
  const engine = intentToEngine(orientation, intent, {
    tickSize: priceE18(readPositive('tick_size', market.tick_size)),
    minSize: amountE18(readPositive('min_size', market.min_size)),
  })
  const { side, price, amount } = engine
  return { side, price: formatDecimal(price, 18), amount: formatDecimal(amount, 18) }
}

function entrySpec(market: MarketEntry): string {
  if (market.order_entry_spec !== undefined) return market.order_entry_spec
  throw new BadOrderTerms(`${market.market} takes orders in engine terms only`)
}

/** A nonce that is not in use: 31 random bytes. Nonces need no order. */
export function randomNonce(): bigint {
  const bytes = crypto.getRandomValues(new Uint8Array(31))
  return bytes.reduce((nonce, byte) => nonce * 256n + BigInt(byte), 0n)
}

function orderAction(
  signer: Address,
  order: OrderFrame & EngineTerms,
): { readonly action: Action; readonly worstFee: bigint } {
  const { market } = order
  const limitPrice = readPositive('price', order.price)
  const feeBps = order.worstFeeBps === undefined ? DEFAULT_WORST_FEE_BPS : BigInt(order.worstFeeBps)
  const worstFee = mulDivCeil(feeBase(order, limitPrice), feeBps, 10_000n)
  const subaccountId = BigInt(order.subaccountId)
  const data = encodeTradeData({
    asset: market.asset_address as Address,
    subId: BigInt(market.sub_id),
    limitPrice,
    desiredAmount: signedAmount(readPositive('amount', order.amount), signedUnits(market).scale),
    worstFee,
    recipientId: subaccountId,
    isBid: order.side === 'buy',
  })
  return {
    worstFee,
    action: {
      subaccountId,
      nonce: order.nonce,
      module: market.trade_module_address as Address,
      data,
      expiry: BigInt(order.expirySec),
      owner: order.owner ?? signer,
      signer,
    },
  }
}

/**
 * What the fee of one signed unit is a share of: the worst price at which it can be charged, and on futures the USDC of a contract,
 * at any price. A buy never executes above its limit.
 */
function feeBase({ market, side, bestBid }: OrderFrame & EngineTerms, limitPrice: bigint): bigint {
  const { feeBaseE18 } = signedUnits(market)
  if (feeBaseE18 !== undefined) return feeBaseE18
  if (side === 'buy' || bestBid === undefined) return limitPrice
  const highest = mulDivCeil(readPositive('bestBid', bestBid), 10_000n + BID_HEADROOM_BPS, 10_000n)
  return highest > limitPrice ? highest : limitPrice
}

/** Exact: an amount that the scale cannot express is refused, not rounded. */
function signedAmount(amount: bigint, scale: bigint): bigint {
  if ((amount * scale) % E18 !== 0n)
    throw new BadOrderTerms('amount is finer than the market signs')
  return (amount * scale) / E18
}

function readPositive(field: string, text: string): bigint {
  const value = parseDecimal(text, 18)
  if (value === undefined || value === 0n) {
    throw new BadOrderTerms(`${field} must be a positive decimal, not ${JSON.stringify(text)}`)
  }
  return value
}
