import { expect } from 'chai'
import { revertName } from '../../../chain/abi/errors.js'
import { decodeMatch } from '../../../chain/contracts/calldata.js'
import { observeAccount } from '../../../chain/contracts/observe-account.js'
import { createClaimReader } from '../../../chain/contracts/read-claims.js'
import { chainContractOf } from '../../../chain/contracts/registry.js'
import { readWiring } from '../../../chain/contracts/wiring.js'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import { readMarketFault } from '../../../chain/reads/read-faults.js'
import { assert } from '../../../core/assert.js'
import { balancesOf, type BalanceFacts } from '../../../core/contracts/balances.js'
import { notionalFloor } from '../../../core/contracts/fees.js'
import { exposedSurplus, isMarginKept } from '../../../core/contracts/future-margin.js'
import type { Market } from '../../../core/model/market.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { blameNow, type BlameNow } from '../../support/blame.js'
import { aMarket } from '../../support/builders.js'
import {
  actionsCall,
  depositCall,
  matchCall,
  ONE,
  signOrder,
  signWithdrawal,
} from '../../support/devnet-actions.js'
import {
  perform,
  revertOf,
  underEarlierManager,
  type Call,
  type Trader,
} from '../../support/devnet-world.js'
import {
  act,
  ask,
  callOf,
  INDEX,
  KEEPER,
  openFuturesWorld,
  openTraders,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../../support/futures-world.js'

const FUNDS = { usdc: 1_000n * ONE, cngn: 1_000_000n * ONE }
/** USDC per cNGN, a little above the index of 1,500. */
const PRICE = 670_000_000_000_000n
const TOO_LOW = 'SRM_PortfolioBelowMargin'

/** Spot and futures on one account, whose manager is that of the futures. */
describe('a trading account on a chain', function () {
  let world: FuturesWorld
  let market: Market
  let client: ChainClient
  let findGuilty: BlameNow
  /** Has a position after `open`. */
  let holder: Trader
  let plain: Trader
  let other: Trader
  /** Under the earlier spot manager. */
  let earlier: readonly [Trader, Trader]
  let snapshot: string

  const deployment = () => ({ matching: world.at.matching, subAccounts: world.at.sub_accounts })

  before(async () => {
    world = await openFuturesWorld()
    const { at } = world
    client = createChainClient(world.anvil.rpcUrl, 'read')
    market = aMarket({
      assetAddress: at.wrapped_cngn,
      quoteAssetAddress: at.wrapped_usdc,
      tradeModuleAddress: at.spot_trade_module,
      marginManagerAddress: at.spot_manager,
    })
    const opened = await openTraders(world, [31, 32, 33], FUNDS)
    const [a, b, c] = opened
    assert(a !== undefined && b !== undefined && c !== undefined, 'three accounts are open')
    ;[holder, plain, other] = [a, b, c]
    const { alice, bob } = await underEarlierManager(world)
    earlier = [alice, bob]
    findGuilty = blameNow(world, { client, markets: [market] })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot as `0x${string}` }))
  after(() => world.anvil.stop())

  /** The holder sells so many contracts to the other account, at the mark. */
  const open = (contracts = 10n) =>
    settleFill(world, { taker: other, maker: holder, price: INDEX, amount: contracts * ONE })

  async function factsOf({ subaccountId }: Trader): Promise<BalanceFacts> {
    const block = await client.getBlock()
    const deps = { client, deployment: deployment() }
    return balancesOf((await observeAccount(deps, market, subaccountId, block)).facts)
  }

  interface Trade {
    readonly buyer: Trader
    readonly seller: Trader
    readonly amount: bigint
    readonly price?: bigint
  }

  /** The buyer takes. */
  async function spotCall({ buyer, seller, amount, price = PRICE }: Trade): Promise<Call> {
    const terms = { limitPrice: price, desiredAmount: amount }
    const maker = await signOrder(world, seller, { ...terms, isBid: false })
    return matchCall(world, {
      taker: await signOrder(world, buyer, { ...terms, isBid: true }),
      fills: [{ maker, amount, price }],
    })
  }

  const outcomeOf = async (call: Promise<Call>): Promise<string> => {
    const data = await revertOf(world, await call)
    return data === 'none' ? 'success' : revertName(data)
  }

  const makeStale = async () => warpTo(world, (await timeOf(world)) + 181)

  it('spends its balances while it has neither position nor debt, in as many requests as before (FUT-039)', async () => {
    const asked: string[] = []
    const request = client.request.bind(client) as (call: { method: string }) => Promise<unknown>
    const counting = {
      ...client,
      request: (call: { method: string }) => {
        asked.push(call.method)
        return request(call)
      },
    } as unknown as ChainClient
    const deps = { client: counting, deployment: deployment() }
    const block = await client.getBlock()
    const calls = async (of: Market) => {
      await observeAccount(deps, of, plain.subaccountId, block)
      asked.length = 0
      const { facts } = await observeAccount(deps, of, plain.subaccountId, block)
      expect(balancesOf(facts)).to.deep.equal({ base: FUNDS.cngn, quote: FUNDS.usdc })
      return asked.length
    }
    const now = await calls(market)
    const before = await calls({
      ...market,
      marginManagerAddress: world.at.earlier_spot_manager,
    })
    expect(now).to.equal(before)
  })

  it('shows with a position what keeps its initial margin, to the last unit, across marks', async () => {
    await open()
    await warpTo(world, (await timeOf(world)) + 3_600)
    await setIndex(world, 1_530n * ONE)
    await act(world, KEEPER, 'asset', 'updateMark', world.subId, 1_520n * ONE)
    for (const trader of [holder, other]) {
      const { base, quote, exposure } = await factsOf(trader)
      assert(exposure !== undefined, 'the position binds the account')
      const surplus = exposedSurplus(exposure, { usdc: quote, cngn: exposure.cngn })
      expect(surplus).to.equal(await ask(world, 'manager', 'getMargin', trader.subaccountId, true))
      // Ten contracts, twenty cNGN against the seller: 200,000 of its million are owed.
      const owed = trader === holder ? 200_000n * ONE : 0n
      expect(base).to.equal(FUNDS.cngn - owed)
      expect(quote).to.equal(FUNDS.usdc)
    }
  })

  it('spends with a position exactly what keeps its initial margin (FUT-040)', async () => {
    await open(14n)
    const { quote, exposure } = await factsOf(holder)
    assert(exposure !== undefined, 'the position binds the account')
    // It pays twice what cNGN is worth: the margin is gone before the USDC is.
    const price = 2n * PRICE
    const isKept = (amount: bigint) =>
      isMarginKept(exposure, {
        usdc: quote - notionalFloor(priceE18(price), amountE18(amount)),
        cngn: exposure.cngn + amount,
      })
    let [most, tooMuch] = [0n, (quote * ONE) / price]
    while (tooMuch - most > 1n) {
      const middle = (most + tooMuch) / 2n
      if (isKept(middle)) most = middle
      else tooMuch = middle
    }
    const buy = (amount: bigint) =>
      outcomeOf(spotCall({ buyer: holder, seller: plain, amount, price }))
    expect(most > 100_000n * ONE && isKept(most) && !isKept(tooMuch)).to.equal(true)
    expect(await buy(most)).to.equal('success')
    expect(await buy(tooMuch)).to.equal(TOO_LOW)
    const refused = await spotCall({ buyer: holder, seller: plain, amount: tooMuch, price })
    expect(await findGuilty(decodeMatch(refused.data), TOO_LOW)).to.equal('taker')
    const accepted = await spotCall({ buyer: holder, seller: plain, amount: most, price })
    expect(await findGuilty(decodeMatch(accepted.data), TOO_LOW)).to.equal(undefined)
  })

  it('trades with accounts of the earlier spot manager, which trade with each other (FUT-042)', async () => {
    const [alice, bob] = earlier
    const amount = 1_000n * ONE
    await open()
    expect(await outcomeOf(spotCall({ buyer: holder, seller: alice, amount }))).to.equal('success')
    expect(await outcomeOf(spotCall({ buyer: bob, seller: plain, amount }))).to.equal('success')
    expect(await outcomeOf(spotCall({ buyer: alice, seller: bob, amount }))).to.equal('success')
    const { base, exposure } = await factsOf(alice)
    expect([base, exposure]).to.deep.equal([10n ** 9n * ONE, undefined])
  })

  it('waits for a stale index only with a position, and then it is to blame (FUT-041)', async () => {
    await open()
    await makeStale()
    const amount = 1_000n * ONE
    const { exposure } = await factsOf(holder)
    expect(exposure?.index).to.equal(0n)
    const [alice] = earlier
    expect(await outcomeOf(spotCall({ buyer: plain, seller: alice, amount }))).to.equal('success')
    const rows = [
      [{ buyer: holder, seller: plain }, 'taker'],
      [{ buyer: plain, seller: holder }, 'maker'],
      [{ buyer: other, seller: holder }, 'both'],
    ] as const
    for (const [sides, guilty] of rows) {
      const call = await spotCall({ ...sides, amount })
      expect(await outcomeOf(Promise.resolve(call))).to.equal('BLF_DataTooOld')
      expect(await findGuilty(decodeMatch(call.data), 'BLF_DataTooOld')).to.equal(guilty)
    }
  })

  it('pays in and out without an index unless it has a position', async () => {
    await open()
    await makeStale()
    const asset = world.at.wrapped_usdc
    const payOut = async (trader: Trader) => {
      const withdrawal = { asset, assetAmount: 1_000_000n }
      return actionsCall(world, [await signWithdrawal(world, trader, withdrawal)])
    }
    expect(await outcomeOf(payOut(plain))).to.equal('success')
    expect(await outcomeOf(payOut(holder))).to.equal('BLF_DataTooOld')
    for (const trader of [plain, holder]) {
      const nothing = depositCall(world, trader, { amount: 0n, asset })
      expect(await outcomeOf(nothing)).to.equal('success')
    }
  })

  it('is stopped by a pause of the futures manager, which no order is to blame for (FUT-043)', async () => {
    const [alice, bob] = earlier
    const amount = 1_000n * ONE
    await act(world, world.at.deployer, 'manager', 'setAdjustmentsPaused', true)
    const paused = 'BM_AdjustmentsPaused'
    for (const sides of [
      { buyer: holder, seller: plain },
      { buyer: alice, seller: plain },
      { buyer: plain, seller: alice },
    ]) {
      const call = await spotCall({ ...sides, amount })
      expect(await outcomeOf(Promise.resolve(call))).to.equal(paused)
      expect(await findGuilty(decodeMatch(call.data), paused)).to.equal('venue')
    }
    const reads = { client, deployment: deployment(), sender: world.executor }
    expect((await readMarketFault(reads, market))?.revert).to.equal(paused)
    await act(world, world.at.deployer, 'manager', 'setAdjustmentsPaused', false)
    const { earlier_spot_manager: to, deployer: from } = world.at
    const { data } = callOf(world, from, 'manager', 'setAdjustmentsPaused', true)
    await perform(world, { from, to, data })
    const call = await spotCall({ buyer: plain, seller: bob, amount })
    expect(await outcomeOf(Promise.resolve(call))).to.equal(paused)
    expect(await findGuilty(decodeMatch(call.data), paused)).to.equal('maker')
    expect(await readMarketFault(reads, market)).to.equal(undefined)
  })

  it('claims its balances by the same keys in both markets, and margin once it may trade futures', async () => {
    await open()
    const reads = createClaimReader({ client, deployment: deployment() })
    const { hash } = await client.getBlock()
    const contract = chainContractOf(market)
    assert(contract !== undefined, 'spot has a record')
    const terms = {
      takerAccount: holder.subaccountId,
      takerIsBuyer: true,
      takerFee: quoteE18(0n),
      fillDetails: [
        {
          filledAccount: plain.subaccountId,
          amountFilled: amountE18(1_000n * ONE),
          price: priceE18(PRICE),
          fee: quoteE18(0n),
        },
      ],
    }
    const { claims, capacities } = reads(hash)
    const [made] = await claims([{ market, contract, terms }])
    assert(made !== undefined, 'the claims of spot are known')
    const named = new Map(
      (await capacities(made.map(({ key }) => key))).map((capacity, i) => {
        const { accountId, of } = made[i]?.key ?? {}
        return [`${of?.part} of ${accountId}`, capacity]
      }),
    )
    const margin = await ask<bigint>(world, 'manager', 'getMargin', holder.subaccountId, true)
    expect(named.get(`quote of ${holder.subaccountId}`)).to.equal(FUNDS.usdc)
    expect(named.get(`base of ${plain.subaccountId}`)).to.equal(FUNDS.cngn)
    expect(named.get(`margin of ${holder.subaccountId}`)).to.equal(margin)
    expect(named.has(`margin of ${plain.subaccountId}`)).to.equal(false)
  })

  it('is of a market whose tokens are those that its manager counts', async () => {
    const deps = { client, deployment: deployment() }
    expect(await readWiring(deps, market)).to.equal(undefined)
    const swapped = { ...market, assetAddress: market.quoteAssetAddress } as Market
    expect(await readWiring(deps, swapped)).to.match(/^margin manager .* counts /)
    const before = { ...swapped, marginManagerAddress: world.at.earlier_spot_manager } as Market
    expect(await readWiring(deps, before)).to.equal(undefined)
  })
})
