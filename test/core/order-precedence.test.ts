import { expect } from 'chai'
import { signedOrderBody } from '../support/builders.js'
import { refused } from '../support/order-checks.js'

type Fields = Record<string, unknown>

const engine = await signedOrderBody()

/** One fault of each station, in the order in which they are answered. */
const stations: readonly (readonly [message: string, fault: Fields])[] = [
  ['order_id is required', { order_id: undefined }],
  ['asset_address is required', { asset_address: undefined }],
  ['nonce is required', { nonce: undefined }],
  ['limit_price is required', { limit_price: undefined }],
  ['desired_amount is required', { desired_amount: undefined }],
  ['signature is required', { signature: undefined }],
  ['owner_address is required', { owner_address: undefined }],
  ['worst_fee is required', { worst_fee: undefined }],
  ['expiry must be in the future', { expiry: 1 }],
  ['action_json must be valid JSON', { action_json: '{' }],
  ['side must be buy or sell', { side: 'hold' }],
  ['asset_address must match a configured instrument', { asset_address: '0x00' }],
  ['limit_price must be greater than zero', { limit_price: '0' }],
  ['desired_amount must be greater than zero', { desired_amount: '0' }],
  ['filled_amount cannot be negative', { filled_amount: '-1' }],
  ['action_json.subaccount_id must match subaccount_id', { subaccount_id: '8' }],
  ['recipient_id must equal subaccount_id', { recipient_id: '8' }],
  ['action_json.data.worstFee must match worst_fee', { worst_fee: '8' }],
  ['reduce_only is not supported on this market', { reduce_only: true }],
]

describe('of two faults the earlier station answers', () => {
  for (const [index, [message, fault]] of stations.entries()) {
    it(message, () => {
      for (const [, later] of stations.slice(index)) {
        expect(refused({ ...engine, ...later, ...fault }).message).to.equal(message)
      }
    })
  }

  it('the translation between instrument and price', () => {
    const half = { ...engine, order_entry_spec: 'cngn_usdc_spot_v1' }
    expect(refused({ ...half, asset_address: '0x00' }).code).to.equal('unknown_instrument')
    expect(refused({ ...half, limit_price: '0' }).code).to.equal('ui_intent_missing')
    // What a translation could derive is not asked for before the translation was judged.
    expect(refused({ ...half, limit_price: undefined }).code).to.equal('ui_intent_missing')
  })
})
