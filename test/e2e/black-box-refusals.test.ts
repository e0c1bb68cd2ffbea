import { expect } from 'chai'
import type { Devnet } from '../support/venue.js'
import {
  e18,
  nowSec,
  traderOf,
  tradeData,
  type ActionJson,
  type Json,
  type OrderBody,
  type BlackBoxTrader,
} from './black-box/client.js'
import { expectError, expectShape, HASH } from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

const RESTING = { side: 'buy', price: '0.0025', amount: '40' } as const

describe('a trader’s orders are refused for', function () {
  let devnet: Devnet
  let ann: BlackBoxTrader
  let bob: BlackBoxTrader
  before(async function () {
    ;({ devnet } = await sharedVenue())
    ann = traderOf(devnet, 4)
    bob = traderOf(devnet, 5)
  })

  /** The order with these fields instead is refused, and not there. */
  const refused = async (more: Json, error: string | RegExp) => {
    const body = { ...(await ann.sign(RESTING)), ...more }
    expectError(await ann.post('/v1/orders', body), 400, error)
    const lookup = await ann.get(`/v1/orders/${encodeURIComponent(body.order_id)}`)
    expect(lookup.status).to.equal(404)
  }
  /** Another action under the order; its signature is never reached. */
  const withAction = async (change: (body: OrderBody) => Partial<ActionJson>) => {
    const body = await ann.sign(RESTING)
    return { nonce: body.nonce, action_json: { ...body.action_json, ...change(body) } }
  }

  it('numbers where text belongs, exponents, hex, blanks and signs (MON-001)', async () => {
    for (const value of [40, '4e1', '0x28', ' 40', '40 ', '+40', '.5', '40.', '', '٤'])
      await refused({ desired_amount: value }, value === '' ? /./ : /^invalid decimal value/)
    for (const value of [7, '7.0', '0x7', '+7', ' 7', '-7'])
      await refused({ nonce: value }, /^invalid integer value/)
  })

  it('an amount of zero or less (MON-005)', async () => {
    await refused({ desired_amount: '0' }, 'desired_amount must be greater than zero')
    await refused({ desired_amount: '-40' }, 'desired_amount must be greater than zero')
    await refused({ limit_price: '0' }, 'limit_price must be greater than zero')
  })

  it('more decimals than the step and the tick have (MON-003)', async () => {
    await refused({ desired_amount: '40.0000001' }, /^invalid amount step/)
    const offTick = 'price must align to tick size 0.000000000000000001'
    await refused({ limit_price: '0.0025000000000000001' }, offTick)
    await refused({ desired_amount: '0.0000009' }, 'normalized atomic size is 0')
  })

  it('amounts in wei (ORD-041)', async () => {
    const misaligned = /^action_json\.data\.\w+ is not aligned with normalized \w+$/
    await refused({ desired_amount: `${e18('40')}` }, misaligned)
    await refused({ limit_price: `${e18('0.0025')}` }, misaligned)
  })

  it('a signed price that is a multiple of the booked one (ORD-040)', async () => {
    const worstFee = (e18(RESTING.price) * 30n) / 10_000n
    const data = tradeData(devnet, ann.subaccountId, { ...RESTING, price: '0.005', worstFee })
    await refused(
      await withAction(() => ({ data })),
      'action_json.data.limitPrice is not aligned with normalized limit_price',
    )
  })

  it('words that the body does not say (ORD-035, ORD-039)', async () => {
    await refused({ worst_fee: '1' }, 'action_json.data.worstFee must match worst_fee')
    await refused({ recipient_id: '99' }, 'recipient_id must equal subaccount_id')
    await refused({ sub_id: '1' }, 'asset_address must match a configured instrument')
    await refused({ side: 'sell' }, 'action_json.data.isBid must match side')
  })

  it('data that is not hex, or not seven words, or no clean words (ORD-037)', async () => {
    const data = (change: (data: string) => string) =>
      withAction(({ action_json }) => ({ data: change(action_json.data) }))
    const tuple = 'expected encoded TradeData tuple'
    await refused(await data(() => '0xzz'), /^decode action_json\.data: /)
    await refused(await data(() => '0x'), tuple)
    await refused(await data((words) => words + '0'.repeat(64)), tuple)
    const invariant = /^action_json\.data invariant check failed: /
    await refused(await data((words) => words.slice(0, -1) + '2'), invariant)
    await refused(await data((words) => `0xff${words.slice(4)}`), invariant)
  })

  it('another module (ORD-036)', async () => {
    await refused(await withAction(() => ({ module: devnet.deposit_module })), /module/)
  })

  it('an expiry that has passed, is none, or the action’s that has passed (ORD-029)', async () => {
    await refused({ expiry: nowSec() - 1 }, 'expiry must be in the future')
    await refused({ expiry: undefined }, 'expiry must be in the future')
    await refused({ expiry: 1.5 }, /./)
    const body = await ann.sign({ ...RESTING, expiry: nowSec() - 5 })
    expectError(
      await ann.post('/v1/orders', { ...body, expiry: nowSec() + 100 }),
      400,
      /expiry must be in the future$/,
    )
  })

  it('reduce_only on spot (ORD-066)', async () => {
    await refused({ reduce_only: true }, /reduce_only/)
  })

  it('action_json that is no JSON object', async () => {
    for (const action_json of ['{', '[]', 7, [], 'x'])
      await refused({ action_json }, 'action_json must be valid JSON')
  })

  it('a signature over something else, with what the venue recovered (AUT-009)', async () => {
    const other = await bob.sign(RESTING)
    const body = await ann.sign(RESTING)
    const answer = await ann.post('/v1/orders', { ...body, signature: other.signature })
    expectError(answer, 400, 'signature does not authorize this action')
    expectShape(answer.body.detail, { digest: HASH, expected: /^0x/ })
    expect(answer.body.detail).to.include.keys('domain', 'recovered')
  })
})
