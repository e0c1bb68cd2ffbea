import type { Admit } from '../../executor/admit.js'
import { encodeTradeData } from '../../core/entry/read-action.js'

export const MODULE = `0x${'e1'.repeat(20)}`
export const ASSET = `0x${'c1'.repeat(20)}` as const

function anAction(subaccountId: string): Record<string, string> {
  const trade = { asset: ASSET, subId: 0n, limitPrice: 1n, desiredAmount: 1n, worstFee: 0n }
  const data = encodeTradeData({ ...trade, recipientId: BigInt(subaccountId), isBid: true })
  const owner = `0x${'aa'.repeat(20)}`
  const head = { subaccount_id: subaccountId, nonce: '1', module: MODULE, data }
  return { ...head, expiry: '4102444800', owner, signer: owner }
}

export interface Body {
  [field: string]: unknown
  actions: Record<string, string>[]
  order_data: { [field: string]: unknown; fill_details: Record<string, string>[] }
}

/** A body of `POST /execute` with one maker. */
export function aBody(): Body {
  const fill = { filled_account: '8', amount_filled: '5', price: '3', fee: '0' }
  return {
    market: 'cNGN-USDC',
    asset_address: ASSET,
    module_address: MODULE,
    maker_order_id: 'maker',
    taker_order_id: 'taker',
    actions: [anAction('7'), anAction('8')],
    signatures: [`0x${'5a'.repeat(65)}`, `0x${'5b'.repeat(65)}`],
    order_data: { taker_account: '7', taker_fee: '1', fill_details: [fill], manager_data: '0x' },
  }
}

/** A venue that has every match to settle. */
export const admitAll: Admit = () => Promise.resolve({ kind: 'admitted' })
