import { expect } from 'chai'
import { createPublicClient, custom } from 'viem'
import { createGuiltyFinder } from '../../../chain/contracts/find-guilty.js'
import { ChainUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import type { Action, Address } from '../../../core/action.js'
import { InvariantBroken } from '../../../core/assert.js'
import { encodeTradeData } from '../../../core/entry/read-action.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { aMarket } from '../../support/builders.js'

const market = aMarket()
const E18 = 10n ** 18n
const MATCHING: Address = `0x${'99'.repeat(20)}`

const signed = (subaccountId: bigint, isBid: boolean): Action => {
  const owner: Address = `0x${(isBid ? 'aa' : 'bb').repeat(20)}`
  const { assetAddress: asset, subId, tradeModuleAddress: module } = market
  const terms = { asset, subId, limitPrice: E18, desiredAmount: E18, worstFee: 0n, isBid }
  const data = encodeTradeData({ ...terms, recipientId: subaccountId })
  return { subaccountId, nonce: 1n, module, data, expiry: 4_102_444_800n, owner, signer: owner }
}
const match = {
  actions: [signed(7n, true), signed(8n, false)],
  signatures: ['0x', '0x'] as const,
  orderData: {
    takerAccount: 7n,
    takerFee: quoteE18(0n),
    fillDetails: [
      {
        filledAccount: 8n,
        amountFilled: amountE18(E18),
        price: priceE18(E18),
        fee: quoteE18(0n),
      },
    ],
    managerData: '0x',
  },
} as const

/** A node that answers nothing. */
const silent = new Proxy({} as ChainClient, {
  get: () => () => Promise.reject(new ChainUnreachable('the node is gone')),
})
const findGuilty = createGuiltyFinder({
  client: silent,
  markets: [market],
  deployment: { matching: MATCHING, subAccounts: MATCHING, chainId: 1 },
  sender: MATCHING,
})

const SIMULATED = { kind: 'simulated', blockHash: `0x${'11'.repeat(32)}` } as const

/** What is blamed while nothing can be read; undefined leaves it to the market, which goes by the name of the revert. */
const BLAMED: readonly (readonly [revert: string, guilty: string | undefined])[] = [
  ['BE_OnlyOperator', 'venue'],
  ['M_OnlyTradeExecutor', 'venue'],
  ['M_OnlyAllowedModule', 'venue'],
  ['NotEnoughSubIdOrAssetAllowances', 'venue'],
  ['MW_UnknownManager', 'venue'],
  ['BM_AdjustmentsPaused', undefined],
  ['WERC_CannotBeNegative', undefined],
  ['OV_InvalidSignature', undefined],
  ['empty revert', undefined],
]

describe('the blame for a refused match while the chain cannot be read', () => {
  for (const [revert, guilty] of BLAMED) {
    it(`is ${guilty === undefined ? 'not told' : `of the ${guilty}`} for ${revert}`, async () => {
      const found = await findGuilty(match, revert, SIMULATED)
      expect(found).to.deep.equal({ ...(guilty && { guilty }) })
    })
  }
})

describe('the blame for a match whose state is not known any more', () => {
  it('is that of the revert’s name alone', async () => {
    expect(await findGuilty(match, 'OV_InvalidSignature', undefined)).to.deep.equal({})
    expect(await findGuilty(match, 'M_OnlyTradeExecutor', undefined)).to.deep.equal({
      guilty: 'venue',
    })
  })
})

/** A client of a state breaks an invariant with what it meets. */
const brokenBy = (failed: unknown): unknown =>
  failed instanceof InvariantBroken ? failed.cause : failed

describe('a broken invariant while the blame is looked for', () => {
  it('is no missing proof: it reaches the caller', async () => {
    const broken = new Proxy({} as ChainClient, {
      get: () => () => {
        throw new InvariantBroken('a defect')
      },
    })
    const find = createGuiltyFinder({
      client: broken,
      markets: [market],
      sender: MATCHING,
      deployment: { matching: MATCHING, subAccounts: MATCHING, chainId: 1 },
    })
    const failed = await find(match, 'OV_InvalidSignature', { kind: 'mined', hash: '0x12' }).catch(
      (error: unknown) => error,
    )
    expect(failed).to.be.instanceOf(InvariantBroken)
  })

  it('is a TypeError too, which no node has answered', async () => {
    const planted = new TypeError('planted')
    const broken = new Proxy({} as ChainClient, { get: () => () => Promise.reject(planted) })
    const find = createGuiltyFinder({
      client: broken,
      markets: [market],
      sender: MATCHING,
      deployment: { matching: MATCHING, subAccounts: MATCHING, chainId: 1 },
    })
    for (const at of [SIMULATED, { kind: 'mined', hash: '0x12' } as const]) {
      const failed = await find(match, 'OV_InvalidSignature', at).catch((error: unknown) => error)
      expect(brokenBy(failed)).to.equal(planted)
    }
  })

  it('reaches the caller also from within a client of a state, where viem wraps it', async () => {
    const request = () => Promise.reject(new InvariantBroken('a defect'))
    const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
    const find = createGuiltyFinder({
      client: client,
      markets: [market],
      sender: MATCHING,
      deployment: { matching: MATCHING, subAccounts: MATCHING, chainId: 1 },
    })
    for (const revert of ['OV_InvalidSignature', 'WERC_CannotBeNegative']) {
      const failed = await find(match, revert, SIMULATED).catch((error: unknown) => error)
      expect(failed).to.be.instanceOf(InvariantBroken)
    }
  })
})
