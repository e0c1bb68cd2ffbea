import { expect } from 'chai'
import { encodeFunctionData, parseEventLogs, zeroHash } from 'viem'
import { subAccountsAbi } from '../../chain/abi/contracts.js'
import { revertName } from '../../chain/abi/errors.js'
import type { Address, Hex } from '../../core/action.js'
import {
  actionsCall,
  matchCall,
  ONE,
  signOrder,
  signWithdrawal,
} from '../support/devnet-actions.js'
import {
  balanceOf,
  perform,
  revertOf,
  underEarlierManager,
  type Call,
  type Trader,
} from '../support/devnet-world.js'
import { argsOf } from '../support/event-args.js'
import {
  act,
  ask,
  callOf,
  FEE,
  fillCall,
  INDEX,
  KEEPER,
  leaveMatching,
  openFuturesWorld,
  openTraders,
  positionOf,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  type FutureFill,
  type FuturesWorld,
} from '../support/futures-world.js'

/** 1,000 USDC carry 10 contracts at 10 % initial margin; 1,000,000 cNGN pay any variation margin here. */
const FUNDS = { usdc: 1_000n * ONE, cngn: 1_000_000n * ONE }

describe('trading dated futures on the chain', () => {
  let world: FuturesWorld
  let snapshot: Hex
  let buyer: Trader
  let seller: Trader
  let third: Trader

  before(async () => {
    world = await openFuturesWorld()
    const [a, b, c] = await openTraders(world, [11, 12, 13], FUNDS)
    if (a === undefined || b === undefined || c === undefined) throw new Error('no traders')
    ;[buyer, seller, third] = [a, b, c]
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  const nameOf = async (call: Call | Promise<Call>): Promise<string> => {
    const data = await revertOf(world, await call)
    return data === 'none' ? 'success' : revertName(data)
  }
  const cngnOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_cngn)
  const usdcOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_usdc)
  const fill = (different: Partial<FutureFill> = {}): FutureFill => ({
    taker: buyer,
    maker: seller,
    amount: 2n * ONE,
    price: 1_495n * ONE,
    ...different,
  })

  it('moves the position, the fee in USDC, and the distance to the mark in cNGN', async () => {
    const receipt = await settleFill(world, fill({ takerFee: 5n * ONE }))
    const { abi } = world.artifacts.FutureTradeModule
    const [matched] = parseEventLogs({ abi, eventName: 'FutureMatched', logs: receipt.logs })
    expect(argsOf(matched)).to.deep.include({
      subId: world.subId,
      taker: buyer.subaccountId,
      maker: seller.subaccountId,
      takerIsBid: true,
      amount: 2n * ONE,
      price: 1_495n * ONE,
      mark: INDEX,
      takerVm: 10_000n * ONE,
      makerVm: -10_000n * ONE,
    })
    const charged = parseEventLogs({ abi, eventName: 'FeeCharged', logs: receipt.logs })
    expect(charged.map(argsOf)).to.deep.equal([
      {
        acc: seller.subaccountId,
        recipient: BigInt(world.at.future_fee_subaccount_id),
        takerFee: 0n,
      },
      {
        acc: buyer.subaccountId,
        recipient: BigInt(world.at.future_fee_subaccount_id),
        takerFee: 5n * ONE,
      },
    ])
    expect(await positionOf(world, buyer.subaccountId)).to.equal(2n * ONE)
    expect(await positionOf(world, seller.subaccountId)).to.equal(-2n * ONE)
    expect(await usdcOf(buyer)).to.equal(995n * ONE)
    expect(await cngnOf(seller)).to.equal(990_000n * ONE)
    // The taker's hook is the first, so the pool was still empty then.
    expect(await cngnOf(buyer)).to.equal(1_000_000n * ONE)
    expect(await ask<bigint>(world, 'manager', 'variation', buyer.subaccountId)).to.equal(
      10_000n * ONE,
    )
    await act(world, buyer.address, 'manager', 'settleVariation', [buyer.subaccountId])
    expect(await cngnOf(buyer)).to.equal(1_010_000n * ONE)
    expect(await ask<bigint>(world, 'manager', 'pool')).to.equal(0n)
    expect(await ask<bigint>(world, 'asset', 'openInterest', world.subId)).to.equal(2n * ONE)
  })

  it('accrues what the mark moves, exactly to a thousandth of a contract (FUT-031)', async () => {
    await settleFill(world, fill({ amount: ONE / 1_000n, price: INDEX }))
    await warpTo(world, (await timeOf(world)) + 3_600)
    await setIndex(world, INDEX + 7n)
    await act(world, KEEPER, 'asset', 'updateMark', world.subId, INDEX + 7n)
    expect(await ask<bigint>(world, 'manager', 'variation', buyer.subaccountId)).to.equal(7n)
    expect(await ask<bigint>(world, 'manager', 'variation', seller.subaccountId)).to.equal(-7n)
    const ids = [seller.subaccountId, buyer.subaccountId]
    await act(world, third.address, 'manager', 'settleVariation', ids)
    expect(await cngnOf(buyer)).to.equal(FUNDS.cngn + 7n)
    expect(await cngnOf(seller)).to.equal(FUNDS.cngn - 7n)
  })

  describe('a match is refused', () => {
    const rows: readonly (readonly [string, string, () => Promise<Call> | Call])[] = [
      [
        'above the band',
        'FT_OutsideFillBand',
        () => fillCall(world, fill({ price: 1_650n * ONE + 1n })),
      ],
      [
        'below the band',
        'FT_OutsideFillBand',
        () => fillCall(world, fill({ price: 1_350n * ONE - 1n })),
      ],
      [
        'with a stale index',
        'FT_IndexStale',
        async () => {
          await warpTo(world, (await timeOf(world)) + 400)
          return fillCall(world, fill())
        },
      ],
      [
        'at the last trade time',
        'FT_TradingEnded',
        async () => {
          await warpTo(world, Number(world.subId) - 3_600)
          await setIndex(world, INDEX)
          return fillCall(world, fill())
        },
      ],
      [
        'in another asset',
        'TM_AssetMismatch',
        () => fillCall(world, fill({ asset: world.at.wrapped_cngn })),
      ],
      ['in an unknown series', 'FA_UnknownSeries', () => fillCall(world, fill({ subId: 77n }))],
      ['in parts of a step', 'FA_InvalidAmount', () => fillCall(world, fill({ amount: ONE + 1n }))],
      [
        'with proceeds to another account',
        'TM_InvalidRecipientId',
        () => fillCall(world, fill({ recipientId: third.subaccountId })),
      ],
      [
        'above the fee bound',
        'TM_FeeTooHigh',
        () => fillCall(world, fill({ amount: ONE, takerFee: FEE, worstFee: FEE - 1n })),
      ],
      [
        'of an account with itself',
        'AC_CannotTransferAssetToOneself',
        () => fillCall(world, fill({ maker: buyer })),
      ],
      [
        'beyond initial margin',
        'SRM_PortfolioBelowMargin',
        () => fillCall(world, fill({ amount: 20n * ONE, price: INDEX })),
      ],
      [
        'of an account of the earlier spot manager',
        'MW_UnknownManager',
        async () => fillCall(world, fill({ maker: (await underEarlierManager(world)).alice })),
      ],
      [
        'while paused',
        'BM_AdjustmentsPaused',
        async () => {
          await act(world, world.at.deployer, 'manager', 'setAdjustmentsPaused', true)
          return fillCall(world, fill())
        },
      ],
      [
        'above the cap',
        'BM_AssetCapExceeded',
        async () => {
          const manager = world.at.futures_manager
          await act(
            world,
            world.at.deployer,
            'asset',
            'setTotalPositionCap',
            manager,
            4n * ONE - 1n,
          )
          return fillCall(world, fill())
        },
      ],
    ]
    for (const [attempt, error, provoke] of rows) {
      it(`${attempt}: ${error}`, async () => {
        expect(await nameOf(provoke())).to.equal(error)
      })
    }
  })

  it('fills at both bounds of the band and up to the cap (FUT-012)', async () => {
    const manager = world.at.futures_manager
    await act(world, world.at.deployer, 'asset', 'setTotalPositionCap', manager, 4n * ONE)
    expect(await nameOf(fillCall(world, fill({ price: 1_650n * ONE })))).to.equal('success')
    expect(await nameOf(fillCall(world, fill({ price: 1_350n * ONE })))).to.equal('success')
  })

  it('lets only a trade module move positions', async () => {
    await settleFill(world, fill({ price: INDEX }))
    await leaveMatching(world, buyer)
    await leaveMatching(world, third)
    const approve = encodeFunctionData({
      abi: subAccountsAbi,
      functionName: 'approve',
      args: [buyer.address, third.subaccountId],
    })
    await perform(world, { from: third.address, to: world.at.sub_accounts, data: approve })
    const transfer = {
      fromAcc: buyer.subaccountId,
      toAcc: third.subaccountId,
      asset: world.at.future_asset,
      subId: world.subId,
      amount: ONE,
      assetData: zeroHash,
    }
    const data = encodeFunctionData({
      abi: subAccountsAbi,
      functionName: 'submitTransfer',
      args: [transfer, '0x'],
    })
    const move = { from: buyer.address, to: world.at.sub_accounts, data }
    expect(await nameOf(move)).to.equal('FM_OnlyTradeModule')
    const args = [world.subId, buyer.subaccountId, third.subaccountId, ONE, INDEX] as const
    const record = callOf(world, buyer.address, 'manager', 'recordFill', ...args)
    expect(await nameOf(record)).to.equal('FM_OnlyTradeModule')
    const position = [buyer.subaccountId, world.subId, 0n, ONE] as const
    const report = callOf(world, buyer.address, 'manager', 'onPositionChange', ...position)
    expect(await nameOf(report)).to.equal('FM_OnlyFutureAsset')
  })

  describe('what the same account may spend', () => {
    const withdraw = async (
      trader: Trader,
      units: bigint,
      asset: Address = world.at.wrapped_usdc,
    ) => actionsCall(world, [await signWithdrawal(world, trader, { asset, assetAmount: units })])

    it('is all of it without a position, with a stale index too', async () => {
      await warpTo(world, (await timeOf(world)) + 400)
      expect(await nameOf(withdraw(buyer, 1_000_000_000n))).to.equal('success')
      expect(await nameOf(withdraw(buyer, 1_000_000_000_000n, world.at.wrapped_cngn))).to.equal(
        'success',
      )
    })

    it('is what leaves initial margin with a position', async () => {
      await settleFill(world, fill({ price: INDEX, amount: 15n * ONE }))
      // 1000 + 1,000,000 / 1500 × 0.9 − 1500 = 99.999…: rounded down twice.
      expect(await ask<bigint>(world, 'manager', 'getMargin', buyer.subaccountId, true)).to.equal(
        99_999_999_999_999_999_999n,
      )
      expect(await nameOf(withdraw(buyer, 99_999_999n))).to.equal('success')
      expect(await nameOf(withdraw(buyer, 100_000_000n))).to.equal('SRM_PortfolioBelowMargin')
      await warpTo(world, (await timeOf(world)) + 400)
      expect(await nameOf(withdraw(buyer, 1n))).to.equal('BLF_DataTooOld')
    })

    it('reduces a position at no cost below initial margin, but not at a cost', async () => {
      await settleFill(world, fill({ price: INDEX, amount: (159n * ONE) / 10n }))
      await warpTo(world, (await timeOf(world)) + 2)
      await setIndex(world, 1_620n * ONE)
      const margin = await ask<bigint>(world, 'manager', 'getMargin', buyer.subaccountId, true)
      expect(margin < 0n).to.equal(true)
      const reduce = { taker: buyer, takerBuys: false, maker: third, amount: ONE / 10n }
      // The index has left the mark at 1500: what is below it costs.
      const index = 1_620n * ONE
      expect(await nameOf(fillCall(world, fill({ ...reduce, price: index })))).to.equal('success')
      expect(await nameOf(fillCall(world, fill({ ...reduce, price: index - 1n })))).to.equal(
        'SRM_PortfolioBelowMargin',
      )
      const fee = { price: index, takerFee: 1n }
      expect(await nameOf(fillCall(world, fill({ ...reduce, ...fee })))).to.equal(
        'SRM_PortfolioBelowMargin',
      )
    })
  })

  it('leaves spot to accounts of both managers, and to none of its own while paused', async () => {
    const spot = async () => {
      const taker = await signOrder(world, world.bob, { isBid: true, desiredAmount: ONE })
      const maker = await signOrder(world, buyer, { isBid: false, desiredAmount: ONE })
      return matchCall(world, { taker, fills: [{ maker }] })
    }
    expect(await nameOf(spot())).to.equal('success')
    await act(world, world.at.deployer, 'manager', 'setAdjustmentsPaused', true)
    expect(await nameOf(spot())).to.equal('BM_AdjustmentsPaused')
  })

  it('keeps a gift to the pool apart from the pool (FUT-032)', async () => {
    const pool = await ask<bigint>(world, 'manager', 'poolAccount')
    const data = encodeFunctionData({
      abi: world.artifacts.WrappedERC20Asset.abi,
      functionName: 'deposit',
      args: [pool, 5_000_000n],
    })
    const approve = encodeFunctionData({
      abi: world.artifacts.DevCngn.abi,
      functionName: 'approve',
      args: [world.at.wrapped_cngn, 5_000_000n],
    })
    await perform(world, { from: world.alice.address, to: world.at.cngn, data: approve })
    await perform(world, { from: world.alice.address, to: world.at.wrapped_cngn, data })
    expect(await balanceOf(world, pool, world.at.wrapped_cngn)).to.equal(5n * ONE)
    expect(await ask<bigint>(world, 'manager', 'pool')).to.equal(0n)
  })
})
