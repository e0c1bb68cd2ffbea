import { expect } from 'chai'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '../support/venue.js'
import { nowSec, traderOf, type Hex, type Json, type BlackBoxTrader } from './black-box/client.js'
import { asHeader, signedFrame, SOCKET_WISH, type FrameWish } from './black-box/frames.js'
import { expectError, expectShape, ISO } from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

const RESTING = { side: 'buy', price: '0.0013', amount: '10' } as const
const CANCEL = [
  { name: 'owner', type: 'address' },
  { name: 'signer', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'expiry', type: 'uint256' },
] as const

describe('a trader cancels with a proof', function () {
  let devnet: Devnet
  let ann: BlackBoxTrader
  let key: Hex
  let othersKey: Hex
  before(async function () {
    ;({ devnet } = await sharedVenue())
    ann = traderOf(devnet, 4)
    ;[key, othersKey] = [4, 5].map((it) => devnet.accounts[it]?.private_key) as [Hex, Hex]
  })

  interface Proof {
    readonly key: Hex
    readonly nonce: string
    readonly expiry: number
    /** Fields that are written over after signing. */
    readonly more: Json
    readonly version: string
  }
  /** A cancel signed over EIP-712 `Cancel` on the domain that orders are signed on. */
  const proofOf = async (nonce: string, wish: Partial<Proof> = {}): Promise<Json> => {
    const account = privateKeyToAccount(wish.key ?? key)
    const expiry = wish.expiry ?? nowSec() + 300
    const signature = await account.signTypedData({
      domain: {
        name: 'Matching',
        version: wish.version ?? '1.0',
        chainId: devnet.chain_id,
        verifyingContract: devnet.matching,
      },
      types: { Cancel: CANCEL },
      primaryType: 'Cancel',
      message: {
        owner: ann.owner,
        signer: account.address,
        nonce: BigInt(wish.nonce ?? nonce),
        expiry: BigInt(expiry),
      },
    })
    return { signer_address: account.address, expiry, signature, ...wish.more }
  }
  const withHeader = (nonce: string, header: string, more: Json = {}) =>
    ann.post(
      '/v1/orders/cancel',
      { owner_address: ann.owner, nonce, ...more },
      { 'x-service-auth': header },
    )
  const headerOf = async (signer: Hex, wish?: FrameWish) =>
    asHeader(await signedFrame(devnet, signer, wish))

  /** The refused cancel leaves the order as it was. */
  const stillActive = async (orderId: string) =>
    expect((await ann.order(orderId)).status).to.equal('active')
  let order: Awaited<ReturnType<BlackBoxTrader['place']>>
  beforeEach(async () => {
    order = await ann.place(RESTING)
  })
  afterEach(() => ann.cancel(order))

  describe('that it signs', () => {
    it('as EIP-712 Cancel (CAN-011)', async () => {
      const { status, body } = await ann.cancel(order, await proofOf(order.nonce))
      expect(status).to.equal(200)
      expectShape(body.order, { status: 'cancelled', cancel_reason: 'unspecified' })
      expectShape(body.order, { cancelled_at: ISO, order_id: order.order_id })
    })

    it('with a reason, which is not signed', async () => {
      const proof = await proofOf(order.nonce)
      const { body } = await ann.cancel(order, { ...proof, reason: 'repriced' })
      expectShape(body.order, { status: 'cancelled', cancel_reason: 'repriced' })
    })

    it('with the expiry as text', async () => {
      const proof = await proofOf(order.nonce)
      const expiry = `${proof.expiry as number}`
      expect((await ann.cancel(order, { ...proof, expiry })).status).to.equal(200)
    })

    it('not by another owner’s key (CAN-012)', async () => {
      const proof = await proofOf(order.nonce, { key: othersKey })
      expectError(await ann.cancel(order, proof), 403, /./)
      await stillActive(order.order_id)
    })

    it('not by an unregistered key, under the owner’s name', async () => {
      const proof = await proofOf(order.nonce, {
        key: generatePrivateKey(),
        more: { signer_address: ann.owner },
      })
      expectError(await ann.cancel(order, proof), 403, /./)
      await stillActive(order.order_id)
    })

    it('not over another order', async () => {
      const proof = await proofOf(order.nonce, { nonce: '1' })
      expectError(await ann.cancel(order, proof), 403, /./)
      await stillActive(order.order_id)
    })

    it('not for another domain', async () => {
      const proof = await proofOf(order.nonce, { version: '2' })
      expectError(await ann.cancel(order, proof), 403, /./)
      await stillActive(order.order_id)
    })

    it('not after it has run out (CAN-012)', async () => {
      const proof = await proofOf(order.nonce, { expiry: nowSec() - 5 })
      expectError(await ann.cancel(order, proof), 403, /./)
      await stillActive(order.order_id)
    })

    it('not in part', async () => {
      for (const field of ['signer_address', 'expiry']) {
        const proof = await proofOf(order.nonce, { more: { [field]: undefined } })
        expectError(await ann.cancel(order, proof), 400, `${field} is required`)
      }
      await stillActive(order.order_id)
    })
  })

  describe('in the X-Service-Auth header', () => {
    it('of its own (CAN-011)', async () => {
      const { status, body } = await withHeader(order.nonce, await headerOf(key))
      expect(status).to.equal(200)
      expectShape(body.order, { status: 'cancelled', order_id: order.order_id })
    })

    it('not of another owner', async () => {
      expectError(await withHeader(order.nonce, await headerOf(othersKey)), 403, /./)
      await stillActive(order.order_id)
    })

    it('not with the text of the WebSocket, nor one that has expired', async () => {
      for (const wish of [{ wish: SOCKET_WISH }, { issuedIn: -900 }]) {
        const answer = await withHeader(order.nonce, await headerOf(key, wish))
        expect(answer.status).to.equal(403)
        expectError(answer, answer.status, /./)
      }
      await stillActive(order.order_id)
    })

    it('not with anything else', async () => {
      const answer = await withHeader(order.nonce, 'no frame!')
      expect(answer.status).to.equal(403)
      expectError(answer, answer.status, /./)
      await stillActive(order.order_id)
    })
  })

  describe('in a protected namespace', () => {
    for (const prefix of ['validation:', 'smoke:', 'manual:'])
      it(`${prefix} not as a service, even with a proof; as itself, yes (CAN-014)`, async () => {
        const orderId = `${prefix}trader-${process.pid}-${Date.now()}`
        const kept = await ann.place({ ...RESTING, orderId })
        const error = `service-tagged cancels are not allowed for protected namespace "${prefix}"`
        expectError(await ann.cancel(kept, { service: 'janitor' }), 403, error)
        const proof = await proofOf(kept.nonce)
        expectError(await ann.cancel(kept, { ...proof, service: 'janitor' }), 403, error)
        await stillActive(orderId)
        expect((await ann.cancel(kept, proof)).status).to.equal(200)
      })

    it('and an order outside of one is cancelled by a service', async () => {
      expect((await ann.cancel(order, { service: 'janitor' })).status).to.equal(200)
    })
  })
})
