import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, randomNonce, signOrder, type OrderBody } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import type { TestVenue } from '../support/venue.js'
import { createChainUser, type ChainUser } from './black-box/chain.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, SPOT, type Trader } from './stage/trader.js'

describe('an order that its account cannot pay for', function () {
  let venue: TestVenue
  let maker: Trader
  let owner: ChainUser
  let accountId: bigint
  let body: OrderBody
  let sell: { readonly order_id: string; readonly nonce: string }

  const account = () => venue.devnet.accounts[5]!
  const rest = () => createRestClient(venue.gatewayUrl)

  before(async function () {
    venue = await sharedVenue()
    maker = createTrader(venue.devnet, 0)
    owner = createChainUser(venue.devnet, account().private_key)
    accountId = await owner.openAccount()
    await owner.giveToMatching(accountId, account().address)
    const markets = await rest().markets()
    const market = markets.find((it) => it.market === SPOT)
    if (market === undefined) throw new Error(`no market ${SPOT}`)
    const domain = { chainId: venue.devnet.chain_id, matching: venue.devnet.matching }
    body = await signOrder(privateKeyToAccount(account().private_key), domain, {
      market,
      orderId: `unfunded-${Date.now()}`,
      subaccountId: String(accountId),
      nonce: randomNonce(),
      expirySec: Math.floor(Date.now() / 1_000) + 3_600,
      side: 'buy',
      price: '0.00091',
      amount: '1000',
    })
    sell = await maker.place({ side: 'sell', price: '0.00091', amount: '1000' })
  })

  const matcherLog = async () => {
    const text = await readFile(join(venue.dataDir, 'logs', 'matcher-cngn-usdc.log'), 'utf8')
    return text.split('\n').filter((line) => line.includes(body.order_id))
  }

  it('is taken, but waits out of the book, and the order that it crosses stays (ORD-072)', async () => {
    const placed = await rest().placeOrder(body)
    expect(placed).to.include({ status: 'active', open_amount: '0' })
    expect(placed).to.include({ held_reason: 'insufficient_balance' })
    expect(await rest().order(body.order_id)).to.include({ held_reason: 'insufficient_balance' })
    expect(await rest().order(sell.order_id)).to.include({ status: 'active', open_amount: '1000' })
    const { bids } = await rest().book(SPOT)
    expect(bids.map(({ order_id }) => order_id)).not.to.include(body.order_id)
  })

  it('matches and settles at once when its account is funded (MAT-051)', async () => {
    await owner.payUsdc(accountId, '10')
    await eventually(async () => {
      expect((await rest().order(body.order_id)).status).to.equal('filled')
    }, 30_000)
    expect(await rest().order(body.order_id)).not.to.have.property('held_reason')
    expect((await rest().order(sell.order_id)).status).to.equal('filled')
  })

  it('never cost the executor a refusal', async () => {
    const lines = await matcherLog()
    expect(lines.filter((line) => line.includes('match proposed'))).to.have.length(1)
    expect(lines.filter((line) => line.includes('match reverted'))).to.deep.equal([])
  })
})
