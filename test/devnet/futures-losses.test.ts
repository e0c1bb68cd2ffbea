import { expect } from 'chai'
import { parseEventLogs } from 'viem'
import { ONE } from '../support/devnet-actions.js'
import { perform, type Trader } from '../support/devnet-world.js'
import { argsOf } from '../support/event-args.js'
import { depositUsdc } from '../support/futures-gifts.js'
import { JUMPED, TEN, useJumpStage } from '../support/futures-jump.js'
import {
  act,
  ask,
  callOf,
  INDEX,
  KEEPER,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
} from '../support/futures-world.js'

describe('losses and debts of futures in a jump of the index', () => {
  const s = useJumpStage()
  const { nameOf, jump, staleIndex, cngnOf, usdcOf, owed, settle, liquidation, worthOf } = s

  describe('the loss of a bankrupt account', () => {
    const cover = () => callOf(s.world, KEEPER, 'manager', 'coverLoss', s.poor.subaccountId)
    beforeEach(async () => {
      await settleFill(s.world, { taker: s.rich[0], maker: s.poor, amount: TEN, price: INDEX })
      await jump()
      await settleFill(s.world, {
        taker: s.owner[0],
        maker: s.owner[1],
        amount: TEN,
        price: JUMPED,
      })
      await act(...liquidation(s.poor))
    })
    const accrue = async () => {
      await act(s.world, KEEPER, 'manager', 'accrueAtIndex')
      await settle(...s.rich, ...s.owner, s.rescuer)
    }
    // 4,500,000 cNGN were lost.
    const LOST = 4_500_000n * ONE
    const lossShared = async () => {
      const receipt = await perform(s.world, cover())
      const { abi } = s.world.artifacts.FuturesManager
      const [event] = parseEventLogs({ abi, eventName: 'LossShared', logs: receipt.logs })
      return argsOf(event)
    }
    const insure = async (by: Trader) =>
      act(s.world, s.world.at.deployer, 'manager', 'setInsuranceAccount', by.subaccountId)

    it('is borne by claims as they are at the index, not by what old marks have added', async () => {
      await settle(...s.rich, ...s.owner, s.rescuer)
      expect(await nameOf(cover())).to.equal('FM_NotAccruedAtIndex')
      // At the mark the seller of a wash at the index has gained 4,500,000.
      expect(await owed(s.owner[1])).to.equal(4_500_000n * ONE)
      await act(s.world, KEEPER, 'manager', 'accrueAtIndex')
      expect(await nameOf(cover())).to.equal('FM_NotAccrued')
      await settle(...s.rich, ...s.owner, s.rescuer)
      const before = await Promise.all([...s.owner, s.rich[0]].map((one) => worthOf(one, JUMPED)))
      const { fromClaims } = (await lossShared()) as { fromClaims: bigint }
      const after = await Promise.all([...s.owner, s.rich[0]].map((one) => worthOf(one, JUMPED)))
      const lost = before.map((worth, i) => worth - (after[i] ?? 0n))
      expect(lost.slice(0, 2)).to.deep.equal([0n, 0n])
      const usd = (fromClaims * ONE) / JUMPED
      expect((lost[2] ?? 0n) >= usd && (lost[2] ?? 0n) <= usd + 2n).to.equal(true)
      // What is near the index is not begun again, so that no caller can hold the loss up.
      const again = await act(s.world, KEEPER, 'manager', 'accrueAtIndex')
      expect(again.logs).to.deep.equal([])
    })

    it('books fills and takes positions over as before where positions are accrued to the index', async () => {
      await accrue()
      const worths = () => Promise.all([...s.owner, s.rescuer].map((one) => worthOf(one, JUMPED)))
      const before = await worths()
      await settleFill(s.world, {
        taker: s.owner[0],
        maker: s.owner[1],
        amount: ONE,
        price: 1_960n * ONE,
      })
      const usd = (10_000n * ONE * ONE) / JUMPED
      const [buyer = 0n, seller = 0n] = (await worths()).map(
        (worth, i) => worth - (before[i] ?? 0n),
      )
      expect(buyer + usd >= -2n && buyer + usd <= 2n).to.equal(true)
      expect(seller - usd >= -2n && seller - usd <= 2n).to.equal(true)
      // The mark moves on, and what was accrued to the index with it.
      await warpTo(s.world, (await timeOf(s.world)) + 3_600)
      await setIndex(s.world, 1_600n * ONE)
      await act(s.world, KEEPER, 'asset', 'updateMark', s.world.subId, 1_560n * ONE)
      const variations = await Promise.all([...s.rich, ...s.owner, s.rescuer, s.poor].map(owed))
      const pool = await ask<bigint>(s.world, 'manager', 'pool')
      expect(variations.reduce((sum, each) => sum + each, 0n)).to.equal(pool)
    })

    it('is what its USDC does not pay at the index, which secures the rest without insurance', async () => {
      await accrue()
      const secured = 1_100n * JUMPED
      expect(await lossShared()).to.deep.include({ fromInsurance: 0n, fromClaims: LOST - secured })
      expect(await owed(s.poor)).to.equal(-secured)
      expect(await nameOf(cover())).to.equal('FM_NotBankrupt')
      const args = [s.poor.subaccountId, s.rescuer.subaccountId, LOST] as const
      await act(s.world, s.rescuer.address, 'manager', 'cure', ...args)
      expect([await owed(s.poor), await usdcOf(s.poor)]).to.deep.equal([0n, 0n])
    })

    it('is borne though another key puts dust of USDC into the account', async () => {
      const args = [s.poor.subaccountId, s.rescuer.subaccountId, LOST] as const
      await act(s.world, s.rescuer.address, 'manager', 'cure', ...args)
      expect(await usdcOf(s.poor)).to.equal(0n)
      await accrue()
      await depositUsdc(s.world, s.world.alice, s.poor.subaccountId, 1n)
      const { fromClaims } = (await lossShared()) as { fromClaims: bigint }
      const dust = JUMPED / 10n ** 6n
      expect(fromClaims).to.equal(LOST - 1_100n * JUMPED - dust)
    })

    it('costs the insurance account what the USDC is worth, which it receives', async () => {
      await insure(s.rich[1])
      const before = [await usdcOf(s.rich[1]), await cngnOf(s.rich[1])] as const
      expect(await lossShared()).to.deep.include({
        fromInsurance: LOST - 1_100n * JUMPED,
        fromClaims: 0n,
      })
      expect([await usdcOf(s.poor), await owed(s.poor)]).to.deep.equal([0n, 0n])
      expect((await usdcOf(s.rich[1])) - before[0]).to.equal(1_100n * ONE)
      expect(before[1] - (await cngnOf(s.rich[1]))).to.equal(LOST)
    })

    it('is owed by an insurance account without cNGN as far as it received USDC', async () => {
      await insure(s.owner[1])
      await accrue()
      expect(await lossShared()).to.deep.include({
        fromInsurance: 0n,
        fromClaims: LOST - 1_100n * JUMPED,
      })
      expect(await usdcOf(s.owner[1])).to.equal(6_100n * ONE)
      expect(await worthOf(s.owner[1], JUMPED)).to.equal(5_000n * ONE)
    })

    it('needs no index where insurance pays it without USDC, and no insurance is the pool', async () => {
      const args = [s.poor.subaccountId, s.rescuer.subaccountId, LOST] as const
      await act(s.world, s.rescuer.address, 'manager', 'cure', ...args)
      await staleIndex()
      await settle(...s.rich, ...s.owner, s.rescuer)
      expect(await nameOf(cover())).to.equal('BLF_DataTooOld')
      await insure(s.rich[1])
      expect(await nameOf(cover())).to.equal('success')
      const pool = await ask<bigint>(s.world, 'manager', 'poolAccount')
      const name = callOf(s.world, s.world.at.deployer, 'manager', 'setInsuranceAccount', pool)
      expect(await nameOf(name)).to.equal('FM_SameAccount')
    })
  })

  describe('a cure', () => {
    const cure = (of: Trader, amount: bigint) =>
      [
        ...([s.world, s.rescuer.address, 'manager', 'cure', of.subaccountId] as const),
        ...([s.rescuer.subaccountId, amount] as const),
      ] as const

    it('pays what is owed at the index of an account above maintenance, without a bonus', async () => {
      const [short] = s.owner
      expect(await nameOf(callOf(...cure(short, ONE)))).to.equal('FM_NoDebt')
      await settleFill(s.world, { taker: s.rich[0], maker: short, amount: TEN, price: INDEX })
      await jump(1_700n * ONE)
      const before = [await worthOf(short, 1_700n * ONE), await usdcOf(short)] as const
      await act(...cure(short, 10n ** 30n))
      // 2,000,000 cNGN at 1700, rounded down.
      expect(before[1] - (await usdcOf(short))).to.equal((2_000_000n * ONE) / 1_700n)
      expect(await worthOf(short, 1_700n * ONE)).to.equal(before[0] + 1n)
      expect(await nameOf(callOf(...cure(short, ONE)))).to.equal('FM_NoDebt')
      // What was paid beyond the ledger is a claim that waits for the mark.
      await settle(short)
      expect([await cngnOf(short), await owed(short)]).to.deep.equal([0n, 2_000_000n * ONE])
    })

    it('takes no bonus that the account does not own', async () => {
      await settleFill(s.world, { taker: s.rich[0], maker: s.poor, amount: TEN, price: INDEX })
      await jump()
      const usdc = await usdcOf(s.rescuer)
      await act(...cure(s.poor, 195_000n * ONE))
      expect((await usdcOf(s.rescuer)) - usdc).to.equal(100n * ONE)
    })
  })
})
