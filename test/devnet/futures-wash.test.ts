import { expect } from 'chai'
import { cngnValue } from '../../core/contracts/future-margin.js'
import { fillBand, markTowards } from '../../core/contracts/future-prices.js'
import { E18, priceE18 } from '../../core/money.js'
import { ONE } from '../support/devnet-actions.js'
import { receiptOf, send, type Trader } from '../support/devnet-world.js'
import { readWealth } from '../support/futures-rescue.js'
import {
  act,
  callOf,
  fillCall,
  INDEX,
  KEEPER,
  leaveMatching,
  openFuturesWorld,
  openTraders,
  setIndex,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../support/futures-world.js'

const ROUNDS = 30
/** The index moves by at most so many thousandths in an hour. */
const STEP = 30

describe('two accounts of one owner that trade with each other', function () {
  let world: FuturesWorld
  let pair: readonly [Trader, Trader]
  let rescuer: Trader
  let index: bigint = INDEX
  let mark: bigint = INDEX
  let state = 23

  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }

  before(async () => {
    world = await openFuturesWorld()
    const [one] = await openTraders(world, [300], { usdc: 5_000n * ONE, cngn: 0n })
    const [two] = await openTraders(world, [301], { usdc: 3_000n * ONE, cngn: 2_000_000n * ONE })
    const rich = { usdc: 10n ** 6n * ONE, cngn: 10n ** 9n * ONE }
    const [three, other] = await openTraders(world, [302, 303], rich)
    if (one === undefined || two === undefined || three === undefined || other === undefined)
      throw new Error('no accounts')
    ;[pair, rescuer] = [[one, two], three]
    await leaveMatching(world, rescuer)
    await setIndex(world, INDEX)
    // A pool that others have filled: what the pair could draw without having paid it.
    const [fourth] = await openTraders(world, [304], rich)
    if (fourth === undefined) throw new Error('no account')
    const { high } = fillBand(priceE18(INDEX), Number(world.subId), await timeOf(world))
    const paid = { taker: other, maker: fourth, amount: 500n * ONE, price: high }
    const call = await fillCall(world, paid)
    expect((await receiptOf(world, await send(world, call))).status).to.equal('success')
  })
  after(() => world.anvil.stop())

  const attempt = async (call: Parameters<typeof send>[1]): Promise<boolean> =>
    (await receiptOf(world, await send(world, call))).status === 'success'
  const wealthOf = () =>
    Promise.all(pair.map(({ subaccountId }) => readWealth(world, subaccountId)))
  const together = async () => {
    const [one, two] = await wealthOf()
    return {
      usdc: (one?.usdc ?? 0n) + (two?.usdc ?? 0n),
      cngn: (one?.cngn ?? 0n) + (two?.cngn ?? 0n),
    }
  }

  async function wash(): Promise<boolean> {
    const band = fillBand(priceE18(index), Number(world.subId), await timeOf(world))
    const [taker, maker] = next(2) === 0 ? pair : ([pair[1], pair[0]] as const)
    const price = [band.low, band.high, mark][next(3)] ?? mark
    const terms = { takerBuys: next(2) === 0, amount: BigInt(1 + next(20_000)) * 10n ** 15n, price }
    const before = await together()
    const isFilled = await attempt(await fillCall(world, { taker, maker, ...terms }))
    await settle()
    expect(await together(), 'a fill and its payment move nothing to the pair').to.deep.equal(
      before,
    )
    return isFilled
  }

  const settle = () =>
    act(world, KEEPER, 'manager', 'settleVariation', [
      ...pair.map(({ subaccountId }) => subaccountId),
    ])

  async function movePrices(): Promise<void> {
    await warpTo(world, (await timeOf(world)) + 3_600)
    index += (index * BigInt(next(2 * STEP + 1) - STEP)) / 1_000n
    await setIndex(world, index)
    const band = fillBand(priceE18(index), Number(world.subId), (await timeOf(world)) + 60)
    mark = markTowards(priceE18(mark), priceE18(index), band) ?? mark
    await act(world, KEEPER, 'asset', 'updateMark', world.subId, mark)
  }

  /** Liquidates what may be liquidated, as a rescuer that watches each mark does. */
  async function watch(): Promise<number> {
    let liquidations = 0
    for (const { subaccountId } of pair) {
      const args = [subaccountId, world.subId, rescuer.subaccountId, ONE] as const
      if (await attempt(callOf(world, rescuer.address, 'manager', 'liquidate', ...args)))
        liquidations += 1
    }
    return liquidations
  }

  it('have enough left to pay whatever the other could draw, at every mark', async () => {
    const done = { fills: 0, liquidations: 0 }
    for (let round = 0; round < ROUNDS; round += 1) {
      await setIndex(world, index)
      for (let i = 0; i < 3; i += 1) if (await wash()) done.fills += 1
      const before = await together()
      await movePrices()
      // The accounts are opposite: what a mark takes from one it gives to the other, until others take over.
      if (done.liquidations === 0)
        expect(await together(), 'a mark moves nothing to the pair').to.deep.equal(before)
      await settle()
      for (const { usdc, cngn } of await wealthOf())
        expect(usdc + cngnValue(cngn, index, E18) >= 0n, 'what it owes is there').to.equal(true)
      done.liquidations += await watch()
      await settle()
      for (const { usdc, cngn } of await wealthOf())
        expect(usdc + cngnValue(cngn, index, E18) >= 0n, 'after liquidation too').to.equal(true)
    }
    expect(done.fills).to.be.greaterThan(10)
    expect(done.liquidations).to.be.greaterThan(0)
  })
})
