import { expect } from 'chai'
import { hashTypedData, keccak256, serializeErc6492Signature, type Hex } from 'viem'
import { privateKeyToAccount, sign, serializeSignature } from 'viem/accounts'
import { likelyMistake } from '../../../chain/signing/diagnose.js'
import type { Action, TradeData } from '../../../core/action.js'
import { encodeTradeData } from '../../../core/entry/read-action.js'
import { aMarket, testPrivateKey } from '../../support/builders.js'
import { ACTION_TYPES, MATCHING_DOMAIN } from '../../support/payloads.js'

const account = privateKeyToAccount(testPrivateKey)
const owner = account.address.toLowerCase() as Hex
const market = aMarket()
const domain = { chainId: 84_531, verifyingContract: `0x${'c1'.repeat(20)}` as const }
const E18 = 10n ** 18n
const trade: TradeData = {
  asset: market.assetAddress,
  subId: 0n,
  limitPrice: E18 / 1_600n,
  desiredAmount: 1_600n * E18,
  worstFee: 2n * 10n ** 15n,
  recipientId: 7n,
  isBid: true,
}
const action: Action = {
  subaccountId: 7n,
  nonce: 1n,
  module: market.tradeModuleAddress,
  data: encodeTradeData(trade),
  expiry: 1_800_000_000n,
  owner,
  signer: owner,
}

const typed = (signed: Action, on: object = domain) =>
  ({
    domain: { ...MATCHING_DOMAIN, ...on },
    types: ACTION_TYPES,
    primaryType: 'Action' as const,
    message: signed,
  }) as const
const digest = hashTypedData(typed(action))
const withData = (change: Partial<TradeData>): Action => ({
  ...action,
  data: encodeTradeData({ ...trade, ...change }),
})

/** The action is what is sent; the signature is made with a mistake. */
const mistakes: Record<string, { readonly [how: string]: () => Promise<Hex> }> = {
  signature_form: {
    'v of 0 or 1': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      return `${r}${s.slice(2)}0${yParity}` as Hex
    },
    'the compact form': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      const vs = (BigInt(s) | (BigInt(yParity) << 255n)).toString(16).padStart(64, '0')
      return `${r}${vs}` as Hex
    },
    'the high s': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
      const high = (order - BigInt(s)).toString(16).padStart(64, '0')
      return `${r}${high}${yParity === 0 ? '1c' : '1b'}` as Hex
    },
    'v of EIP-155 in one byte': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      return `${r}${s.slice(2)}${(37 + yParity).toString(16)}` as Hex
    },
    'v of EIP-155 in three bytes': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      return `${r}${s.slice(2)}${(35 + 2 * 84_532 + yParity).toString(16).padStart(6, '0')}` as Hex
    },
    'the other v': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      return `${r}${s.slice(2)}${yParity === 0 ? '1c' : '1b'}` as Hex
    },
    'v in front': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      return `0x${yParity === 0 ? '1b' : '1c'}${r.slice(2)}${s.slice(2)}` as Hex
    },
    'v of 0 or 1 in front': async () => {
      const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: testPrivateKey })
      return `0x0${yParity}${r.slice(2)}${s.slice(2)}` as Hex
    },
    'an ERC-6492 wrapper': async () =>
      serializeErc6492Signature({
        address: `0x${'fa'.repeat(20)}`,
        data: '0x1234',
        signature: await account.signTypedData(typed(action)),
      }),
    'too few bytes': () => Promise.resolve('0x1234'),
    'no hex': () => Promise.resolve('signature' as Hex),
  },
  wrong_chain_id: {
    'of the main network': () =>
      account.signTypedData(typed(action, { ...domain, chainId: 8_453 })),
  },
  wrong_domain: {
    'another version': () => account.signTypedData(typed(action, { ...domain, version: '1' })),
    'another name': () => account.signTypedData(typed(action, { ...domain, name: 'matching' })),
  },
  wrong_verifying_contract: {
    'of the trade module': () =>
      account.signTypedData(
        typed(action, { ...domain, verifyingContract: market.tradeModuleAddress }),
      ),
  },
  expiry_in_milliseconds: {
    'for seconds': () =>
      account.signTypedData(typed({ ...action, expiry: action.expiry * 1_000n })),
  },
  other_subaccount: {
    'the number 0': () => account.signTypedData(typed({ ...action, subaccountId: 0n })),
  },
  no_data: { 'at all': () => account.signTypedData(typed({ ...action, data: '0x' })) },
  side_flipped: {
    'a sell for a buy': () => account.signTypedData(typed(withData({ isBid: false }))),
  },
  wrong_scale: {
    'whole numbers': () =>
      account.signTypedData(typed(withData({ limitPrice: 0n, desiredAmount: 1_600n }))),
    'six decimals of the amount': () =>
      account.signTypedData(typed(withData({ desiredAmount: 1_600_000_000n }))),
    '1e18 twice': () =>
      account.signTypedData(
        typed(
          withData({
            limitPrice: trade.limitPrice * E18,
            desiredAmount: trade.desiredAmount * E18,
          }),
        ),
      ),
  },
  swapped_words: {
    'price for amount': () =>
      account.signTypedData(
        typed(withData({ limitPrice: trade.desiredAmount, desiredAmount: trade.limitPrice })),
      ),
  },
  trader_terms_signed: {
    'the trader’s price': () =>
      account.signTypedData(typed(withData({ limitPrice: 1_600n * E18 }))),
    'all of them': () =>
      account.signTypedData(
        typed(withData({ limitPrice: 1_600n * E18, desiredAmount: E18, isBid: false })),
      ),
  },
  worst_fee_not_signed: {
    'the number 0': () => account.signTypedData(typed(withData({ worstFee: 0n }))),
  },
  other_recipient: {
    'the number 0': () => account.signTypedData(typed(withData({ recipientId: 0n }))),
  },
  personal_sign: {
    'of the digest': () => account.signMessage({ message: { raw: digest } }),
    'of its text': () => account.signMessage({ message: digest }),
  },
}

describe('the likely mistake behind a refused signature', () => {
  const found = (signature: string, sent: Action = action) =>
    likelyMistake({ action: sent, signature, domain, market })

  for (const [code, ways] of Object.entries(mistakes)) {
    for (const [how, signedWrongly] of Object.entries(ways)) {
      it(`is ${code}: ${how}`, async () => {
        const mistake = found(await signedWrongly())
        expect(mistake?.code).to.equal(code)
        expect(mistake?.message).to.match(/^(the )?(signed|signature)/)
      })
    }
  }

  it('is digest_hashed for a digest that was hashed once more', async () => {
    const signature = await sign({ hash: keccak256(digest), privateKey: testPrivateKey })
    expect(found(serializeSignature(signature))?.code).to.equal('digest_hashed')
  })

  it('is owner_signed for an owner’s signature on what a session key should sign', async () => {
    const sent: Action = { ...action, owner, signer: `0x${'5e'.repeat(20)}` }
    const signature = await account.signTypedData(typed({ ...sent, signer: owner }))
    expect(found(signature, sent)?.code).to.equal('owner_signed')
  })

  it('is none for another key', async () => {
    const other = privateKeyToAccount(`0x${'77'.repeat(32)}`)
    expect(found(await other.signTypedData(typed(action)))).to.equal(undefined)
  })

  it('is told for whole words of every size', async () => {
    const high: Action = { ...withData({ limitPrice: 2n ** 255n - 1n }), expiry: 2n ** 256n - 1n }
    const other = privateKeyToAccount(`0x${'77'.repeat(32)}`)
    expect(found(await other.signTypedData(typed(high)), high)).to.equal(undefined)
  })
})
