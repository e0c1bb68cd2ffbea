import { expect } from 'chai'
import { parseEventLogs } from 'viem'
import type { Address } from '../../core/action.js'
import { actionsCall, ONE, signWithdrawal } from '../support/devnet-actions.js'
import type { Call, Trader } from '../support/devnet-world.js'
import { argsOf } from '../support/event-args.js'
import { depositCngn } from '../support/futures-gifts.js'
import { JUMPED, TEN, useJumpStage } from '../support/futures-jump.js'
import {
  act,
  ask,
  callOf,
  fillCall,
  INDEX,
  KEEPER,
  openTraders,
  positionOf,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
} from '../support/futures-world.js'

describe('futures in a jump of the index', () => {
  const s = useJumpStage()
  const { nameOf, jump, staleIndex, cngnOf, owed, margin, settle, liquidation, worthOf } = s
  const withdrawal = async (
    trader: Trader,
    units: bigint,
    asset: Address = s.world.at.wrapped_usdc,
  ): Promise<Call> =>
    actionsCall(s.world, [await signWithdrawal(s.world, trader, { asset, assetAmount: units })])

  describe('two accounts of one owner that trade with each other at the index', () => {
    // A debtor that pays as a maker fills the pool: its taker draws when it is touched next.
    beforeEach(async () => {
      const [taker, maker] = s.rich
      await settleFill(s.world, { taker, maker, amount: 100n * ONE, price: 1_350n * ONE })
      await jump()
    })
    const wash = { amount: TEN, price: JUMPED }

    it('need initial margin at the mark as well (FUT-045)', async () => {
      const buyer = s.poor
      const seller = s.owner[0]
      expect(await nameOf(fillCall(s.world, { taker: buyer, maker: seller, ...wash }))).to.equal(
        'SRM_PortfolioBelowMargin',
      )
    })

    it('draw nothing that the mark alone has added, and take nothing out (FUT-047)', async () => {
      const [buyer, seller] = s.owner
      expect((await ask<bigint>(s.world, 'manager', 'pool')) > 10_000_000n * ONE).to.equal(true)
      await settleFill(s.world, { taker: buyer, maker: seller, ...wash })
      await settle(buyer, seller)
      expect([await cngnOf(buyer), await cngnOf(seller)]).to.deep.equal([0n, 0n])
      // At the mark the seller has gained 450,000 for each of ten contracts, at the index nothing.
      expect(await owed(seller)).to.equal(4_500_000n * ONE)
      const all = await withdrawal(seller, 4_500_000_000_000n, s.world.at.wrapped_cngn)
      expect(await nameOf(all)).to.equal('WERC_CannotBeNegative')
      expect(await nameOf(withdrawal(seller, 4_000_000_000n))).to.equal('success')
      expect(await nameOf(withdrawal(seller, 4_000_000_001n))).to.equal('SRM_PortfolioBelowMargin')
      // The mark counts for the buyer: 5000 − 1000 − 4,500,000 / 1950 / 0.9.
      expect(await margin(buyer, true)).to.equal(1_435_897_435_897_435_897_435n)
    })

    it('draw what the mark and the index both have added', async () => {
      const [buyer, seller] = s.owner
      await settleFill(s.world, { taker: buyer, maker: seller, amount: TEN, price: 1_960n * ONE })
      await settle(seller)
      expect(await cngnOf(seller)).to.equal(100_000n * ONE)
      expect(await owed(seller)).to.equal(4_500_000n * ONE)
    })

    it('draw nothing while the index is stale, and a flat account all of its claim', async () => {
      const [taker, maker] = s.rich
      await staleIndex()
      const before = await cngnOf(taker)
      await settle(taker)
      expect(await cngnOf(taker)).to.equal(before)
      await setIndex(s.world, INDEX)
      const back = { taker, maker, takerBuys: false, amount: 100n * ONE, price: INDEX }
      await settleFill(s.world, back)
      await staleIndex()
      await settle(taker)
      expect((await cngnOf(taker)) - before).to.equal(15_000_000n * ONE)
    })
  })

  describe('liquidation', () => {
    it('takes over at the index at once, and leaves the bonus to who does (FUT-048)', async () => {
      const [short] = s.owner
      await settleFill(s.world, { taker: s.rich[0], maker: short, amount: TEN, price: INDEX })
      await settleFill(s.world, { taker: s.rich[0], maker: short, amount: 15n * ONE, price: INDEX })
      expect(await nameOf(callOf(...liquidation(short)))).to.equal('FM_AboveMaintenance')
      // 15 %: 25 contracts lose 5,625,000 cNGN, 3260.87 of 5000 USDC; a requirement of 1750 is not kept.
      const index = 1_725n * ONE
      await jump(index)
      const before = [await worthOf(short, index), await worthOf(s.rescuer, index)] as const
      const receipt = await act(...liquidation(short))
      const { abi } = s.world.artifacts.FuturesManager
      const [event] = parseEventLogs({ abi, eventName: 'PositionLiquidated', logs: receipt.logs })
      const { bonus, contracts } = argsOf(event) as { bonus: bigint; contracts: bigint }
      expect(argsOf(event)).to.deep.include({ price: index })
      expect(bonus).to.equal(-contracts * 35n)
      const after = [await worthOf(short, index), await worthOf(s.rescuer, index)] as const
      expect(after[1] - before[1]).to.equal(bonus)
      expect(after[0] - before[0]).to.equal(-bonus)
      const left = await margin(short, true)
      expect(left >= 0n && left < ONE / 10n).to.equal(true)
    })

    it('of an account that has nothing left costs who takes over nothing', async () => {
      await settleFill(s.world, { taker: s.rich[0], maker: s.poor, amount: TEN, price: INDEX })
      await jump()
      const before = await worthOf(s.rescuer, JUMPED)
      await act(...liquidation(s.poor))
      expect(await worthOf(s.rescuer, JUMPED)).to.equal(before)
      expect(await positionOf(s.world, s.rescuer.subaccountId)).to.equal(-TEN)
    })

    it('leaves to the rest of a position its share of what the account owns', async () => {
      await settleFill(s.world, { taker: s.rich[0], maker: s.poor, amount: TEN, price: INDEX })
      // 10,000 USD lose 967.74: 132.26 are left, less than the half requirement of 350.
      const index = 1_660_714_285_714_285_714_285n
      await jump(index)
      const before = await worthOf(s.poor, index)
      await act(...liquidation(s.poor, ONE / 2n))
      const after = await worthOf(s.poor, index)
      expect(before / 2n - after >= -1n && before / 2n - after <= 1n).to.equal(true)
    })
  })

  it('holds a withdrawal to what the index leaves, whatever the mark says', async () => {
    const [short] = s.owner
    await settleFill(s.world, { taker: s.rich[0], maker: short, amount: TEN, price: INDEX })
    await jump()
    expect(await nameOf(withdrawal(short, 4_000_000_000n))).to.equal('SRM_PortfolioBelowMargin')
    // 4,500,000 at 1950 over 0.9 are 2564.1; 5000 − 1000 − that.
    expect(await nameOf(withdrawal(short, 1_435_897_435n))).to.equal('success')
    expect(await nameOf(withdrawal(short, 1_435_897_436n))).to.equal('SRM_PortfolioBelowMargin')
    // Maintenance asks the index alone: 5000 − 700 − 2307.69 / 0.95.
    expect(await margin(short, false)).to.equal(1_870_850_202_429_149_797_570n)
  })

  describe('a fill that only reduces', () => {
    it('needs initial margin where it is worse than the index, though better than the mark', async () => {
      await settleFill(s.world, { taker: s.rich[0], maker: s.poor, amount: TEN, price: INDEX })
      await warpTo(s.world, (await timeOf(s.world)) + 3_600)
      await setIndex(s.world, 1_575n * ONE)
      await act(s.world, KEEPER, 'asset', 'updateMark', s.world.subId, 1_575n * ONE)
      await jump(1_540n * ONE)
      expect((await margin(s.poor, true)) < 0n).to.equal(true)
      const reduce = { taker: s.poor, maker: s.rich[1], amount: ONE }
      expect(await nameOf(fillCall(s.world, { ...reduce, price: 1_540n * ONE + 1n }))).to.equal(
        'SRM_PortfolioBelowMargin',
      )
      expect(await nameOf(fillCall(s.world, { ...reduce, price: 1_540n * ONE }))).to.equal(
        'success',
      )
    })
  })

  describe('dust of cNGN from another key', () => {
    it('changes nothing for an account with a position: a stale index holds what pays out (FUT-046)', async () => {
      const [trader] = s.owner
      await settleFill(s.world, { taker: trader, maker: s.rich[0], amount: ONE, price: INDEX })
      await staleIndex()
      expect(await nameOf(withdrawal(trader, 1n))).to.equal('BLF_DataTooOld')
      await depositCngn(s.world, s.world.alice, trader.subaccountId, 1n)
      expect(await nameOf(withdrawal(trader, 1n))).to.equal('BLF_DataTooOld')
    })

    it('nor for one without, which needs no index', async () => {
      const [trader] = s.owner
      await staleIndex()
      expect(await nameOf(withdrawal(trader, 1n))).to.equal('success')
      await depositCngn(s.world, s.world.alice, trader.subaccountId, 1n)
      expect(await nameOf(withdrawal(trader, 1n))).to.equal('success')
    })
  })

  it('weighs an index of little confidence in initial margin, as the perpetual does', async () => {
    const [long] = s.owner
    await settleFill(s.world, { taker: long, maker: s.rich[0], amount: TEN, price: INDEX })
    const at = async (confidence: bigint) => {
      await warpTo(s.world, (await timeOf(s.world)) + 2)
      await setIndex(s.world, INDEX, undefined, confidence)
      return [await margin(long, true), await margin(long, false)]
    }
    expect(await at(55n * 10n ** 16n)).to.deep.equal([4_000n * ONE, 4_300n * ONE])
    // Half confidence costs 0.4 × 0.5 of the notional.
    expect(await at(ONE / 2n)).to.deep.equal([2_000n * ONE, 4_300n * ONE])
    const terms = (name: string) => ask<readonly bigint[]>(s.world, 'manager', name)
    expect(await terms('marginRates')).to.deep.equal([7n * 10n ** 16n, 3n * 10n ** 17n])
    expect(await terms('cngnFactors')).to.deep.equal([95n * 10n ** 16n, 7n * 10n ** 17n])
    const more = { taker: long, maker: s.rich[0], amount: 20n * ONE, price: INDEX }
    expect(await nameOf(fillCall(s.world, more))).to.equal('SRM_PortfolioBelowMargin')
    const set = (...args: readonly bigint[]) =>
      nameOf(callOf(s.world, s.world.at.deployer, 'manager', 'setOracleContingency', ...args))
    expect(await set(ONE, 9n * 10n ** 17n)).to.equal('FM_InvalidRates')
    expect(await set(ONE + 1n, 0n)).to.equal('FM_InvalidRates')
    expect(await set(0n, 0n)).to.equal('success')
    const factors = callOf(
      s.world,
      s.world.at.deployer,
      'manager',
      'setCngnFactors',
      ONE,
      4n * 10n ** 17n,
    )
    expect(await nameOf(factors)).to.equal('FM_InvalidRates')
  })

  it('gives a position to the account that signed, of the maker too', async () => {
    const fill = { taker: s.owner[0], maker: s.owner[1], amount: ONE, price: INDEX }
    // Another account of its owner is not the one that signed either.
    const [other] = await openTraders(s.world, [13], { usdc: ONE, cngn: 0n })
    expect(other?.address).to.equal(s.owner[1].address)
    for (const recipient of [other, s.rich[0]]) {
      const makerRecipientId = recipient?.subaccountId ?? 0n
      expect(await nameOf(fillCall(s.world, { ...fill, makerRecipientId }))).to.equal(
        'TM_InvalidRecipientId',
      )
    }
  })
})
