import { expect } from 'chai'
import { Venue } from '../../ccxt/index.js'
import { signingVectors } from '../../chain/signing/vectors.js'
import type { SigningVector, SigningVectors, VenueFacts } from '../../interface/signing.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { A_DEPLOYMENT, aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const WORDS = { domain: 'venue.test', product: 'service' }
const MARKETS = [aMarket(), aPerp(), aFuture()]

/** The class beside the venue's own published signatures, which are made by another library. */
describe('signatures of the CCXT class', () => {
  let gateway: GatewayStage
  let published: SigningVectors
  let exchange: Venue
  before(async () => {
    gateway = await aGatewayStage({ markets: MARKETS })
    published = await signingVectors({ deployment: A_DEPLOYMENT, words: WORDS, markets: MARKETS })
    exchange = new Venue({ privateKey: published.private_key })
    const read = async (path: string) => (await gateway.send('GET', path)).json
    exchange.options.venue = (await read('/v1/venue')) as VenueFacts
    const entries = (await read('/v1/markets')) as unknown as Record<string, unknown>[]
    exchange.setMarkets(exchange.parseMarkets(entries))
  })
  after(() => gateway.close())

  const vector = (name: string): SigningVector => {
    const found = published.vectors.find((each) => each.name === name)
    if (found === undefined) throw new Error(`no vector ${name}`)
    return found
  }

  it('have the address of the published key', () => {
    expect(exchange.signerAddress()).to.equal(published.address)
    expect(exchange.ownerAddress()).to.equal(published.address)
  })

  for (const { market } of MARKETS)
    it(`are those of the order of ${market}, to the last byte of its action`, () => {
      const { body, signature } = vector(`order on ${market}`)
      const order = body as Record<string, never>
      const signed = class extends Venue {
        override randomBytes(length: number): string {
          return BigInt(order.nonce ?? '0')
            .toString(16)
            .padStart(2 * length, '0')
        }
      }
      const one = new signed({ privateKey: published.private_key })
      one.options.venue = exchange.options.venue
      one.setMarkets(exchange.markets)
      const [traded] = exchange.markets_by_id?.[market] as never[]
      const action = one.signedAction(traded, {
        subaccount: order.subaccount_id,
        expiry: order.expiry,
        side: order.side,
        limit: order.limit_price,
        amount: order.desired_amount,
        bound: order.worst_fee,
      })
      expect(action).to.deep.include({ action_json: order.action_json, signature })
      const { owner_address, signer_address, nonce, worst_fee, recipient_id } = order
      const { asset_address } = order
      expect(action).to.include({ owner_address, signer_address, nonce, worst_fee, recipient_id })
      expect(action).to.include({ asset_address })
    })

  it('are those of the frames, whose text is the venue’s', () => {
    for (const { name, text = '', digest, signature } of published.vectors) {
      if (!name.includes('frame')) continue
      expect(exchange.hashMessage(text), name).to.equal(digest)
      expect(exchange.signHash(digest), name).to.equal(signature)
    }
    const frame = exchange.signFrame('history', 60)
    const { text } = (exchange.options.venue as VenueFacts).frames.history
    const written = text
      .replace('{address}', published.address)
      .replace('{nonce}', frame.nonce as string)
      .replace('{issued_at}', `${frame.issued_at}`)
      .replace('{expiry}', `${frame.expiry}`)
    expect(frame.signature).to.equal(exchange.signHash(exchange.hashMessage(written)))
    expect(frame).not.to.have.property('signer_address')
  })

  it('name the session key where it signs for its owner', () => {
    const key = new Venue({
      privateKey: published.private_key,
      walletAddress: `0x${'aB'.repeat(20)}`,
    })
    key.options.venue = exchange.options.venue
    expect(key.signFrame('socket', 60)).to.include({
      address: `0x${'ab'.repeat(20)}`,
      signer_address: published.address,
    })
  })

  it('keep a frame until it is about to expire, and no frame of another key', () => {
    const first = exchange.authHeader()
    expect(exchange.authHeader()).to.equal(first)
    exchange.privateKey = `0x${'22'.repeat(32)}`
    const other = exchange.authHeader()
    exchange.privateKey = published.private_key
    expect(other).not.to.equal(first)
    exchange.options.frameSeconds = 30
    const short = exchange.authHeader()
    expect(exchange.authHeader()).not.to.equal(short)
  })
})
