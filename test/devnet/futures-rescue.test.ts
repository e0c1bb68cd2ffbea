import { expect } from 'chai'
import { parseEventLogs } from 'viem'
import { revertName } from '../../chain/abi/errors.js'
import type { Hex } from '../../core/action.js'
import { ONE } from '../support/devnet-actions.js'
import { balanceOf, revertOf, type Trader } from '../support/devnet-world.js'
import { argsOf } from '../support/event-args.js'
import {
  act,
  ask,
  callOf,
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
  type FuturesWorld,
} from '../support/futures-world.js'

/** 5 % below, three times. */
const FALLS = [1_425n * ONE, (135_375n * ONE) / 100n, (12_860_625n * ONE) / 10_000n] as const

describe('rescuing accounts of the futures manager', () => {
  let world: FuturesWorld
  let snapshot: Hex
  let long: Trader
  let shortSix: Trader
  let shortFour: Trader
  let rescuer: Trader
  let insurer: Trader

  before(async () => {
    world = await openFuturesWorld()
    const [a] = await openTraders(world, [11], { usdc: 1_100n * ONE, cngn: 0n })
    const rich = { usdc: 10_000n * ONE, cngn: 5_000_000n * ONE }
    const [b, c, d, e] = await openTraders(world, [12, 13, 14, 15], rich)
    if (a === undefined || b === undefined || c === undefined || d === undefined || e === undefined)
      throw new Error('no traders')
    ;[long, shortSix, shortFour, rescuer, insurer] = [a, b, c, d, e]
    await leaveMatching(world, rescuer)
    await setIndex(world, INDEX)
    const sale = { taker: long, price: INDEX }
    await settleFill(world, { ...sale, maker: shortSix, amount: 6n * ONE })
    await settleFill(world, { ...sale, maker: shortFour, amount: 4n * ONE })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  async function fall(times: number): Promise<bigint> {
    for (const price of FALLS.slice(0, times)) {
      await warpTo(world, (await timeOf(world)) + 3_600)
      await setIndex(world, price)
      await act(world, KEEPER, 'asset', 'updateMark', world.subId, price)
    }
    return FALLS[times - 1] ?? INDEX
  }

  const liquidation = (portion = ONE, from = rescuer) =>
    callOf(
      ...([world, from.address, 'manager', 'liquidate', long.subaccountId] as const),
      ...([world.subId, rescuer.subaccountId, portion] as const),
    )
  const cure = (amount: bigint) =>
    [
      world,
      rescuer.address,
      'manager',
      'cure',
      long.subaccountId,
      rescuer.subaccountId,
      amount,
    ] as const
  const nameOf = async (call: Parameters<typeof revertOf>[1]): Promise<string> => {
    const data = await revertOf(world, call)
    return data === 'none' ? 'success' : revertName(data)
  }
  const margin = (trader: Trader, isInitial: boolean) =>
    ask<bigint>(world, 'manager', 'getMargin', trader.subaccountId, isInitial)
  const owed = (trader: Trader) => ask<bigint>(world, 'manager', 'variation', trader.subaccountId)
  const cngnOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_cngn)
  const usdcOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_usdc)
  const all = () => [long, shortSix, shortFour, rescuer].map(({ subaccountId }) => subaccountId)

  it('counts a debt at the index over the factor, rounded up at both divisions (FUT-024)', async () => {
    await fall(1)
    // 750,000 / 1425 = 526.315789473684210527; / 0.95 = 554.016620498614958450; 1100 − 700 − that.
    expect(await margin(long, false)).to.equal(-154_016_620_498_614_958_450n)
    // / 0.9 = 584.795321637426900586; 1100 − 1000 − that.
    expect(await margin(long, true)).to.equal(-484_795_321_637_426_900_586n)
  })

  describe('liquidation', () => {
    it('is refused above maintenance margin, whether at the mark or at the index alone', async () => {
      expect(await nameOf(liquidation())).to.equal('FM_AboveMaintenance')
      await fall(1)
      await warpTo(world, (await timeOf(world)) + 2)
      await setIndex(world, 1_500n * ONE)
      expect(await nameOf(liquidation())).to.equal('FM_AboveMaintenance')
    })

    it('takes no more than restores initial margin, at the mark, for half the requirement', async () => {
      await fall(1)
      const before = await usdcOf(rescuer)
      const receipt = await act(
        ...([world, rescuer.address, 'manager', 'liquidate', long.subaccountId] as const),
        ...([world.subId, rescuer.subaccountId, ONE] as const),
      )
      const { abi } = world.artifacts.FuturesManager
      const [event] = parseEventLogs({ abi, eventName: 'PositionLiquidated', logs: receipt.logs })
      // 65 USDC of margin per contract restore 484.80: 7.459 contracts; 35 USDC each is the bonus.
      expect(argsOf(event)).to.deep.include({
        contracts: 7_459n * 10n ** 15n,
        price: FALLS[0],
        bonus: 261_065n * 10n ** 15n,
      })
      expect((await usdcOf(rescuer)) - before).to.equal(261_065n * 10n ** 15n)
      expect(await positionOf(world, rescuer.subaccountId)).to.equal(7_459n * 10n ** 15n)
      const left = await margin(long, true)
      expect(left >= 0n && left < 65n * 10n ** 15n).to.equal(true)
    })

    it('takes a portion, rounded down to whole steps', async () => {
      await fall(1)
      const args = [long.subaccountId, world.subId, rescuer.subaccountId, 12_345n * 10n ** 12n]
      await act(world, rescuer.address, 'manager', 'liquidate', ...args)
      expect(await positionOf(world, rescuer.subaccountId)).to.equal(123n * 10n ** 15n)
      expect(await nameOf(liquidation(10n ** 12n))).to.equal('BM_InvalidBidPortion')
      expect(await nameOf(liquidation(ONE + 1n))).to.equal('BM_InvalidBidPortion')
    })

    it('goes on while paused, by the owner of the taking account only', async () => {
      await fall(1)
      await act(world, world.at.deployer, 'manager', 'setAdjustmentsPaused', true)
      expect(await nameOf(liquidation())).to.equal('success')
      expect(await nameOf(liquidation(ONE, shortSix))).to.equal('FM_NotAccountOwner')
    })

    it('pays no bonus from an account that has nothing', async () => {
      await fall(3)
      const before = [await usdcOf(rescuer), await cngnOf(rescuer)]
      const args = [long.subaccountId, world.subId, rescuer.subaccountId, ONE]
      await act(world, rescuer.address, 'manager', 'liquidate', ...args)
      expect(await positionOf(world, long.subaccountId)).to.equal(0n)
      expect([await usdcOf(rescuer), await cngnOf(rescuer)]).to.deep.equal(before)
    })
  })

  describe('a debt', () => {
    it('is swapped for USDC at the index plus 2 % below maintenance margin', async () => {
      await fall(1)
      const usdc = await usdcOf(rescuer)
      const cngn = await cngnOf(rescuer)
      await act(...cure(142_500n * ONE))
      expect((await usdcOf(rescuer)) - usdc).to.equal(102n * ONE)
      expect(cngn - (await cngnOf(rescuer))).to.equal(142_500n * ONE)
      expect(await owed(long)).to.equal(-607_500n * ONE)
    })

    it('costs no bonus of an account above it, with positions and without', async () => {
      expect(await nameOf(callOf(...cure(ONE)))).to.equal('FM_NoDebt')
      await fall(1)
      const close = { taker: long, takerBuys: false, price: FALLS[0] }
      await settleFill(world, { ...close, maker: shortSix, amount: 6n * ONE })
      const usdc = await usdcOf(rescuer)
      await act(...cure(142_500n * ONE))
      expect((await usdcOf(rescuer)) - usdc).to.equal(100n * ONE)
      await settleFill(world, { ...close, maker: shortFour, amount: 4n * ONE })
      await act(...cure(142_500n * ONE))
      expect((await usdcOf(rescuer)) - usdc).to.equal(200n * ONE)
    })

    it('of a bankrupt account is borne by all claims in equal proportion without insurance', async () => {
      const index = await fall(3)
      const cover = () => callOf(world, KEEPER, 'manager', 'coverLoss', long.subaccountId)
      expect(await nameOf(cover())).to.equal('FM_NotBankrupt')
      const args = [long.subaccountId, world.subId, rescuer.subaccountId, ONE]
      await act(world, rescuer.address, 'manager', 'liquidate', ...args)
      await act(...cure(10n ** 30n))
      expect(await usdcOf(long)).to.equal(0n)
      // 10,000 × (1500 − 1286.0625) cNGN lost; 1100 USDC bought 1100 × 1286.0625: it owns nothing that a bonus could be of.
      const lost = 2_139_375n * ONE
      const loss = lost - 1_100n * index
      expect(await owed(long)).to.equal(-loss)
      expect(await nameOf(cover())).to.equal('FM_NotAccrued')
      await act(world, KEEPER, 'manager', 'settleVariation', all().slice(2))
      expect(await nameOf(cover())).to.equal('FM_NotAccrued')
      await act(world, KEEPER, 'manager', 'settleVariation', all())

      const claims = [await owed(shortSix), await owed(shortFour)]
      const sum = (claims[0] ?? 0n) + (claims[1] ?? 0n)
      const receipt = await act(world, KEEPER, 'manager', 'coverLoss', long.subaccountId)
      const { abi } = world.artifacts.FuturesManager
      const [event] = parseEventLogs({ abi, eventName: 'LossShared', logs: receipt.logs })
      expect(argsOf(event)).to.deep.include({
        account: long.subaccountId,
        fromInsurance: 0n,
        fromClaims: loss,
      })
      for (const [i, trader] of [shortSix, shortFour].entries()) {
        const left = await owed(trader)
        const exact = ((claims[i] ?? 0n) * (sum - loss)) / sum
        expect(exact - left >= 0n && exact - left <= 1n).to.equal(true)
      }
      expect(await owed(long)).to.equal(0n)
    })

    it('of a bankrupt account is paid by the insurance account first', async () => {
      await fall(3)
      const args = [long.subaccountId, world.subId, rescuer.subaccountId, ONE]
      await act(world, rescuer.address, 'manager', 'liquidate', ...args)
      await act(...cure(10n ** 30n))
      const loss = -(await owed(long))
      const before = await cngnOf(insurer)
      const { subaccountId } = insurer
      await act(world, world.at.deployer, 'manager', 'setInsuranceAccount', subaccountId)
      await act(world, KEEPER, 'manager', 'coverLoss', long.subaccountId)
      expect(before - (await cngnOf(insurer))).to.equal(loss)
      await act(world, KEEPER, 'manager', 'settleVariation', all())
      // Every claim is paid in full, and nothing is left.
      expect(await owed(shortSix)).to.equal(0n)
      expect(await ask<bigint>(world, 'manager', 'pool')).to.equal(0n)
    })
  })

  it('closes positions at the settlement price, from whatever list (FUT-037)', async () => {
    const price = await fall(1)
    const expiry = Number(world.subId)
    const closing = (ids: readonly bigint[]) =>
      callOf(world, KEEPER, 'manager', 'closeOut', world.subId, ids)
    expect(await nameOf(closing(all()))).to.equal('FM_NotSettled')
    for (let at = expiry - 3_600; at < expiry; at += 300) {
      await warpTo(world, at)
      await setIndex(world, price + 10n * ONE, at)
      await act(world, KEEPER, 'asset', 'recordIndex', world.subId)
    }
    await warpTo(world, expiry)
    await act(world, KEEPER, 'asset', 'settle', world.subId)
    // A settled position requires no margin, and its variation is known.
    expect(await owed(long)).to.equal(-650_000n * ONE)
    const receipt = await act(world, KEEPER, 'manager', 'closeOut', world.subId, all())
    const { abi } = world.artifacts.FuturesManager
    const closed = parseEventLogs({ abi, eventName: 'PositionClosed', logs: receipt.logs })
    expect(closed.map(argsOf)).to.deep.equal(
      [long, shortSix, shortFour].map(({ subaccountId }, i) => ({
        account: subaccountId,
        subId: world.subId,
        price: price + 10n * ONE,
        contracts: [10n, -6n, -4n].map((n) => n * ONE)[i],
        vm: [-650_000n, 390_000n, 260_000n].map((n) => n * ONE)[i],
      })),
    )
    expect(await ask<bigint>(world, 'asset', 'openInterest', world.subId)).to.equal(0n)
    await act(world, KEEPER, 'asset', 'retireSeries', world.subId)
  })
})
