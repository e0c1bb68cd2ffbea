import { expect } from 'chai'
import { createPublicClient, custom, numberToHex } from 'viem'
import type { MatchCall } from '../../chain/contracts/calldata.js'
import { observeAccount, observeMarket } from '../../chain/contracts/observe-account.js'
import { addChainContract } from '../../chain/contracts/registry.js'
import type { Address, Hex } from '../../core/action.js'
import type { ClaimKey } from '../../core/contracts/claims.js'
import type { Market } from '../../core/model/market.js'
import { encodeTradeData } from '../../core/entry/read-action.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../core/money.js'
import { findShort, viewOf } from '../../executor/in-flight.js'
import { termsOf } from '../../executor/settlement.js'
import { aMarket } from '../support/builders.js'
import { readsWith } from '../support/claims.js'
import { TOY, toyAccountFacts, toyMarketFacts } from './toy.js'
import { CREDIT_OF, HALTED, MARK, toyOnChain } from './toy-on-chain.js'

addChainContract(TOY, toyOnChain)

const MANAGER: Address = `0x${'e1'.repeat(20)}`
const OWNER: Address = `0x${'aa'.repeat(20)}`
const deployment = {
  matching: `0x${'11'.repeat(20)}`,
  subAccounts: `0x${'22'.repeat(20)}`,
} as const
const market: Market = Object.assign(aMarket({ marginManagerAddress: MANAGER }), {
  contractType: TOY,
})
const BLOCK = { number: 7n, timestamp: 1_700_000_000n, hash: `0x${'7'.repeat(64)}` } as const

/** A node that answers calls of the manager by their selector; custody is the owner's. */
function nodeWith(words: Readonly<Record<string, bigint>>) {
  const asked: Hex[] = []
  const request = ({
    method,
    params,
  }: {
    method: string
    params: [{ to?: Address; data: Hex }]
  }) => {
    expect(method).to.equal('eth_call')
    const [{ to, data }] = params
    // It runs no code without an address, so that calls are asked one by one.
    if (to === undefined) return Promise.resolve('0x')
    asked.push(data.slice(0, 10) as Hex)
    const custody = to === deployment.subAccounts ? deployment.matching : OWNER
    const value = to === MANAGER ? (words[data.slice(0, 10)] ?? 0n) : BigInt(custody)
    return Promise.resolve(numberToHex(value, { size: 32 }))
  }
  return { asked, client: createPublicClient({ transport: custom({ request }) }) }
}

/** Account 7 buys from account 8, so many units at a price of ten. */
function aMatch(units: bigint): MatchCall {
  const { assetAddress: asset, subId, tradeModuleAddress: module } = market
  const action = (subaccountId: bigint, isBid: boolean) => ({
    subaccountId,
    nonce: 1n,
    module,
    expiry: 9n,
    owner: OWNER,
    signer: OWNER,
    data: encodeTradeData({
      asset,
      subId,
      limitPrice: E18,
      desiredAmount: E18,
      worstFee: 1n,
      recipientId: subaccountId,
      isBid,
    }),
  })
  const fill = { filledAccount: 8n, amountFilled: amountE18(units * E18) }
  return {
    actions: [action(7n, true), action(8n, false)],
    signatures: ['0x01', '0x02'],
    orderData: {
      takerAccount: 7n,
      takerFee: quoteE18(0n),
      managerData: '0x',
      fillDetails: [{ ...fill, price: priceE18(10n * E18), fee: quoteE18(0n) }],
    },
  }
}

describe('a contract type of its own on the chain', () => {
  it('reads facts of its own of an account, beside the custody that all types have', async () => {
    const { client } = nodeWith({ [CREDIT_OF]: 5n })
    const observed = await observeAccount({ client, deployment }, market, 7n, BLOCK)
    expect(observed.facts).to.deep.equal(toyAccountFacts({ credit: 5n }))
    expect(observed).to.include({ custodyOwner: OWNER, blockNumber: BLOCK.number })
  })

  it('reads facts of its market, where spot has none', async () => {
    const { client, asked } = nodeWith({ [HALTED]: 1n, [MARK]: 3n })
    expect(await observeMarket({ client, deployment }, market, BLOCK, 5_000)).to.deep.equal({
      facts: toyMarketFacts({ halted: true, mark: priceE18(3n) }),
      blockNumber: BLOCK.number,
      blockTimeSec: Number(BLOCK.timestamp),
      readAtMs: 5_000,
    })
    expect(asked).to.have.members([HALTED, MARK])
    expect(await observeMarket({ client, deployment }, aMarket(), BLOCK, 5_000)).to.equal(undefined)
  })

  it('has the executor settle side by side what fits the margin headroom, and only that', async () => {
    const termsWith = (units: bigint) => termsOf(aMatch(units), '0x', [market])
    const inFlight = viewOf([{ ...termsWith(5n), evmNonce: 1 }])
    const matches = [termsWith(4n), termsWith(2n), termsWith(1n)]
    const asked: ClaimKey[] = []
    const short = await findShort({
      matches,
      inFlight,
      countEarlier: false,
      // Ten units at a price of ten, of which a tenth is claimed.
      reads: readsWith((keys) => {
        asked.push(...keys)
        return Promise.resolve(keys.map(() => 10n * E18))
      }),
    })
    expect(matches.map((match) => short.has(match))).to.deep.equal([false, true, false])
    expect(
      asked.map(({ manager, accountId, balance }) => [manager, accountId, balance]),
    ).to.have.deep.members([
      [MANAGER, 7n, undefined],
      [MANAGER, 8n, undefined],
    ])
  })

  it('tells whether one side has what it owes by itself', async () => {
    const { fillDetails } = aMatch(3n).orderData
    const terms = { takerAccount: 7n, takerIsBuyer: true, takerFee: quoteE18(0n), fillDetails }
    const isSolvent = (side: 'maker' | 'taker', has: bigint) =>
      toyOnChain.solvency.isSolvent(
        { market, terms, side },
        {
          observe: () =>
            Promise.resolve({
              account: toyAccountFacts({ credit: has * E18 }),
              market: undefined,
            }),
        },
      )
    expect(await Promise.all([isSolvent('taker', 3n), isSolvent('maker', 2n)])).to.deep.equal([
      true,
      false,
    ])
  })
})
