import { expect } from 'chai'
import type { Abi } from 'viem'
import { managerAbi, perpAssetAbi, perpManagerAbi } from '../../../chain/abi/contracts.js'
import { createPositionsReader } from '../../../chain/contracts/positions-reader.js'
import { createChainClient } from '../../../chain/reads/client.js'
import type { Address } from '../../../core/action.js'
import { formatDecimal } from '../../../core/decimal.js'
import type { PositionsBody } from '../../../interface/position.js'
import { aPerp } from '../../support/builders.js'
import { balanceOf, openWorld, type Trader, type World } from '../../support/devnet-world.js'
import { aGatewayStage, type GatewayStage } from '../../support/gateway-stage.js'
import {
  administerPerp,
  e18,
  keepPricesFresh,
  marginOf,
  openPerpAccount,
  readPerp,
  setPrices,
  trade,
} from '../../support/perp-world.js'

const MILLION = 1_000_000
const text = (value: bigint): string => formatDecimal(value, 18)

/** `GET /v1/positions` beside the answers of the contracts at the same block. */
describe('positions on a chain', () => {
  let world: World
  let gateway: GatewayStage
  let dealer: Trader
  let long: Trader
  let flat: Trader

  before(async function () {
    world = await openWorld()
    await keepPricesFresh(world)
    const { at } = world
    const market = aPerp({
      assetAddress: at.perp_asset,
      quoteAssetAddress: at.cash_asset,
      tradeModuleAddress: at.perp_trade_module,
      marginManagerAddress: at.perp_manager,
    })
    const deployment = { matching: at.matching, subAccounts: at.sub_accounts }
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    // Each request reads anew.
    let elapsedMs = 0
    const positions = createPositionsReader({
      client,
      deployment,
      nowMs: Date.now,
      timeoutMs: 60_000,
      elapsedMs: () => (elapsedMs += 1_000),
    })
    gateway = await aGatewayStage({ markets: [market], positions })
    dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    long = await openPerpAccount(world, world.carol, { cash: 1_000, cngn: MILLION })
    flat = await openPerpAccount(world, world.alice, { cash: 25 })
  })
  after(async () => {
    await gateway.close()
    await world.anvil.stop()
  })

  async function shown(account: bigint): Promise<PositionsBody> {
    const { status, text: body } = await gateway.send(
      ...(['GET', `/v1/positions?subaccount_id=${account}`] as const),
    )
    expect(status, body).to.equal(200)
    return JSON.parse(body) as PositionsBody
  }
  const ask = <T>(
    address: Address,
    abi: Abi,
    functionName: string,
    args: readonly unknown[] = [],
  ) => world.client.readContract({ address, abi, functionName, args }) as Promise<T>

  /** Every number that the contracts state, in the fields of the answer. */
  async function compare(trader: Trader): Promise<PositionsBody> {
    const { subaccountId: id } = trader
    const { perp_asset, perp_manager, cash_asset, wrapped_cngn } = world.at
    const body = await shown(id)
    const [mark] = await ask<[bigint]>(perp_asset, perpAssetAbi, 'getPerpPrice')
    const [index] = await ask<[bigint]>(perp_asset, perpAssetAbi, 'getIndexPrice')
    const { marketId } = await ask<{ marketId: bigint }>(
      ...([perp_manager, managerAbi, 'assetDetails', [perp_asset]] as const),
    )
    const [factor] = await ask<[bigint]>(
      ...([perp_manager, perpManagerAbi, 'baseMarginParams', [marketId]] as const),
    )
    const unsettled = await ask<bigint>(
      ...([perp_asset, perpAssetAbi, 'getUnsettledAndUnrealizedCash', [id]] as const),
    )
    const surpluses = {
      initial_margin_surplus: text(await marginOf(world, trader, true)),
      maintenance_margin_surplus: text(await marginOf(world, trader, false)),
    }
    const posted = await balanceOf(world, id, wrapped_cngn)
    const value = (posted * index) / e18('1')
    expect(body.accounts).to.have.length(1)
    expect(body.accounts[0]).to.deep.include({
      market: 'cNGN-PERP',
      subaccount_id: id.toString(),
      ...surpluses,
      cash: text(await balanceOf(world, id, cash_asset)),
    })
    expect(body.accounts[0]?.collateral[0]).to.deep.include({
      asset_address: wrapped_cngn,
      balance: text(posted),
      value_usd: text(value),
      margin_value_usd: text((value * factor) / e18('1')),
    })
    const position = await balanceOf(world, id, perp_asset)
    if (position === 0n) expect(body.positions).to.deep.equal([])
    else
      expect(body.positions[0]).to.deep.include({
        engine_position: text(position),
        ...surpluses,
        price_status: 'ok',
        unrealized_pnl: text(unsettled),
        mark_price_ui: text(mark),
        index_price_ui: text(index),
      })
    return body
  }

  it('equal the contracts, number by number, through prices, funding, doubt and a depeg (PER-044)', async () => {
    for (const trader of [dealer, long, flat]) await compare(trader)
    await trade(world, { buyer: long, seller: dealer, size: MILLION, takerFee: '1.6' })
    await setPrices(world, { index: '0.0006', mark: '0.00063' })
    for (const trader of [dealer, long, flat]) await compare(trader)
    await setPrices(world, { index: '0.00061', confidence: '0.5', stable: '0.96' })
    await compare(long)
    await setPrices(world, { index: '0.00065' })

    const before = (await compare(long)).positions[0]?.unrealized_pnl
    expect(await readPerp(world, 'getFundingRate')).not.to.equal(0n)
    await world.client.increaseTime({ seconds: 7_200 })
    await world.client.mine({ blocks: 1 })
    const later = (await compare(long)).positions[0]?.unrealized_pnl
    expect(later).not.to.equal(before)
  })

  it('estimate a liquidation price at which the maintenance surplus is gone', async () => {
    await administerPerp(world, world.at.perp_asset, 'setRateBounds', 0n)
    const [position] = (await shown(dealer.subaccountId)).positions
    expect(position).to.include({ ui_side: 'short' })
    const price = position?.liquidation_price_ui
    expect(price).to.be.a('string')
    if (price === undefined) return
    const surplusAt = async (units: bigint) => {
      await setPrices(world, { index: text(units) })
      return marginOf(world, dealer, false)
    }
    const tick = e18('0.0000000001')
    expect((await surplusAt(e18(price) - tick)) >= 0n).to.equal(true)
    expect((await surplusAt(e18(price) + tick)) < 0n).to.equal(true)
    await setPrices(world, { index: '0.00065' })
  })

  it('show the mark at which the manager has no maintenance margin left, with collateral (REA-059)', async () => {
    await administerPerp(world, world.at.perp_asset, 'setRateBounds', 0n)
    await setPrices(world, { index: '0.00065' })
    const posted = await openPerpAccount(world, world.alice, { cash: 10, cngn: MILLION })
    await trade(world, { buyer: posted, seller: dealer, size: 2 * MILLION })
    // Fully paid: no mark above zero takes its margin.
    const paid = (await shown(long.subaccountId)).positions[0]
    expect(paid).to.include({ liquidation_status: 'none', liquidation_price: '' })
    for (const trader of [dealer, posted]) {
      await setPrices(world, { index: '0.00065' })
      const [position] = (await shown(trader.subaccountId)).positions
      if (position === undefined) throw new Error('no position')
      const { liquidation_status: status, liquidation_price: price } = position
      expect(status).to.equal('ok')
      const at = e18(price)
      const step = position.ui_side === 'long' ? -2n : 2n
      const now = e18('0.00065')
      const distance = ((at < now ? now - at : at - now) * 1_000_000n) / now
      expect(position.liquidation_distance).to.equal(formatDecimal(distance, 6))
      const surplusAt = async (units: bigint) => {
        await setPrices(world, { index: text(units) })
        return marginOf(world, trader, false)
      }
      // The manager truncates five products.
      expect((await surplusAt(at)) >= -5n, position.ui_side).to.equal(true)
      expect((await surplusAt(at + step)) < 0n, position.ui_side).to.equal(true)
      const [lost] = (await shown(trader.subaccountId)).positions
      expect(lost).to.include({
        liquidation_status: 'due',
        liquidation_distance: '0',
        liquidation_price: '',
      })
    }
    await setPrices(world, { index: '0.00065' })
  })

  it('are none of an account of another manager, and of one that is not there', async () => {
    for (const id of [world.bob.subaccountId, 10n ** 30n])
      expect(await shown(id)).to.deep.equal({ positions: [], accounts: [] })
  })

  it('are shown without prices once the feeds are stale', async () => {
    const cash = text(await balanceOf(world, long.subaccountId, world.at.cash_asset))
    await world.client.increaseTime({ seconds: 2_000_000_000 })
    await world.client.mine({ blocks: 1 })
    const { positions, accounts } = await shown(long.subaccountId)
    expect(positions[0]).to.include({
      price_status: 'stale',
      mark_price_ui: '',
      unrealized_pnl: '',
    })
    expect(positions[0]).to.include({ engine_position: '1000000', ui_side: 'long' })
    expect(positions[0]).not.to.have.property('liquidation_price_ui')
    expect(positions[0]).to.include({ liquidation_status: 'stale', liquidation_distance: '' })
    expect(accounts[0]).to.include({ cash, maintenance_margin_surplus: '' })
  })
})
