import { expect } from 'chai'
import { hashStruct, hashTypedData, keccak256, parseEventLogs } from 'viem'
import { matchingAbi, tradeModuleAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import {
  matchCall,
  ONE,
  signOrder,
  typedAction,
  type SignedOrder,
} from '../support/devnet-actions.js'
import {
  balanceOf,
  openWorld,
  perform,
  receiptOf,
  revertOf,
  send,
  type World,
} from '../support/devnet-world.js'
import { ACTION_TYPES } from '../support/payloads.js'

/** 100 matches at a limit of 1.2M each take half of a block of 240M. */
const MATCHES_IN_A_BLOCK = 100
const MATCH_GAS_LIMIT = 1_200_000n

describe('settlement of a match on chain', () => {
  let world: World
  let snapshot: Hex
  let takerBid: SignedOrder
  let makerAsk: SignedOrder

  before(async () => {
    world = await openWorld()
    takerBid = await signOrder(world, world.alice, { isBid: true })
    makerAsk = await signOrder(world, world.bob, { isBid: false })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  async function changes(run: () => Promise<unknown>, ids: bigint[]): Promise<bigint[][]> {
    const assets: Address[] = [world.at.wrapped_cngn, world.at.wrapped_usdc]
    const read = () =>
      Promise.all(ids.map((id) => Promise.all(assets.map((a) => balanceOf(world, id, a)))))
    const before = await read()
    await run()
    const after = await read()
    return after.map((row, i) => row.map((value, j) => value - (before[i]?.[j] ?? 0n)))
  }

  it('moves price x amount / 1e18, truncated, and the fees to the fee account (MON-021)', async () => {
    const amount = 33_333_000_000_000_000_000_001n
    const price = 649_999_999_999_999n
    const quote = (price * amount) / ONE
    expect((price * amount) % ONE).to.not.equal(0n)
    const ask = await signOrder(world, world.bob, { isBid: false, limitPrice: price })
    const fills = [{ maker: ask, amount, fee: 7n }]
    const moved = await changes(
      () => perform(world, matchCall(world, { taker: takerBid, fills, takerFee: 11n })),
      [world.alice.subaccountId, world.bob.subaccountId, world.feeAccount],
    )
    expect(moved).to.deep.equal([
      [amount, -quote - 11n],
      [-amount, quote - 7n],
      [0n, 18n],
    ])
  })

  it('tells of each fill and of each fee, makers first, the taker last', async () => {
    const ask = await signOrder(world, world.carol, { isBid: false, desiredAmount: 5n * ONE })
    const fills = [{ maker: makerAsk, amount: ONE, fee: 1n }, { maker: ask }]
    const receipt = await perform(world, matchCall(world, { taker: takerBid, fills, takerFee: 2n }))
    const logs = parseEventLogs({ abi: tradeModuleAbi, logs: receipt.logs })
    const [alice, bob, carol] = [world.alice, world.bob, world.carol].map((t) => t.subaccountId)
    expect(
      logs.map(({ args }) =>
        'acc' in args ? [args.acc, args.takerFee] : [args.maker, args.amtBase],
      ),
    ).to.deep.equal([
      [bob, ONE],
      [bob, 1n],
      [carol, 5n * ONE],
      [carol, 0n],
      [alice, 2n],
    ])
    const [first] = parseEventLogs({ abi: tradeModuleAbi, eventName: 'OrderMatched', logs })
    expect(first?.args).to.include({
      taker: alice,
      takerIsBid: true,
      amtQuote: 650_000_000_000_000n,
    })
  })

  it('fills an order in parts and remembers how much and which data', async () => {
    const read = (order: SignedOrder) =>
      Promise.all(
        (['filled', 'seenNonces'] as const).map((functionName) =>
          world.client.readContract({
            address: world.at.spot_trade_module,
            abi: tradeModuleAbi,
            functionName,
            args: [order.action.owner, order.action.nonce],
          }),
        ),
      )
    expect(await read(makerAsk)).to.deep.equal([0n, `0x${'00'.repeat(32)}`])
    const part = { taker: takerBid, fills: [{ maker: makerAsk, amount: 40_000n * ONE }] }
    const rest = { taker: takerBid, fills: [{ maker: makerAsk, amount: 60_000n * ONE }] }
    await perform(world, matchCall(world, part))
    expect(await read(makerAsk)).to.deep.equal([40_000n * ONE, keccak256(makerAsk.action.data)])
    expect(await read(takerBid)).to.deep.equal([40_000n * ONE, keccak256(takerBid.action.data)])
    await perform(world, matchCall(world, rest))
    expect(await read(makerAsk)).to.deep.include(100_000n * ONE)
    expect(await revertOf(world, matchCall(world, part))).to.equal('0xfea8fa6f')
  })

  it('continues the same order when it is signed again with another expiry', async () => {
    const { nonce } = makerAsk.action
    const again = await signOrder(
      world,
      world.bob,
      { isBid: false },
      { nonce, expiry: 3_999_999_999n },
    )
    await perform(
      world,
      matchCall(world, { taker: takerBid, fills: [{ maker: makerAsk, amount: ONE }] }),
    )
    const all = matchCall(world, { taker: takerBid, fills: [{ maker: again }] })
    expect(await revertOf(world, all)).to.equal('0xfea8fa6f')
    const fills = [{ maker: again, amount: 99_999n * ONE }]
    expect(await revertOf(world, matchCall(world, { taker: takerBid, fills }))).to.equal('none')
  })

  it('lets the same maker order appear twice in one call', async () => {
    const fills = [ONE, 2n * ONE].map((amount) => ({ maker: makerAsk, amount }))
    const moved = await changes(
      () => perform(world, matchCall(world, { taker: takerBid, fills })),
      [world.alice.subaccountId],
    )
    expect(moved[0]?.[0]).to.equal(3n * ONE)
  })

  it('takes a fee that is exactly the bound (MON-018)', async () => {
    const takerFee = takerBid.trade.worstFee * 100_000n
    const match = { taker: takerBid, fills: [{ maker: makerAsk }] }
    expect(await revertOf(world, matchCall(world, { ...match, takerFee }))).to.equal('none')
    const above = takerFee + 100_000n
    expect(await revertOf(world, matchCall(world, { ...match, takerFee: above }))).to.equal(
      '0x02c7ec25',
    )
  })

  it('hashes an action as wallets do', async () => {
    const typed = typedAction(world, makerAsk.action)
    const read = { address: world.at.matching, abi: matchingAbi } as const
    const struct = await world.client.readContract({
      ...read,
      functionName: 'getActionHash',
      args: [makerAsk.action],
    })
    const separator = await world.client.readContract({ ...read, functionName: 'domainSeparator' })
    expect(struct).to.equal(
      hashStruct({ types: ACTION_TYPES, primaryType: 'Action', data: makerAsk.action }),
    )
    expect(keccak256(`0x1901${separator.slice(2)}${struct.slice(2)}`)).to.equal(
      hashTypedData(typed),
    )
    const domain = await world.client.readContract({ ...read, functionName: 'eip712Domain' })
    expect(domain.slice(1, 4)).to.deep.equal(['Matching', '1.0', 8453n])
  })

  it('costs less than 1.2M gas a match with everything cold, and less when warm', async () => {
    const ofOne = matchCall(world, {
      taker: takerBid,
      fills: [{ maker: makerAsk, amount: ONE }],
      takerFee: 1n,
    })
    const cold = (await perform(world, ofOne)).gasUsed
    const warm = (await perform(world, ofOne)).gasUsed
    expect(cold < 1_200_000n).to.equal(true)
    expect(warm < cold).to.equal(true)
  })

  it('fits many matches into one block', async () => {
    const calls = Array.from({ length: MATCHES_IN_A_BLOCK }, (_, i) =>
      matchCall(world, {
        taker: takerBid,
        fills: [{ maker: makerAsk, amount: BigInt(i + 1) * ONE }],
      }),
    )
    await world.client.setAutomine(false)
    const hashes: Hex[] = []
    for (const call of calls) hashes.push(await send(world, call, MATCH_GAS_LIMIT))
    await world.client.setAutomine(true)
    await world.client.mine({ blocks: 1 })
    const receipts = await Promise.all(hashes.map((hash) => receiptOf(world, hash)))
    expect(receipts.map((receipt) => receipt.status)).to.not.include('reverted')
    expect(new Set(receipts.map((receipt) => receipt.blockNumber)).size).to.equal(1)
  })
})
