import { expect } from 'chai'
import type { Address } from '../../../core/action.js'
import { assert } from '../../../core/assert.js'
import { ONE } from '../../support/devnet-actions.js'
import { administer, balanceOf, create, type Trader } from '../../support/devnet-world.js'
import {
  act,
  INDEX,
  openTraders,
  settleFill,
  withSeries,
  type FuturesWorld,
} from '../../support/futures-world.js'
import { perpAdminAbi } from '../../support/perp-world.js'
import { walletOf, withdrawalBody } from './requests.js'
import {
  recordIn,
  refusalIn,
  startWithdrawals,
  transferStage,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

const FOREVER_SEC = 10n ** 9n
/** One USDC or cNGN in its token's units. */
const UNIT = 1_000_000n

/** An account has its spot balances and its margin of futures together: spot moves under a position (FUT-040, FUT-044). */
describe('withdrawal submitter, for accounts that trade futures', () => {
  let stage: TransferStage
  let world: FuturesWorld
  let withdrawals: TestSubmitter
  let usdc: Address
  let cngn: Address
  let lastKey = 71_000

  before(async function () {
    stage = await transferStage()
    const { at } = stage.world
    await administer(stage.world, at.futures_index_feed, perpAdminAbi, 'setHeartbeat', FOREVER_SEC)
    world = await withSeries(stage.world)
    ;[usdc, cngn] = [at.wrapped_usdc, at.wrapped_cngn]
    withdrawals = await startWithdrawals(stage)
  })
  after(() => withdrawals.end())

  /** A new account with 1,000 USDC and so much cNGN. */
  async function accountWith(cngnAmount: bigint): Promise<Trader> {
    lastKey += 1
    const funds = { usdc: 1_000n * ONE, cngn: cngnAmount * ONE }
    const [owner] = await openTraders(world, [lastKey], funds)
    assert(owner !== undefined, 'an account was opened')
    return owner
  }

  /** Buys so many contracts at the mark, without fee. */
  async function goLong(taker: Trader, contracts: bigint): Promise<void> {
    const terms = { taker, maker: world.bob, amount: contracts * ONE, price: INDEX }
    await settleFill(world, terms)
  }

  const ask = async (owner: Trader, asset: Address, amount: bigint) =>
    withdrawals.ask(await withdrawalBody(world, owner, { asset, amount }))

  /** The series has no index meanwhile. */
  async function withoutIndex(look: () => Promise<void>): Promise<void> {
    const { deployer, futures_index_feed: feed } = world.at
    await act(world, deployer, 'asset', 'setIndexFeed', await create(world, 'SpotFeed'))
    try {
      await look()
    } finally {
      await act(world, deployer, 'asset', 'setIndexFeed', feed)
    }
  }

  it('pays what initial margin leaves, and refuses a unit more (FUT-044)', async () => {
    const owner = await accountWith(0n)
    await goLong(owner, 5n)
    // Five contracts need a tenth of 5,000 USDC.
    const refusal = refusalIn(await ask(owner, usdc, 500n * UNIT + 1n))
    expect(refusal).to.deep.include({
      status: 422,
      code: 'withdrawal_would_revert',
      revert: 'SRM_PortfolioBelowMargin',
      message: 'the withdrawal would revert on chain: SRM_PortfolioBelowMargin',
    })
    expect(await balanceOf(world, owner.subaccountId, usdc)).to.equal(1_000n * ONE)
    expect(recordIn(await ask(owner, usdc, 500n * UNIT)).status).to.equal('confirmed')
    expect(await walletOf(world, world.at.usdc, owner.address)).to.equal(500n * UNIT)
    expect(refusalIn(await ask(owner, usdc, 1n)).revert).to.equal('SRM_PortfolioBelowMargin')
  })

  it('pays everything to an account without position while there is no index', async () => {
    const owner = await accountWith(3n)
    await withoutIndex(async () => {
      expect(recordIn(await ask(owner, usdc, 1_000n * UNIT)).status).to.equal('confirmed')
      expect(recordIn(await ask(owner, cngn, 3n * UNIT)).status).to.equal('confirmed')
    })
    expect(await walletOf(world, world.at.usdc, owner.address)).to.equal(1_000n * UNIT)
  })

  it('pays an account again that has closed its position, to the last unit and without an index', async () => {
    const owner = await accountWith(0n)
    await goLong(owner, 2n)
    await settleFill(world, {
      taker: owner,
      maker: world.bob,
      takerBuys: false,
      amount: 2n * ONE,
      price: INDEX,
    })
    await withoutIndex(async () => {
      expect(recordIn(await ask(owner, usdc, 1_000n * UNIT)).status).to.equal('confirmed')
    })
  })

  it('lets an account with a position wait for the index, whether it holds cNGN or none', async () => {
    const owners = [await accountWith(0n), await accountWith(3n)]
    for (const owner of owners) await goLong(owner, 1n)
    const bodies = await Promise.all(
      owners.map((owner) => withdrawalBody(world, owner, { asset: usdc, amount: UNIT })),
    )
    await withoutIndex(async () => {
      for (const body of bodies) {
        expect(refusalIn(await withdrawals.ask(body))).to.deep.include({
          status: 422,
          revert: 'BLF_DataTooOld',
          message: 'the withdrawal would revert on chain: BLF_DataTooOld',
        })
      }
    })
    // The same requests again, once there is an index.
    for (const body of bodies) {
      expect(recordIn(await withdrawals.ask(body)).status).to.equal('confirmed')
    }
  })
})
