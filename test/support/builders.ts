import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'
import type { Fill } from '../../core/change.js'
import { formatDecimal, parseDecimal } from '../../core/decimal.js'
import type { Market } from '../../core/market.js'
import { amountE18, E18, feePerUnitE18, priceE18, quoteE18 } from '../../core/money.js'
import type { Order, OrderProgress, Side } from '../../core/order.js'
import {
  type OrderStatement,
  type StatedTerms,
  writeStatement,
} from '../../core/order-statement.js'
import { encodeTradeData } from '../../core/trade-data.js'
import { intentToEngine } from '../../core/translation.js'
import { loadMarkets } from '../../data/load-markets.js'

const repeated = (pair: string): Address => `0x${pair.repeat(20)}`

/** A deployment's addresses by their names in the deployment file. */
export const testAddresses = {
  wrapped_cngn: repeated('c1'),
  wrapped_usdc: repeated('d1'),
  spot_trade_module: repeated('e1'),
  spot_manager: repeated('f1'),
}

/** The spot market of the shipped market file on made-up addresses, with whatever is overridden. */
export function aMarket(overrides: Partial<Market> = {}): Market {
  const [spot] = loadMarkets(testAddresses)
  if (spot === undefined) throw new Error('the market file is empty')
  return { ...spot, ...overrides }
}

/** A made-up dated future: no order entry spec, whole contracts of 1,000 units, signed amounts at 1e15. */
export function aFuture(overrides: Partial<Market> = {}): Market {
  const future: { -readonly [K in keyof Market]: Market[K] } = {
    ...aMarket(),
    market: 'USDC-cNGN-30NOV26',
    ordinal: 2,
    contractType: 'future',
    settlementType: 'cash_settled_future',
    aliases: [],
    minSize: amountE18(E18),
    amountStep: amountE18(E18),
    contractMultiplier: 1_000n,
    amountScale: 10n ** 15n,
    assetAddress: repeated('c3'),
    subId: 1_796_047_200n,
    tradeModuleAddress: repeated('e3'),
  }
  delete future.orderEntry
  return { ...future, ...overrides }
}

/** A made-up perpetual: the order entry spec is the identity. */
export function aPerp(overrides: Partial<Market> = {}): Market {
  return aMarket({
    market: 'cNGN-PERP',
    ordinal: 1,
    contractType: 'perpetual',
    settlementType: 'cash_settled_perpetual',
    aliases: ['USDCcNGN-PERP'],
    assetAddress: repeated('c2'),
    tradeModuleAddress: repeated('e2'),
    orderEntry: { name: 'cngn_usdc_perp_v1', orientation: 'identity' },
    ...overrides,
  })
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
  /** Unix seconds; far in the future unless told. */
  readonly expirySec?: number
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
    expiry: BigInt(t.expirySec),
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

/** An accepted order of the spot market, not signed by anybody. */
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
    statement: statementOf({ owner, subaccountId: 7n, nonce: 1n, ...overrides }),
    ...overrides,
  }
}

/** What an order with these terms states: signed by its owner, as far as nothing is overridden. */
export function statementOf(
  { owner, subaccountId, nonce }: Pick<Order, 'owner' | 'subaccountId' | 'nonce'>,
  overrides: Partial<StatedTerms> = {},
): OrderStatement {
  const market = aMarket()
  return writeStatement({
    signer: owner,
    recipientId: subaccountId,
    assetAddress: market.assetAddress,
    subId: market.subId,
    worstFee: feePerUnitE18(defaults.worstFee),
    expirySec: farFutureSec,
    action: {
      subaccount_id: subaccountId.toString(),
      nonce: nonce.toString(),
      module: market.tradeModuleAddress,
      data: '0x',
      expiry: farFutureSec.toString(),
      owner,
      signer: owner,
    },
    signature: `0x${'5a'.repeat(65)}`,
    ...overrides,
  })
}

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
