import { expect } from 'chai'
import fc from 'fast-check'
import { bytesToHex, recoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createActionHasher } from '../../chain/signing/verify-signature.js'
import {
  actionDigest,
  BadOrderTerms,
  randomNonce,
  signOrder,
  signTraderOrder,
} from '../../client/index.js'
import type { Action, Hex } from '../../core/action.js'
import { decodeTradeData } from '../../core/entry/read-action.js'
import { marketEntry } from '../../core/records/market-entry.js'
import {
  aFuture,
  aMarket,
  aPerp,
  farFutureSec,
  signedIntentBody,
  signedOrderBody,
  testDomain,
  testPrivateKey,
} from '../support/builders.js'
import { runs } from '../support/property-runs.js'

const market = marketEntry(aMarket())
const signer = privateKeyToAccount(testPrivateKey)
const domain = { chainId: testDomain.chainId, matching: testDomain.verifyingContract }
const frame = { market, orderId: 'order-1', subaccountId: '7', nonce: 1n, expirySec: farFutureSec }

describe('sign order', () => {
  it('makes the body that the venue expects, signed over the digest that the chain computes (AUT-001)', async () => {
    const terms = { side: 'buy', price: '0.00065', amount: '153000' } as const
    const body = await signOrder(signer, domain, { ...frame, ...terms })
    expect(body).to.deep.equal(await signedOrderBody(terms))
    const action: Action = {
      subaccountId: 7n,
      nonce: 1n,
      module: market.trade_module_address as Hex,
      data: body.action_json.data as Hex,
      expiry: BigInt(farFutureSec),
      owner: signer.address,
      signer: signer.address,
    }
    const hash = bytesToHex(createActionHasher(testDomain).digest(action))
    expect(actionDigest(domain, action)).to.equal(hash)
    const signature = body.signature as Hex
    expect(await recoverAddress({ hash, signature })).to.equal(signer.address)
  })

  it('translates trader terms as the venue does and sends both forms', async () => {
    const intent = { side: 'buy', price: '1530.5', size: '100' } as const
    const body = await signTraderOrder(signer, domain, { ...frame, ...intent })
    const expected = await signedIntentBody(intent, { worstFee: BigInt(body.worst_fee) })
    expect(body).to.deep.include(expected)
    expect(body).to.include({ side: 'sell', desired_amount: '153050' })
  })

  it('states trader terms of a perpetual unchanged, and that an order only reduces', async () => {
    const perp = marketEntry(aPerp())
    const intent = { side: 'sell', price: '0.00065', size: '1000' } as const
    const body = await signTraderOrder(signer, domain, {
      ...frame,
      market: perp,
      ...intent,
      reduceOnly: true,
    })
    expect(body).to.deep.include({
      side: 'sell',
      limit_price: '0.00065',
      desired_amount: '1000',
      reduce_only: true,
      order_entry_spec: 'cngn_usdc_perp_v1',
      ui_intent: intent,
      asset_address: perp.asset_address,
    })
    expect(body.action_json.module).to.equal(perp.trade_module_address)
    const terms = { side: 'buy', price: '0.00065', amount: '1' } as const
    const plain = await signOrder(signer, domain, { ...frame, ...terms, reduceOnly: false })
    expect(plain).not.to.have.any.keys('reduce_only', 'time_in_force', 'post_only')
  })

  it('bounds the fee of a sell by the best bid, with headroom, and that of a buy by its limit (ORD-091)', async () => {
    const boundOf = async (side: 'buy' | 'sell', bestBid?: string, more = {}) =>
      BigInt(
        (
          await signOrder(signer, domain, {
            ...frame,
            side,
            price: '0.0005',
            amount: '1',
            bestBid,
            ...more,
          })
        ).worst_fee,
      )
    const ofLimit = (5n * 10n ** 14n * 30n) / 10_000n
    expect(await boundOf('sell')).to.equal(ofLimit)
    expect(await boundOf('buy', '0.0007')).to.equal(ofLimit)
    expect(await boundOf('sell', '0.0004')).to.equal(ofLimit)
    // 105 % of the bid.
    expect(await boundOf('sell', '0.001')).to.equal((105n * 10n ** 13n * 30n) / 10_000n)
    expect(await boundOf('sell', '0.001', { worstFeeBps: 25 })).to.equal(
      (105n * 10n ** 13n * 25n) / 10_000n,
    )
    // A market of futures charges by size.
    const future = marketEntry(aFuture())
    expect(await boundOf('sell', '0.001', { market: future })).to.equal(3n * 10n ** 18n)
    for (const bad of ['0', '-1', '1e3', '']) {
      const error: unknown = await boundOf('sell', bad).catch((refused: unknown) => refused)
      expect(error, bad).to.be.instanceOf(BadOrderTerms)
    }
  })

  it('states time in force, post-only and self-trade prevention beside what is signed', async () => {
    const terms = { ...frame, side: 'buy', price: '0.00065', amount: '1' } as const
    const plain = await signOrder(signer, domain, terms)
    const immediate = await signOrder(signer, domain, { ...terms, timeInForce: 'IOC' })
    expect(immediate).to.deep.equal({ ...plain, time_in_force: 'IOC' })
    const slides = await signOrder(signer, domain, { ...terms, postOnly: 'slide' })
    expect(slides).to.deep.equal({ ...plain, post_only: 'slide' })
    const own = { stp: 'cancel_both', stpScope: 'owner' } as const
    const prevented = await signOrder(signer, domain, { ...terms, ...own })
    expect(prevented).to.deep.equal({ ...plain, stp: 'cancel_both', stp_scope: 'owner' })
  })

  it('signs exactly what the text says, for any decimal', async () => {
    const decimal = fc
      .tuple(fc.bigInt(1n, 10n ** 12n), fc.stringMatching(/^[0-9]{1,17}$/))
      .map(([whole, fraction]) => `${whole}.${fraction}`)
    const digits = (text: string): bigint => {
      const [whole = '', fraction = ''] = text.split('.')
      return BigInt(whole + fraction.padEnd(18, '0'))
    }
    await fc.assert(
      fc.asyncProperty(decimal, decimal, async (price, amount) => {
        const body = await signOrder(signer, domain, { ...frame, side: 'sell', price, amount })
        const decoded = decodeTradeData(body.action_json.data)
        if (!('data' in decoded)) throw new Error('the data does not decode')
        const { limitPrice, desiredAmount, worstFee } = decoded.data
        expect(limitPrice).to.equal(digits(price))
        expect(desiredAmount).to.equal(digits(amount))
        expect(worstFee.toString()).to.equal(body.worst_fee)
        expect(worstFee * 10_000n >= limitPrice * 30n).to.equal(true)
      }),
      { numRuns: runs(20) },
    )
  })

  it('refuses numbers that are not plain positive decimals and terms the market does not take', async () => {
    for (const bad of ['0', '-1', '1e3', '', '1.', ' 1', '0x1', '1.0000000000000000001']) {
      for (const terms of [
        { price: bad, amount: '1' },
        { price: '1', amount: bad },
      ]) {
        const signing = signOrder(signer, domain, { ...frame, side: 'buy', ...terms })
        const error: unknown = await signing.catch((refused: unknown) => refused)
        expect(error, bad).to.be.instanceOf(BadOrderTerms)
      }
    }
    const future = marketEntry(aFuture())
    const intent = { side: 'buy', price: '1', size: '1' } as const
    const signing = signTraderOrder(signer, domain, { ...frame, market: future, ...intent })
    const error: unknown = await signing.catch((refused: unknown) => refused)
    expect(error).to.be.instanceOf(BadOrderTerms)
  })

  it('signs thousandths of contracts of a future, and a fee bound per contract at any price (FUT-007)', async () => {
    const future = aFuture()
    const terms = { side: 'buy', price: '1500', amount: '2000' } as const
    const body = await signOrder(signer, domain, {
      ...frame,
      market: marketEntry(future),
      ...terms,
    })
    const worstFee = 3n * 10n ** 18n
    expect(body).to.deep.equal(await signedOrderBody({ ...terms, market: future, worstFee }))
    const cheap = { ...frame, market: marketEntry(future), ...terms, price: '1', worstFeeBps: 25 }
    expect((await signOrder(signer, domain, cheap)).worst_fee).to.equal(
      `${(25n * 10n ** 18n) / 10n}`,
    )
  })

  it('draws a different nonce each time', () => {
    expect(new Set(Array.from({ length: 100 }, randomNonce)).size).to.equal(100)
  })
})
