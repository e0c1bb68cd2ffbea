import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { openingOf } from '../../core/model/market-terms.js'
import { intentToEngine } from '../../core/contracts/translation.js'
import { formatDecimal, parseDecimal } from '../../core/decimal.js'
import { emptyMatcherState } from '../../core/engine/empty-state.js'
import type { Order, OrderProgress, Side } from '../../core/model/order.js'
import { ENGINE_VERSION } from '../../core/engine/engine-version.js'
import type { MatcherState } from '../../core/engine/state.js'
import { encodeTradeData } from '../../core/entry/read-action.js'
import type { Fill } from '../../core/model/match.js'
import { amountE18, E18, feePerUnitE18, priceE18, quoteE18 } from '../../core/money.js'
import { joinMarket, parseRow } from '../../data/market-row.js'
import { loadMarkets } from '../../data/markets.js'
import { seriesRow } from './series-rows.js'

const repeated = (pair: string): Address => `0x${pair.repeat(20)}`

/** A deployment's addresses by their names in the deployment file. */
export const testAddresses = {
  wrapped_cngn: repeated('c1'),
  wrapped_usdc: repeated('d1'),
  spot_trade_module: repeated('e1'),
  spot_manager: repeated('f1'),
}

/** What a deployment has with the perpetual. */
export const perpAddresses = {
  perp_asset: repeated('c2'),
  cash_asset: repeated('d2'),
  perp_trade_module: repeated('e2'),
  perp_manager: repeated('f2'),
}

/** What of a deployment only the dated futures need beside these. */
export const futureAddresses = {
  future_asset: repeated('c3'),
  future_trade_module: repeated('e3'),
  futures_manager: repeated('f3'),
}

/** Fields of a market of any contract type. */
type MarketFields = { -readonly [K in keyof Market]?: Market[K] }

/** The spot market of the shipped market file on made-up addresses, with the overrides. */
export function aMarket(overrides: MarketFields = {}): Market {
  const [spot] = loadMarkets(testAddresses).markets
  if (spot === undefined) throw new Error('the market file is empty')
  return { ...spot, ...overrides } as Market
}

/** The state of that market, just opened, of the newest step. */
export const openedState = (overrides: MarketFields = {}): MatcherState => ({
  ...emptyMatcherState(openingOf(aMarket(overrides))),
  engineVersion: ENGINE_VERSION,
})

/** The series USDC-cNGN-30NOV26 on made-up addresses, with the overrides. */
export function aFuture(overrides: MarketFields = {}): Market {
  const row = parseRow(seriesRow('USDC-cNGN-30NOV26', 2, 1_796_047_200n))
  return { ...joinMarket(row, { ...testAddresses, ...futureAddresses }), ...overrides } as Market
}

/** The perpetual of the shipped market file on made-up addresses, with the overrides. */
export function aPerp(overrides: MarketFields = {}): Market {
  const [, perp] = loadMarkets({ ...testAddresses, ...perpAddresses }).markets
  if (perp === undefined) throw new Error('the market file has no perpetual')
  return { ...perp, ...overrides } as Market
}

/** Terms of a signed order in its reader's words; engine side, price in USDC per cNGN, amount in cNGN. */
export interface OrderTerms {
  readonly market?: Market
  readonly orderId?: string
  readonly privateKey?: Hex
  /** Defaults to the key's own address; differs when a session key signs. */
  readonly owner?: Address
  readonly subaccountId?: bigint
  readonly nonce?: bigint
  readonly side?: Side
  readonly price?: string
  readonly amount?: string
  readonly worstFee?: bigint
  /** Unix seconds; far in the future by default. */
  readonly expirySec?: number
  /** That of the signed action; the same by default. */
  readonly actionExpirySec?: bigint
  readonly domain?: SigningDomain
}

/** The part of the EIP-712 domain that differs between deployments. */
export interface SigningDomain {
  readonly chainId: number
  readonly verifyingContract: Address
}

export const testPrivateKey: Hex = `0x${'01'.repeat(32)}`
export const testDomain: SigningDomain = { chainId: 8453, verifyingContract: repeated('ab') }
/** 2100-01-01, so that no test grows old. */
export const farFutureSec = 4_102_444_800

