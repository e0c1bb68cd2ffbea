import { expect } from 'chai'
import { encodeFunctionData, parseAbi, type Abi } from 'viem'
import { perpManagerAbi } from '../../../chain/abi/contracts.js'
import { observeAccount, observeMarket } from '../../../chain/contracts/observe-account.js'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import {
  perpetualAccountOf,
  perpetualOf,
  type PerpetualAccount,
  type PerpetualFacts,
} from '../../../core/contracts/perpetual-facts.js'
import { marginOf } from '../../../core/contracts/perpetual-margin.js'
import type { Market } from '../../../core/model/market.js'
import { E18 } from '../../../core/money.js'
import { PERP_PARAMETERS, START_PRICES } from '../../../devnet/chain/perp-parameters.js'
import { seedPerpAccounts } from '../../../devnet/chain/seed-accounts.js'
import { ANVIL_KEY } from '../../support/anvil.js'
import { aPerp } from '../../support/builders.js'
import { administer, openWorld, perform, type World } from '../../support/devnet-world.js'

describe('a perpetual on a chain', () => {
  let world: World
  let market: Market
  let client: ChainClient
  let account: bigint

  before(async () => {
    world = await openWorld()
    const { at } = world
    client = createChainClient(world.anvil.rpcUrl, 'read')
    market = aPerp({
      assetAddress: at.perp_asset,
      quoteAssetAddress: at.cash_asset,
      tradeModuleAddress: at.perp_trade_module,
      marginManagerAddress: at.perp_manager,
    })
    const sender = { rpcUrl: world.anvil.rpcUrl, privateKey: ANVIL_KEY }
    const owners = [world.alice.address]
    const [first = 0n] = await seedPerpAccounts({ ...sender, deployment: at, owners })
    account = first
  })
  after(() => world.anvil.stop())

  async function observe(id = account): Promise<{
    readonly market: PerpetualFacts
    readonly account: PerpetualAccount
  }> {
    const { at } = world
    const deps = { client, deployment: { matching: at.matching, subAccounts: at.sub_accounts } }
    const block = await client.getBlock()
    const seen = (await observeMarket(deps, market, block, 5_000))?.facts
    if (seen === undefined) throw new Error('the market has no facts')
    const { facts } = await observeAccount(deps, market, id, { ...block, seen })
    return { market: perpetualOf(seen), account: perpetualAccountOf(facts) }
  }

  it('shows what the manager, the asset and the feeds say of the market', async () => {
    const { market: facts } = await observe()
    const { index, mark, stable } = START_PRICES
    expect(facts).to.deep.include({
      moduleAllowed: true,
      paused: false,
      disabled: false,
      pricesStale: false,
      index,
      mark,
      stable,
      markConfidence: E18,
      indexConfidence: E18,
      totalPosition: 0n,
      openInterest: 0n,
      positionCap: PERP_PARAMETERS.positionCap,
      fundingRate: PERP_PARAMETERS.staticRatePerHour,
      initialRate: PERP_PARAMETERS.initialMargin,
      maintenanceRate: PERP_PARAMETERS.maintenanceMargin,
      borrowing: false,
      auction: world.at.dutch_auction,
    })
    const { oracleContingency, depeg } = PERP_PARAMETERS
    expect(facts.contingency).to.deep.equal({
      perpThreshold: oracleContingency.perpThreshold,
      baseThreshold: oracleContingency.baseThreshold,
      factor: oracleContingency.OCFactor,
      depegThreshold: depeg.threshold,
      depegFactor: depeg.depegFactor,
    })
    expect(facts.collateral).to.deep.include({
      asset: world.at.wrapped_cngn,
      marginFactor: PERP_PARAMETERS.collateralFactor,
      initialScale: PERP_PARAMETERS.collateralInitialScale,
      cap: PERP_PARAMETERS.collateralCap,
      depositsOpen: true,
    })
  })

  it('shows an account whose margin is that of the manager, to the last unit (PER-021)', async () => {
    const seen = await observe()
    expect(seen.account).to.deep.include({ inAuction: false, position: 0n, cash: 100_000n * E18 })
    expect(seen.account.collateral > 0n).to.equal(true)
    expect(seen.account.valued).to.deep.include({ unsettled: 0n, elsewhere: 0n })
    const { position, cash, collateral } = seen.account
    for (const kind of ['initial', 'maintenance'] as const) {
      const own = marginOf(seen.market, { position, cash, collateral, unsettled: 0n }, kind)
      const args = [account, kind === 'initial', 0n] as const
      const [margin] = await client.readContract({
        address: market.marginManagerAddress,
        abi: perpManagerAbi,
        functionName: 'getMarginAndMarkToMarket',
        args,
      })
      expect(own, kind).to.equal(margin)
    }
  })

  it('sees a pause and a closed cap', async () => {
    const admin = (to: `0x${string}`, text: string, ...args: unknown[]) => {
      const abi = parseAbi([text]) as Abi
      return administer(world, to, abi, /function (\w+)/.exec(text)?.[1] ?? '', ...args)
    }
    const guardian = world.at.deployer
    await admin(world.at.perp_manager, 'function setGuardian(address)', guardian)
    await admin(world.at.perp_manager, 'function setAdjustmentsPaused(bool)', true)
    expect((await observe()).market.paused).to.equal(true)
    await admin(world.at.perp_manager, 'function setAdjustmentsPaused(bool)', false)
    const cap = 'function setTotalPositionCap(address,uint256)'
    await admin(world.at.perp_asset, cap, world.at.perp_manager, 7n)
    expect((await observe()).market.positionCap).to.equal(7n)
  })

  it('says that prices are stale when a feed is, and does not value accounts then', async () => {
    await client.request({ method: 'evm_increaseTime' as never, params: [200] as never })
    const data = encodeFunctionData({ abi: parseAbi(['function touch()']), functionName: 'touch' })
    await perform(world, { from: world.alice.address, to: world.alice.address, data })
    const seen = await observe()
    expect(seen.market).to.deep.include({ pricesStale: true, mark: 0n, index: 0n, fundingRate: 0n })
    expect(seen.account).not.to.have.property('valued')
    expect(seen.account.cash).to.equal(100_000n * E18)
  })
})
