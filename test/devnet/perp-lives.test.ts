import { expect } from 'chai'
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { managerAbi } from '../../chain/abi/contracts.js'
import { observeAccount, observeMarket } from '../../chain/contracts/observe-account.js'
import { createChainClient, type ChainClient } from '../../chain/reads/client.js'
import type { Hex } from '../../core/action.js'
import {
  perpetualAccountOf,
  perpetualOf,
  type PerpetualFacts,
} from '../../core/contracts/perpetual-facts.js'
import { marginOf, type MarginKind } from '../../core/contracts/perpetual-margin.js'
import { formatDecimal } from '../../core/decimal.js'
import type { Market } from '../../core/model/market.js'
import { aPerp } from '../support/builders.js'
import {
  openWorld,
  perform,
  receiptOf,
  send,
  type Trader,
  type World,
} from '../support/devnet-world.js'
import {
  keepPricesFresh,
  openPerpAccount,
  setPrices,
  settleCall,
  tradeCall,
} from '../support/perp-world.js'
import { randomNumbers } from '../support/random-numbers.js'

const SEED = 5
const ACCOUNTS = 20
const BLOCKS = 54

/** Trades, prices, funding and settlements; after each the margin of every account, as core computes it and as the manager does. */
describe('random lives of perpetual accounts', function () {
  let world: World
  let client: ChainClient
  let market: Market
  const lives: Trader[] = []
  const next = randomNumbers(SEED)
  /** What the compared blocks had. */
  const seen = {
    longs: 0,
    shorts: 0,
    collateral: 0,
    debts: 0,
    unsure: 0,
    depegged: 0,
    unsettled: 0,
  }
  const done = { fills: 0, refusals: 0 }

  before(async () => {
    world = await openWorld()
    client = createChainClient(world.anvil.rpcUrl, 'read')
    const { at } = world
    market = aPerp({
      assetAddress: at.perp_asset,
      quoteAssetAddress: at.cash_asset,
      tradeModuleAddress: at.perp_trade_module,
      marginManagerAddress: at.perp_manager,
    })
    await keepPricesFresh(world)
    const owners = [world.alice, world.bob, world.carol]
    for (let i = 0; i < ACCOUNTS; i += 1) {
      const owner = owners[i % owners.length] ?? world.alice
      // Those with collateral have little cash, so that losses leave them in debt.
      const funds = i % 2 === 0 ? { cash: 1, cngn: 20_000 * (i + 1) } : { cash: 30 * i }
      lives.push(await openPerpAccount(world, owner, funds))
    }
  })
  after(() => world.anvil.stop())

  const pick = (): Trader => lives[next(lives.length)] ?? world.alice

  async function trade(): Promise<void> {
    const buyer = pick()
    const seller = pick()
    if (buyer.subaccountId === seller.subaccountId) return
    const price = formatDecimal(640_000_000_000_000n + BigInt(next(20_000)) * 1_000_000_007n, 18)
    const terms = {
      buyer,
      seller,
      size: 1 + next(400_000),
      price,
      takerFee: '0.000000000000012345',
    }
    const hash = await send(world, await tradeCall(world, terms))
    const isDone = (await receiptOf(world, hash)).status === 'success'
    done[isDone ? 'fills' : 'refusals'] += 1
  }

  /** Odd prices, so that every division has a rest; half of them unsure or depegged. */
  async function movePrices(): Promise<void> {
    const index = 630_000_000_000_000n + BigInt(next(40_000)) * 1_000_000_007n
    const mark = index + BigInt(next(2_000) - 1_000) * 1_000_000_003n
    await setPrices(world, {
      index: formatDecimal(index, 18),
      mark: formatDecimal(mark, 18),
      bid: formatDecimal(mark, 18),
      confidence: ['1', '0.549999999999999999', '0.31', '1'][next(4)] ?? '1',
      stable: ['1', '1', '0.979999999999999999', '0.93'][next(4)] ?? '1',
    })
  }

  async function passTime(): Promise<void> {
    const { timestamp } = await world.client.getBlock()
    await world.client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(1 + next(20_000)) })
    await perform(world, settleCall(world, pick()))
  }

  /** What the manager says at a block, by its hash. */
  async function marginAt(blockHash: Hex, id: bigint, isInitial: boolean): Promise<bigint> {
    const read = { abi: managerAbi, functionName: 'getMargin' } as const
    const data = encodeFunctionData({ ...read, args: [id, isInitial] })
    const call = { to: market.marginManagerAddress, data }
    const answer = await client.request({ method: 'eth_call', params: [call, { blockHash }] })
    return decodeFunctionResult({ ...read, data: answer })
  }

  async function compare(): Promise<void> {
    const block = await client.getBlock()
    const deployment = { matching: world.at.matching, subAccounts: world.at.sub_accounts }
    const deps = { client, deployment }
    const facts = (await observeMarket(deps, market, block, 5_000))?.facts
    if (facts === undefined) throw new Error('the market has no facts')
    const perpetual = perpetualOf(facts)
    if (perpetual.markConfidence < perpetual.contingency.perpThreshold) seen.unsure += 1
    if (perpetual.stable < perpetual.contingency.depegThreshold) seen.depegged += 1
    await Promise.all(
      lives.map(async ({ subaccountId }) => {
        const read = await observeAccount(deps, market, subaccountId, { ...block, seen: facts })
        const { position, cash, collateral, valued } = perpetualAccountOf(read.facts)
        expect(valued, `${subaccountId} has a value`).not.to.equal(undefined)
        const account = { position, cash, collateral, unsettled: valued?.unsettled ?? 0n }
        count(account)
        await compareAccount(block.hash, subaccountId, { perpetual, account })
      }),
    )
  }

  function count(account: Parameters<typeof marginOf>[1]): void {
    if (account.position > 0n) seen.longs += 1
    if (account.position < 0n) seen.shorts += 1
    if (account.collateral > 0n) seen.collateral += 1
    if (account.cash < 0n) seen.debts += 1
    if (account.unsettled !== 0n) seen.unsettled += 1
  }

  async function compareAccount(
    blockHash: Hex,
    id: bigint,
    given: { perpetual: PerpetualFacts; account: Parameters<typeof marginOf>[1] },
  ): Promise<void> {
    for (const kind of ['initial', 'maintenance'] satisfies MarginKind[]) {
      const own = marginOf(given.perpetual, given.account, kind)
      expect(own, `${kind} margin of ${id}`).to.equal(
        await marginAt(blockHash, id, kind === 'initial'),
      )
    }
  }

  it('have the margin that core computes, to the last unit, in every block (PER-021)', async () => {
    const actions = [trade, trade, trade, movePrices, movePrices, passTime]
    for (let block = 0; block < BLOCKS; block += 1) {
      await (actions[next(actions.length)] ?? trade)()
      await compare()
    }
    for (const [kind, times] of Object.entries({ ...seen, ...done }))
      expect(times, `the run has ${kind}`).to.be.greaterThan(0)
  })
})
