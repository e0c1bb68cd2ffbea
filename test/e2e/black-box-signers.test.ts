import { expect } from 'chai'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Devnet } from '../support/venue.js'
import { createChainUser, type ChainUser } from './black-box/chain.js'
import {
  createBlackBoxTrader,
  identityOf,
  nowSec,
  traderOf,
  until,
  type Hex,
  type OrderJson,
  type BlackBoxTrader,
  type Wish,
} from './black-box/client.js'
import { expectError, expectShape } from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

const WISH = { side: 'buy', price: '0.0071', amount: '20' } as const
const NOT_AUTHORIZED = 'signature does not authorize this action'
const NO_SESSION_KEY = 'signer_address is not a registered session key of owner_address'

describe('a trader signs', function () {
  let devnet: Devnet
  let ann: BlackBoxTrader
  let bob: BlackBoxTrader
  let user: ChainUser
  before(async function () {
    ;({ devnet } = await sharedVenue())
    ann = traderOf(devnet, 4)
    bob = traderOf(devnet, 5)
    user = createChainUser(devnet, devnet.accounts[5]?.private_key as Hex)
  })

  /** A taker meets a maker of ann's and is settled. */
  const settles = async (taker: BlackBoxTrader) => {
    const maker = await ann.place({ ...WISH, side: 'sell' })
    const order = await taker.place(WISH)
    await taker.orderWith(order.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
  }
  /** Placed as soon as the venue has seen what happened on chain. */
  const placedSoon = async (who: BlackBoxTrader, wish: Wish = WISH) => {
    const submit = () => who.submit(wish)
    const { body } = await until(submit, ({ status }) => status === 200)
    return body.order as OrderJson
  }

  describe('with a session key', () => {
    const key = generatePrivateKey()
    const keyed = () => createBlackBoxTrader(devnet, identityOf(key, bob.subaccountId, bob.owner))

    it('that is not registered: refused (AUT-018)', async () => {
      expectError(await keyed().submit(WISH), 400, NO_SESSION_KEY)
    })

    it('that has run out: refused (AUT-018)', async () => {
      const old = generatePrivateKey()
      await user.registerSessionKey(privateKeyToAddress(old), BigInt(nowSec() - 60))
      const late = createBlackBoxTrader(devnet, identityOf(old, bob.subaccountId, bob.owner))
      expectError(await late.submit(WISH), 400, NO_SESSION_KEY)
    })

    it('that the owner registers: taken, and settled', async () => {
      await user.registerSessionKey(privateKeyToAddress(key), BigInt(nowSec() + 3_600))
      const order = await placedSoon(keyed())
      expectShape(order, { signer_address: privateKeyToAddress(key).toLowerCase() })
      expectShape(order, { owner_address: bob.address, status: 'active' })
      await bob.cancel(order)
      await settles(keyed())
    })

    it('that is registered for another owner: refused (AUT-019)', async () => {
      const wrong = createBlackBoxTrader(devnet, identityOf(key, ann.subaccountId, ann.owner))
      expectError(await wrong.submit(WISH), 400, NO_SESSION_KEY)
    })

    it('and a signature of the owner under the key’s name: refused', async () => {
      const { signDigest } = bob
      const mixed = createBlackBoxTrader(devnet, { ...keyed(), signDigest })
      expectError(await mixed.submit(WISH), 400, NOT_AUTHORIZED)
    })
  })

  describe('for a contract wallet', () => {
    let wallet: BlackBoxTrader
    before(async () => {
      const address = await user.deployWallet()
      const accountId = await user.openAccount()
      await user.giveToMatching(accountId, address)
      await user.payUsdc(accountId, '10')
      wallet = createBlackBoxTrader(devnet, {
        owner: address,
        signer: address,
        subaccountId: `${accountId}`,
        signDigest: (digest) => Promise.resolve(digest),
      })
    })

    it('what the wallet accepts: taken, and settled', async () => {
      await settles(wallet)
    })

    it('what the wallet does not accept: refused', async () => {
      const signDigest = (digest: Hex) => Promise.resolve(`${digest.slice(0, -2)}00` as Hex)
      const forged = createBlackBoxTrader(devnet, { ...wallet, signDigest })
      expectError(await forged.submit({ ...WISH, amount: '21' }), 400, NOT_AUTHORIZED)
    })
  })

  describe('for an account', () => {
    const withAccount = (subaccountId: string) =>
      createBlackBoxTrader(devnet, { ...bob, subaccountId })

    it('of another owner: refused', async () => {
      const id = ann.subaccountId
      const error = `subaccount_id ${id} is not owned by owner_address`
      expectError(await withAccount(id).submit(WISH), 400, error)
    })

    it('that does not exist: refused', async () => {
      const error = 'subaccount_id 987654 is not deposited in matching custody'
      expectError(await withAccount('987654').submit(WISH), 400, error)
    })

    it('in its own hands: refused until it is deposited, then taken', async () => {
      const accountId = await user.openAccount()
      const own = withAccount(`${accountId}`)
      const error = `subaccount_id ${accountId} is not deposited in matching custody`
      expectError(await own.submit(WISH), 400, error)
      await user.giveToMatching(accountId, bob.owner)
      const order = await placedSoon(own)
      expect(order.status).to.equal('active')
      await own.cancel(order)
    })

    it('of its own beside the first: the two trade with each other', async () => {
      const accountId = await user.openAccount()
      await user.giveToMatching(accountId, bob.owner)
      await user.payUsdc(accountId, '10')
      const second = withAccount(`${accountId}`)
      const maker = await bob.place({ ...WISH, side: 'sell', price: '0.0072' })
      const taker = await placedSoon(second, { ...WISH, price: '0.0072' })
      await second.orderWith(taker.order_id, 'filled')
      await bob.orderWith(maker.order_id, 'filled')
    })

    it('without the money: taken, never filled, and no other order suffers', async () => {
      const accountId = await user.openAccount()
      await user.giveToMatching(accountId, bob.owner)
      const poor = withAccount(`${accountId}`)
      const unpaid = await placedSoon(poor, { ...WISH, side: 'sell', price: '0.0073' })
      const paying = await ann.place({ ...WISH, price: '0.0073' })
      const back = await until(
        () => ann.order(paying.order_id),
        (it) => it.status === 'active' && it.open_amount === '20',
      )
      expectShape(back, { filled_amount: '0', pending_amount: '0' })
      expectShape(await ann.order(unpaid.order_id), { filled_amount: '0', open_amount: '0' })
      const seller = await bob.place({ ...WISH, side: 'sell', price: '0.0073' })
      await bob.orderWith(seller.order_id, 'filled')
      await ann.orderWith(paying.order_id, 'filled')
      expect((await poor.cancel(unpaid)).status).to.equal(200)
    })
  })

  after(async () => {
    const { bids, asks } = await ann.book()
    const left = [...bids, ...asks].filter((it) =>
      [ann.address, bob.address].includes(it.owner_address),
    )
    expect(left).to.deep.equal([])
  })
})
