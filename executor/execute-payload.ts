import { z } from 'zod'
import type { MatchCall } from '../chain/encode-match.js'
import type { Action, Address, Hex } from '../core/action.js'
import { parseInteger } from '../core/decimal.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import { decodeTradeData } from '../core/trade-data.js'

const INT256_MAX = 2n ** 255n - 1n
/** More makers than fit the gas of one transaction on the target chain. */
const MAX_ACTIONS = 33
const MAX_ID_LENGTH = 512

const integer = (max?: bigint) =>
  z.string().transform((text, ctx) => {
    const value = parseInteger(text, max)
    if (value !== undefined) return value
    ctx.addIssue('must be a base-10 integer')
    return z.NEVER
  })
const uint256 = integer()
const positive = integer(INT256_MAX).refine((value) => value > 0n, 'must be greater than zero')
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .transform((text) => text.toLowerCase() as Address)
const bytes = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and pairs of hex digits')
  .transform((text) => text.toLowerCase() as Hex)
const id = z.string().min(1).max(MAX_ID_LENGTH)

const action = z
  .object({
    subaccount_id: uint256,
    nonce: uint256,
    module: address,
    data: bytes,
    expiry: uint256,
    owner: address,
    signer: address,
  })
  .transform(({ subaccount_id: subaccountId, ...rest }): Action => ({ subaccountId, ...rest }))

const orderData = z.object({
  taker_account: uint256,
  taker_fee: uint256,
  fill_details: z
    .array(
      z.object({ filled_account: uint256, amount_filled: positive, price: positive, fee: uint256 }),
    )
    .min(1),
  manager_data: bytes,
})

const fields = z.object({
  market: id,
  asset_address: address,
  module_address: address,
  maker_order_id: id,
  taker_order_id: id,
  /** One per fill, the first is maker_order_id. */
  maker_order_ids: z.array(id).optional(),
  actions: z.array(action).min(2).max(MAX_ACTIONS),
  signatures: z.array(bytes),
  order_data: orderData,
})

type Fields = z.infer<typeof fields>
type Rule = readonly [path: string, message: string, broken: (payload: Fields) => boolean]

/** What must agree within a payload, each rule once. */
const rules: readonly Rule[] = [
  [
    'signatures',
    'actions.length must equal signatures.length',
    (p) => p.actions.length !== p.signatures.length,
  ],
  [
    'actions.0.subaccount_id',
    'actions[0].subaccount_id must equal order_data.taker_account',
    (p) => p.actions[0]?.subaccountId !== p.order_data.taker_account,
  ],
  [
    'actions',
    'every action.module must equal module_address',
    (p) => p.actions.some(({ module }) => module !== p.module_address),
  ],
  [
    'actions',
    'every action.data must be trade data of asset_address',
    (p) => p.actions.some(({ data }) => assetOf(data) !== p.asset_address),
  ],
  [
    'order_data.fill_details',
    'order_data.fill_details needs one entry for each maker',
    (p) => p.order_data.fill_details.length !== p.actions.length - 1,
  ],
  [
    'order_data.fill_details',
    'order_data.fill_details[i].filled_account must equal actions[i + 1].subaccount_id',
    (p) =>
      p.order_data.fill_details.some(
        (fill, i) => fill.filled_account !== p.actions[i + 1]?.subaccountId,
      ),
  ],
  [
    'maker_order_ids',
    'maker_order_ids must name each maker, maker_order_id first',
    (p) =>
      p.maker_order_ids !== undefined &&
      (p.maker_order_ids.length !== p.actions.length - 1 ||
        p.maker_order_ids[0] !== p.maker_order_id),
  ],
]

/** Body of `POST /execute` (interface 2.10, decisions E7 and E12), read; unknown fields are ignored. */
export const executePayload = fields
  .superRefine((payload, ctx) => {
    for (const [path, message, broken] of rules) {
      if (broken(payload)) ctx.addIssue({ code: 'custom', path: path.split('.'), message })
    }
  })
  .transform((payload) => ({
    market: payload.market,
    assetAddress: payload.asset_address,
    moduleAddress: payload.module_address,
    takerOrderId: payload.taker_order_id,
    makerOrderIds: payload.maker_order_ids ?? [payload.maker_order_id],
    match: toMatch(payload),
  }))

/** A settlement as somebody asked for it. */
export type ExecutePayload = z.infer<typeof executePayload>

function toMatch({ actions, signatures, order_data: order }: Fields): MatchCall {
  const fillDetails = order.fill_details.map((fill) => ({
    filledAccount: fill.filled_account,
    amountFilled: amountE18(fill.amount_filled),
    price: priceE18(fill.price),
    fee: quoteE18(fill.fee),
  }))
  const takerFee = quoteE18(order.taker_fee)
  const { taker_account: takerAccount, manager_data: managerData } = order
  return { actions, signatures, orderData: { takerAccount, takerFee, fillDetails, managerData } }
}

function assetOf(data: Hex): Address | undefined {
  const decoded = decodeTradeData(data)
  return 'data' in decoded ? decoded.data.asset : undefined
}
