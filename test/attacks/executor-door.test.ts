import { expect } from 'chai'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createPublicClient, http } from 'viem'
import { createRestClient, type OrderBody, type OrderRecord } from '../../client/index.js'
import { createTrader, e18, SPOT, type OrderWish, type Trader } from '../e2e/stage/trader.js'
import { roleAccounts } from '../../devnet/chain/accounts.js'
import { startVenue, type TestVenue } from '../support/venue.js'

interface Answer {
  readonly status: number | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** What is public of an order, or what the attacker has signed. */
type Signed = Pick<OrderBody, 'order_id' | 'action_json' | 'signature'>

/** In basis points, of the shipped market. */
const FEE_BPS = 25n

/** What a web page, a user of the machine or a matcher gone bad might have the executor settle. */
describe('a caller of the executor that is not the matcher', function () {
  let venue: TestVenue
  let secret: string
  let seller: Trader
  let attacker: Trader
  let sent: () => Promise<number>

  before(async () => {
    venue = await startVenue({ blockTime: 1 })
    const { devnet, dataDir } = venue
    secret = readFileSync(join(dataDir, 'executor.secret'), 'utf8').trim()
    seller = createTrader(devnet, 0)
    attacker = createTrader(devnet, 1)
    const { executor } = await roleAccounts(dataDir)
    const chain = createPublicClient({ transport: http(devnet.rpc_url) })
    sent = () => chain.getTransactionCount({ address: executor.address })
  })
  after(() => venue?.stop())

  const sell = (amount: string): OrderWish => ({ side: 'sell', price: '0.002', amount })
  const buy = (amount: string): OrderWish => ({ side: 'buy', price: '0.002', amount })
  /** As anyone reads it. */
  const recordOf = (orderId: string): Promise<OrderRecord> =>
    createRestClient(venue.gatewayUrl).order(orderId)

  function payloadOf(taker: Signed, maker: Signed, amount: string, feeBps = FEE_BPS) {
    const { devnet } = venue
    const word = e18(amount)
    const price = e18('0.002')
    const fee = (((price * word) / 10n ** 18n) * feeBps) / 10_000n
    return {
      market: SPOT,
      asset_address: devnet.wrapped_cngn,
      module_address: devnet.spot_trade_module,
      maker_order_id: maker.order_id,
      taker_order_id: taker.order_id,
      actions: [taker.action_json, maker.action_json],
      signatures: [taker.signature, maker.signature],
      order_data: {
        taker_account: taker.action_json.subaccount_id,
        taker_fee: `${fee}`,
        fill_details: [
          {
            filled_account: maker.action_json.subaccount_id,
            amount_filled: `${word}`,
            price: `${price}`,
            fee: '0',
          },
        ],
        manager_data: '0x',
      },
    }
  }

  async function post(body: unknown, given: Record<string, string> = {}): Promise<Answer> {
    const headers = { 'content-type': 'application/json', ...given }
    const url = new URL('/execute', venue.devnet.executor_url)
    const asking = request(url, { method: 'POST', headers })
    asking.end(JSON.stringify(body))
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response) text += String(chunk)
    return { status: response.statusCode, body: JSON.parse(text) as Answer['body'] }
  }
  const withSecret = (body: unknown, key?: string) =>
    post(body, {
      authorization: `Bearer ${secret}`,
      ...(key !== undefined && { 'idempotency-key': key }),
    })
  const errorOf = ({ status, body }: Answer): string => `${status} ${String(body.error)}`

  it('does not get in as a page, by a name of its own, or without the secret (SET-049)', async () => {
    const before = await sent()
    const order = await seller.place(sell('2'))
    await seller.cancel(order)
    const payload = payloadOf(
      await attacker.sign(buy('2')),
      await recordOf(order.order_id),
      '2',
      0n,
    )
    const page = { 'content-type': 'text/plain', origin: 'https://evil.example' }
    const rows: readonly (readonly [Record<string, string>, number])[] = [
      [page, 403],
      [{ ...page, origin: 'null' }, 403],
      [{ 'content-type': 'text/plain' }, 401],
      [{}, 401],
      [{ authorization: 'Bearer guess' }, 401],
      [{ host: 'evil.example' }, 403],
      [{ host: 'evil.example', authorization: `Bearer ${secret}` }, 403],
      [{ 'content-type': 'text/plain', authorization: `Bearer ${secret}` }, 415],
    ]
    for (const [headers, status] of rows) {
      expect((await post(payload, headers)).status, JSON.stringify(headers)).to.equal(status)
    }
    for (const path of ['/faults', '/reversals']) {
      const answer = await fetch(new URL(path, venue.devnet.executor_url))
      expect(answer.status, path).to.equal(401)
    }
    expect(await sent()).to.equal(before)
  })

  it('has no cancelled order settled, taken from its public record, not even with the secret (SET-057)', async () => {
    const before = await sent()
    const order = await seller.place(sell('2'))
    await seller.cancel(order)
    const record = await recordOf(order.order_id)
    const own = await attacker.sign(buy('2'))
    expect(errorOf(await withSecret(payloadOf(own, record, '2')))).to.match(/^422 .*actions\.1/)
    expect(errorOf(await withSecret(payloadOf(own, record, '2', 0n)))).to.match(/^422 .*taker_fee/)
    for (const key of [`${SPOT}:1`, 'cNGN-PERP:1', 'a key of its own'.replaceAll(' ', '-')]) {
      expect((await withSecret(payloadOf(own, record, '2'), key)).status, key).to.equal(422)
    }
    expect(await recordOf(order.order_id)).to.include({ status: 'cancelled', filled_amount: '0' })
    expect(await sent()).to.equal(before)
  })

  it('gets no other fee, and no more than an order has left (SET-054, SET-056)', async () => {
    const before = await sent()
    const order = await seller.place(sell('2'))
    const record = await recordOf(order.order_id)
    const own = await attacker.sign(buy('9'))
    for (const feeBps of [0n, FEE_BPS - 1n, FEE_BPS + 1n]) {
      const answer = await withSecret(payloadOf(own, record, '2', feeBps))
      expect(errorOf(answer)).to.match(/^422 .*taker_fee/)
    }
    expect(errorOf(await withSecret(payloadOf(own, record, '2.5')))).to.match(/^422 .*left/)
    await seller.cancel(order)
    expect(await sent()).to.equal(before)
  })

  it('gets nothing of a match that was settled, under its key, another one or none', async () => {
    const maker = await seller.place(sell('3'))
    const taker = await attacker.place(buy('3'))
    await attacker.until(taker.order_id, 'filled')
    const before = await sent()
    const settled = payloadOf(await recordOf(taker.order_id), await recordOf(maker.order_id), '3')
    expect(errorOf(await withSecret(settled))).to.match(/^422 .*nothing left/)
    expect(errorOf(await withSecret(settled, 'again'))).to.match(/^422 /)
    const { seq, txHash } = await settlementOf(taker.order_id)
    const repeated = await withSecret(settled, `${SPOT}:${seq}`)
    expect(repeated.body).to.include({ receipt_status: 'success', tx_hash: txHash })
    const other = payloadOf(await attacker.sign(buy('1')), await recordOf(maker.order_id), '1')
    expect((await withSecret(other, `${SPOT}:${seq}`)).status).to.equal(400)
    // A key that the market has yet to give would be in the way of its own match.
    expect((await withSecret(other, `${SPOT}:${seq + 1_000_000}`)).status).to.equal(503)
    expect(await sent()).to.equal(before)
  })

  /** The number in the settlement's id, which anyone reads, and its transaction. */
  async function settlementOf(orderId: string) {
    const answer = await fetch(`${venue.gatewayUrl}/v1/orders/${orderId}/explain`)
    const { life } = (await answer.json()) as {
      life: { code: string; settlement_id?: string; tx_hash?: string }[]
    }
    const filled = life.find(({ code }) => code === 'filled')
    return { seq: Number(filled?.settlement_id?.split(':')[1]), txHash: filled?.tx_hash }
  }

  it('may have the secret as an outside matcher, and then settles what an order has left', async () => {
    const order = await seller.place(sell('2'))
    const own = await attacker.sign(buy('2'))
    const payload = payloadOf(own, await recordOf(order.order_id), '2')
    const first = await withSecret(payload, 'outside-1')
    expect(first.body).to.include({ accepted: true, receipt_status: 'success' })
    const before = await sent()
    expect((await withSecret(payload, 'outside-1')).body).to.deep.equal(first.body)
    // The chain refuses what is filled already; nothing is sent for it.
    expect((await withSecret(payload, 'outside-2')).status).to.equal(422)
    expect(await sent()).to.equal(before)
  })
})
