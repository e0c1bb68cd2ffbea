import type { MatchCall } from '../chain/contracts/calldata.js'
import type { Action, Address, Hex, TradeData } from '../core/action.js'
import type { Market } from '../core/model/market.js'
import { decodeTradeData } from '../core/entry/read-action.js'
import type { FillTerms } from '../core/contracts/claims.js'
import { tradingOf } from '../core/contracts/registry.js'
import { sizeOfSigned } from '../core/entry/order-terms.js'
import { MAX_FEE_BPS } from '../core/entry/read-rules.js'
import { INT256_MAX, UINT256_MAX } from '../core/limits.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import { ExecuteRequest } from '../interface/execute.js'
import type { ActionJson } from '../interface/order.js'

type PayloadRule = readonly [
  path: string,
  message: string,
  broken: (payload: ExecutePayload, request: ExecuteRequest) => boolean,
]

/** Integers of a call that its words do not hold. */
function exceedsWords({ actions, orderData }: MatchCall): boolean {
  const { takerAccount, takerFee, fillDetails } = orderData
  const unsigned = [
    ...actions.flatMap(({ subaccountId, nonce, expiry }) => [subaccountId, nonce, expiry]),
    ...fillDetails.flatMap(({ filledAccount, fee }) => [filledAccount, fee]),
  ]
  const signed = fillDetails.flatMap(({ amountFilled, price }) => [amountFilled, price])
  return (
    [takerAccount, takerFee, ...unsigned].some((value) => value > UINT256_MAX) ||
    signed.some((value) => value > INT256_MAX)
  )
}

/** What must agree within a payload, each rule once. */
const rules: readonly PayloadRule[] = [
  ['', 'integers must fit a word of the chain', ({ match }) => exceedsWords(match)],
  [
    'signatures',
    'actions.length must equal signatures.length',
    ({ match }) => match.actions.length !== match.signatures.length,
  ],
  [
    'actions.0.subaccount_id',
    'actions[0].subaccount_id must equal order_data.taker_account',
    ({ match }) => match.actions[0]?.subaccountId !== match.orderData.takerAccount,
  ],
  [
    'actions',
    'every action.module must equal module_address',
    ({ match, moduleAddress }) => match.actions.some(({ module }) => module !== moduleAddress),
  ],
  [
    'actions',
    'every action.data must be trade data of asset_address',
    ({ match, assetAddress }) => match.actions.some(({ data }) => assetOf(data) !== assetAddress),
  ],
  [
    'order_data.fill_details',
    'order_data.fill_details needs one entry for each maker',
    ({ match }) => match.orderData.fillDetails.length !== match.actions.length - 1,
  ],
  [
    'order_data.fill_details',
    'order_data.fill_details[i].filled_account must equal actions[i + 1].subaccount_id',
    ({ match }) =>
      match.orderData.fillDetails.some(
        (fill, i) => fill.filledAccount !== match.actions[i + 1]?.subaccountId,
      ),
  ],
  [
    'maker_order_ids',
    'maker_order_ids must name each maker, maker_order_id first',
    (_, { maker_order_ids: ids, maker_order_id: first, actions }) =>
      ids !== undefined && (ids.length !== actions.length - 1 || ids[0] !== first),
  ],
]

/** Body of `POST /execute` (SET-051 to SET-053), read: numbers as integers, hex in lower case. */
export const executePayload = ExecuteRequest.transform((request, ctx) => {
  const payload = readPayload(request)
  for (const [path, message, broken] of rules) {
    if (broken(payload, request))
      ctx.addIssue({ code: 'custom', path: path === '' ? [] : path.split('.'), message })
  }
  return payload
})

/** A requested settlement. */
export type ExecutePayload = ReturnType<typeof readPayload>

const readPayload = (request: ExecuteRequest) => ({
  market: request.market,
  assetAddress: lowerHex(request.asset_address),
  moduleAddress: lowerHex(request.module_address),
  takerOrderId: request.taker_order_id,
  makerOrderIds: request.maker_order_ids ?? [request.maker_order_id],
  match: readMatch(request),
})

function readMatch({ actions, signatures, order_data: order }: ExecuteRequest): MatchCall {
  return {
    actions: actions.map(readAction),
    signatures: signatures.map(lowerHex),
    orderData: {
      takerAccount: BigInt(order.taker_account),
      takerFee: quoteE18(BigInt(order.taker_fee)),
      fillDetails: order.fill_details.map((fill) => ({
        filledAccount: BigInt(fill.filled_account),
        amountFilled: amountE18(BigInt(fill.amount_filled)),
        price: priceE18(BigInt(fill.price)),
        fee: quoteE18(BigInt(fill.fee)),
      })),
      managerData: lowerHex(order.manager_data),
    },
  }
}

const readAction = (json: ActionJson): Action => ({
  subaccountId: BigInt(json.subaccount_id),
  nonce: BigInt(json.nonce),
  module: lowerHex(json.module),
  data: lowerHex(json.data),
  expiry: BigInt(json.expiry),
  owner: lowerHex(json.owner),
  signer: lowerHex(json.signer),
})