const actionTypes = {
  Action: [
    { name: 'subaccountId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'module', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'expiry', type: 'uint256' },
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
  ],
} as const

/** A body of `POST /v1/orders` as a client would send it; every field may be replaced to make it wrong. */
export interface OrderBody {
  order_id: string
  owner_address: string
  signer_address: string
  subaccount_id: string
  recipient_id: string
  nonce: string
  asset_address: string
  sub_id: string
  worst_fee: string
  expiry: number
  action_json: Record<string, string>
  signature: string
  side?: string
  desired_amount?: string
  limit_price?: string
  order_entry_spec?: string
  ui_intent?: Record<string, string>
}

const defaults = {
  orderId: 'order-1',
  privateKey: testPrivateKey,
  subaccountId: 7n,
  nonce: 1n,
  side: 'buy' as Side,
  price: '0.00065',
  amount: '153000',
  // About 30 bps of the default price, above the 25 bps of the schedule.
  worstFee: 1_950_000_000_000n,
  expirySec: farFutureSec,
  domain: testDomain,
}

const readE18 = (text: string): bigint => {
  const value = parseDecimal(text, 18)
  if (value === undefined) throw new Error(`not a decimal: ${text}`)
  return value
}

/** A body in engine terms, signed for real. */
export async function signedOrderBody(terms: OrderTerms = {}): Promise<OrderBody> {
  const t = { ...defaults, market: aMarket(), ...terms }
  const account = privateKeyToAccount(t.privateKey)
  const owner = t.owner ?? account.address
  const action = {
    subaccountId: t.subaccountId,
    nonce: t.nonce,
    module: t.market.tradeModuleAddress,
    data: encodeTradeData({
      asset: t.market.assetAddress,
      subId: t.market.subId,
      limitPrice: readE18(t.price),
      desiredAmount: (readE18(t.amount) * t.market.amountScale) / E18,
      worstFee: t.worstFee,
      recipientId: t.subaccountId,
      isBid: t.side === 'buy',
    }),
    expiry: t.actionExpirySec ?? BigInt(t.expirySec),
    owner,
    signer: account.address,
  }
  const signature = await account.signTypedData({
    domain: { name: 'Matching', version: '1.0', ...t.domain },
    types: actionTypes,
    primaryType: 'Action',
    message: action,
  })
  return {
    order_id: t.orderId,
    owner_address: owner,
    signer_address: account.address,
    subaccount_id: t.subaccountId.toString(),
    recipient_id: t.subaccountId.toString(),
    nonce: t.nonce.toString(),
    asset_address: t.market.assetAddress,
    sub_id: t.market.subId.toString(),
    worst_fee: t.worstFee.toString(),
    expiry: t.expirySec,
    action_json: {
      subaccount_id: t.subaccountId.toString(),
      nonce: t.nonce.toString(),
      module: action.module,
      data: action.data,
      expiry: action.expiry.toString(),
      owner,
      signer: account.address,
    },
    signature,
    side: t.side,
    desired_amount: t.amount,
    limit_price: t.price,
  }
}

/** A trader's intent on the spot market: side of USDC, price in cNGN per USDC, size in USDC. */
export interface IntentTerms {
  readonly side: Side
  readonly price: string
  readonly size: string
}

/** A body entered with `order_entry_spec` and `ui_intent`, the flat side, price and amount left out; signed for real. */
export async function signedIntentBody(
  intent: IntentTerms,
  terms: Omit<OrderTerms, 'side' | 'price' | 'amount'> = {},
): Promise<OrderBody> {
  const market = terms.market ?? aMarket()
  if (market.orderEntry === undefined) throw new Error(`${market.market} takes no ui_intent`)
  const engine = intentToEngine(
    market.orderEntry.orientation,
    { side: intent.side, priceE18: readE18(intent.price), sizeE18: readE18(intent.size) },
    market,
  )
  const body = await signedOrderBody({
    ...terms,
    market,
    side: engine.side,
    price: formatDecimal(engine.price, 18),
    amount: formatDecimal(engine.amount, 18),
  })
  delete body.side
  delete body.limit_price
  delete body.desired_amount
  return { ...body, order_entry_spec: market.orderEntry.name, ui_intent: { ...intent } }
}

/** An accepted order of the spot market, without a signature. */
export function anOrder(overrides: Partial<Order> = {}): Order {
  const market = aMarket()
  const owner = repeated('aa')
  return {
    orderId: 'order-1',
    market: market.market,
    owner,
    subaccountId: 7n,
    nonce: 1n,
    side: 'buy',
    desiredAmount: amountE18(153_000n * E18),
    initialFilled: amountE18(0n),
    limitPrice: priceE18(readE18('0.00065')),
    worstFee: feePerUnitE18(defaults.worstFee),
    goodUntilSec: farFutureSec,
    signatureStatus: 'checked',
    ...signedTerms(overrides.owner ?? owner, overrides.goodUntilSec ?? farFutureSec),
    ...overrides,
  }
}

/** What says that an order was signed by its owner, until then. */
export const signedTerms = (owner: Address, expirySec: number) => ({
  signer: owner,
  expirySec,
  actionExpirySec: BigInt(expirySec),
  signature: `0x${'5a'.repeat(65)}` as const,
})

/** Where an untouched order stands, with whatever is overridden. */
export function progressOf(order: Order, overrides: Partial<OrderProgress> = {}): OrderProgress {
  return {
    status: 'active',
    filled: order.initialFilled,
    pending: amountE18(0n),
    open: amountE18(order.desiredAmount - order.initialFilled),
    createdAtMs: 1_760_000_000_123,
    updatedAtMs: 1_760_000_000_123,
    ...overrides,
  }
}

/** The taker's leg of a settled match. */
export function aFill(overrides: Partial<Fill> = {}): Fill {
  return {
    settlementId: 'cNGN-USDC:2',
    makerOrderId: 'maker-1',
    takerOrderId: 'taker-1',
    price: priceE18(readE18('0.00065')),
    amount: amountE18(1_000n * E18),
    takerFee: quoteE18(readE18('0.001625')),
    liquidity: 'taker',
    fee: quoteE18(readE18('0.001625')),
    txHash: `0x${'77'.repeat(32)}`,
    blockNumber: 12n,
    tradeId: 768,
    takerSide: 'buy',
    ...overrides,
  }
}
