import { expect } from 'chai'
import fc from 'fast-check'
import { bytesToHex, recoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createActionHasher } from '../../chain/typed-data.js'
import type { Action, Hex } from '../../core/action.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { decodeTradeData } from '../../core/trade-data.js'
import {
  BadOrderTerms,
  actionDigest,
  randomNonce,
  signOrder,
  signTraderOrder,
  type MarketRecord,
} from '../../client/index.js'
import {
  aFuture,
  aMarket,
  farFutureSec,
  signedIntentBody,
  signedOrderBody,
  testDomain,
  testPrivateKey,
} from '../support/builders.js'

const market = marketEntry(aMarket()) as unknown as MarketRecord
const signer = privateKeyToAccount(testPrivateKey)
const domain = { chainId: testDomain.chainId, matching: testDomain.verifyingContract }
const frame = { market, orderId: 'order-1', subaccountId: '7', nonce: 1n, expirySec: farFutureSec }

describe('sign order', () => {
  it('makes the body that the venue expects, signed over the digest that the chain computes', async () => {
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
      { numRuns: 20 },
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
    const future = marketEntry(aFuture()) as unknown as MarketRecord
    const intent = { side: 'buy', price: '1', size: '1' } as const
    const signing = signTraderOrder(signer, domain, { ...frame, market: future, ...intent })
    const error: unknown = await signing.catch((refused: unknown) => refused)
    expect(error).to.be.instanceOf(BadOrderTerms)
  })

  it('draws a different nonce each time', () => {
    expect(new Set(Array.from({ length: 100 }, randomNonce)).size).to.equal(100)
  })
})