/** The schema has checked that it is hex. */
const lowerHex = (text: string): Hex => text.toLowerCase() as Hex

function assetOf(data: Hex): Address | undefined {
  const decoded = decodeTradeData(data)
  return 'data' in decoded ? decoded.data.asset : undefined
}

/** What is wrong with a payload, and where. */
export interface Objection {
  readonly field: string
  readonly message: string
  /** Present where the payload is well formed, and the venue does not settle it: 422 in place of 400. */
  readonly isUnsettleable?: true
  /** Present where no order can be at fault: the market of this process is another one than that of the log. */
  readonly guilty?: 'venue'
}

const ofMarket = (field: string, message: string): Objection => ({
  field,
  message,
  guilty: 'venue',
})

const ofFee = (field: string, message: string): Objection => ({
  ...ofMarket(field, message),
  isUnsettleable: true,
})

/** Market, instrument, price and fees of a payload, held against the venue's own rules; empty when they agree. */
export type CheckTerms = (payload: ExecutePayload) => readonly Objection[]

/**
 * The chain enforces only the signed limits, not the maker's price or that a fee has a rate. So the terms are checked
 * here. `markets` are those that are settled here, always the same array.
 */
export function createTermsCheck(markets: readonly Market[]): CheckTerms {
  return (payload) => {
    const market = markets.find(({ market: name }) => name === payload.market)
    if (market === undefined) return [ofMarket('market', 'is not settled here')]
    const first =
      wrongInstrument(payload, market) ?? wrongPrice(payload) ?? wrongFee(payload, market)
    return first === undefined ? [] : [first]
  }
}

function wrongInstrument(payload: ExecutePayload, market: Market): Objection | undefined {
  if (payload.assetAddress !== market.assetAddress) {
    return ofMarket('asset_address', `must be the market's ${market.assetAddress}`)
  }
  if (payload.moduleAddress !== market.tradeModuleAddress) {
    return ofMarket('module_address', `must be the market's ${market.tradeModuleAddress}`)
  }
  const at = payload.match.actions.findIndex(({ data }) => tradeOf(data)?.subId !== market.subId)
  if (at === -1) return undefined
  return ofMarket(`actions.${at}.data`, `must name sub id ${market.subId}`)
}

/** Each fill is made at the maker's limit: the signed one, or a better one for the maker at which it was booked. */
function wrongPrice({ match }: ExecutePayload): Objection | undefined {
  for (const [i, { price }] of match.orderData.fillDetails.entries()) {
    const maker = tradeOf(match.actions[i + 1]?.data ?? '0x')
    const limit = maker?.limitPrice
    if (maker !== undefined && isWithinLimit(price, maker)) continue
    const field = `order_data.fill_details.${i}.price`
    return { field, message: `must be within the maker's signed limit price ${limit}` }
  }
  return undefined
}

const isWithinLimit = (price: bigint, { isBid, limitPrice }: TradeData): boolean =>
  isBid ? price <= limitPrice : price >= limitPrice

/**
 * Makers pay their schedule. The taker's fee is the sum over its fills at one rate, rounded down for each: the rate of the
 * market's rules when the match was made, which may have changed since. What the taker signed bounds it on the chain.
 */
function wrongFee({ match }: ExecutePayload, market: Market): Objection | undefined {
  const { takerFee: feeOf } = tradingOf(market)
  const { takerFee, fillDetails } = match.orderData
  const sizeOf = ({ amountFilled }: FillTerms) => sizeOfSigned(market, amountFilled)
  for (const [i, fill] of fillDetails.entries()) {
    const { price, fee } = fill
    const makerFee = feeOf({ takerFeeBps: market.makerFeeBps }, price, sizeOf(fill))
    if (fee === makerFee) continue
    return ofFee(`order_data.fill_details.${i}.fee`, `must be ${makerFee}`)
  }
  const feeAt = (takerFeeBps: number): bigint =>
    fillDetails.reduce((sum, fill) => sum + feeOf({ takerFeeBps }, fill.price, sizeOf(fill)), 0n)
  if (takerFee === feeAt(market.takerFeeBps) || isFeeOfSomeRate(takerFee, feeAt)) return undefined
  const message = `must be the fee at a whole rate of 0 to ${MAX_FEE_BPS} basis points`
  return ofFee('order_data.taker_fee', message)
}

/** Whether a rate gives this fee; fees rise with the rate. */
function isFeeOfSomeRate(fee: bigint, feeAt: (bps: number) => bigint): boolean {
  let [low, high] = [0, MAX_FEE_BPS]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (feeAt(middle) < fee) low = middle + 1
    else high = middle
  }
  return feeAt(low) === fee
}

function tradeOf(data: string) {
  const decoded = decodeTradeData(data)
  return 'data' in decoded ? decoded.data : undefined
}
