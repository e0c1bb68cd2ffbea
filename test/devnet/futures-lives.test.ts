import { expect } from 'chai'
import {
  surplusOf,
  variationOf,
  type FuturesPortfolio,
} from '../../core/contracts/future-margin.js'
import { fillBand, markTowards } from '../../core/contracts/future-prices.js'
import { E18, priceE18 } from '../../core/money.js'
import { ONE } from '../support/devnet-actions.js'
import { rescueChecked } from '../support/futures-rescue.js'
import { randomNumbers } from '../support/random-numbers.js'
import { balanceOf, receiptOf, send, type Call, type Trader } from '../support/devnet-world.js'
import {
  act,
  ask,
  fillCall,
  INDEX,
  KEEPER,
  leaveMatching,
  openFuturesWorld,
  openTraders,
  positionOf,
  setIndex,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../support/futures-world.js'

const SEED = 8
const ACCOUNTS = 20
const BLOCKS = 60
/** Margin terms of the devnet. */
const INITIAL = { rate: E18 / 10n, factor: (9n * E18) / 10n }
const MAINTENANCE = { rate: (7n * E18) / 100n, factor: (95n * E18) / 100n }

/** An account as a model of its own keeps it, from the events of its life alone. */
interface Life {
  readonly trader: Trader
  usdc: bigint
  cngn: bigint
  position: bigint
  lastMark: bigint
}

describe('random lives of futures accounts', function () {
  let world: FuturesWorld
  let lives: Life[]
  let rescuer: Trader
  let insurer: Trader
  let index: bigint = INDEX
  let mark: bigint = INDEX
  let trend = 1n
  /** How often each kind of action was carried out. */
  const done = { fills: 0, marks: 0, liquidations: 0, inCngn: 0, cures: 0, losses: 0, cuts: 0 }
  const next = randomNumbers(SEED)

  before(async () => {
    world = await openFuturesWorld()
    const keys = Array.from({ length: ACCOUNTS }, (_, i) => 100 + i)
    lives = []
    // Some have USDC alone, some both, some cNGN and USDC for little more than fees.
    for (const [from, to, usdc, cngn] of [
      [0, 10, 700n, 0n],
      [10, 15, 500n, 600_000n],
      [15, 20, 60n, 2_000_000n],
    ] as const) {
      const funds = { usdc: usdc * ONE, cngn: cngn * ONE }
      const opened = await openTraders(world, keys.slice(from, to), funds)
      lives.push(...opened.map((trader) => ({ trader, ...funds, position: 0n, lastMark: 0n })))
    }
    const [first] = await openTraders(world, [200], {
      usdc: 10n ** 6n * ONE,
      cngn: 10n ** 9n * ONE,
    })
    const [second] = await openTraders(world, [201], { usdc: 0n, cngn: 50_000n * ONE })
    if (first === undefined || second === undefined) throw new Error('no rescuer')
    ;[rescuer, insurer] = [first, second]
    const { subaccountId } = insurer
    await act(world, world.at.deployer, 'manager', 'setInsuranceAccount', subaccountId)
    await leaveMatching(world, rescuer)
    await setIndex(world, INDEX)
  })
  after(() => world.anvil.stop())

  const pick = (): Life => lives[next(lives.length)] ?? raise()
  const manager = <Answer>(name: string, ...args: readonly unknown[]) =>
    ask<Answer>(world, 'manager', name, ...args)
  const cngnOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_cngn)
  const usdcOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_usdc)

  /** Sends a call that may be refused; whether it was carried out. */
  async function attempt(call: Call): Promise<boolean> {
    return (await receiptOf(world, await send(world, call))).status === 'success'
  }

  async function trade(): Promise<void> {
    const taker = pick()
    const maker = pick()
    const { low, high } = fillBand(priceE18(index), Number(world.subId), await timeOf(world))
    const price = [mark, low, high, mark + BigInt(next(60) - 30) * ONE][next(4)] ?? mark
    const amount = BigInt(1 + next(6_000)) * 10n ** 15n
    const takerBuys = next(2) === 0
    const takerFee = (amount * 5n) / 2n
    const fill = { taker: taker.trader, maker: maker.trader, takerBuys, amount, price, takerFee }
    if (!(await attempt(await fillCall(world, fill)))) return
    done.fills += 1
    const sides = takerBuys ? ([taker, maker] as const) : ([maker, taker] as const)
    accrue(sides[0])
    accrue(sides[1])
    const vm = variationOf(amount, price, mark)
    sides[0].position += amount
    sides[1].position -= amount
    sides[0].cngn += vm
    sides[1].cngn -= vm
    taker.usdc -= takerFee
  }

  /** The model: everything that cNGN comes to, wrapped or owed, in one number. */
  function accrue(life: Life): void {
    if (life.lastMark !== 0n) life.cngn += variationOf(life.position, life.lastMark, mark)
    life.lastMark = mark
  }

  async function movePrices(): Promise<void> {
    await warpTo(world, (await timeOf(world)) + 3_600)
    // Runs of one direction, so that some accounts go bankrupt.
    if (next(4) === 0) trend = -trend
    index += (index * trend * BigInt(next(80))) / 1_000n
    await setIndex(world, index)
    const band = fillBand(priceE18(index), Number(world.subId), (await timeOf(world)) + 60)
    const towards = markTowards(priceE18(mark), priceE18(index), band)
    if (towards === undefined) return
    for (const life of lives) accrue(life)
    await act(world, KEEPER, 'asset', 'updateMark', world.subId, towards)
    mark = towards
    done.marks += 1
    for (const life of lives) accrue(life)
  }

  async function settle(): Promise<void> {
    const ids = [pick(), pick(), pick()].map(({ trader }) => trader.subaccountId)
    await act(world, KEEPER, 'manager', 'settleVariation', ids)
  }

  /** Rescues the account with the least margin; what it loses is taken over from the chain. */
  async function rescue(): Promise<void> {
    const margins = await Promise.all(
      lives.map(({ trader }) => manager<bigint>('getMargin', trader.subaccountId, false)),
    )
    const least = margins.reduce((a, b) => (a < b ? a : b))
    const id = lives[margins.indexOf(least)]?.trader.subaccountId ?? raise()
    const ids = everyone().map(({ subaccountId }) => subaccountId)
    const rescued = await rescueChecked(
      { world, id, rescuer, insurer, everyone: ids, index, mark },
      {
        portion: next(2) === 0 ? ONE : BigInt(1 + next(100)) * 10n ** 16n,
        cngn: next(2) === 0 ? 10n ** 30n : BigInt(1 + next(10 ** 6)) * ONE,
      },
    )
    if (rescued.liquidated) done.liquidations += 1
    if (rescued.tookCngn) done.inCngn += 1
    if (rescued.cured) done.cures += 1
    if (rescued.covered) done.losses += 1
    if (rescued.shared > 0n) done.cuts += 1
    await readBack()
  }

  async function readBack(): Promise<void> {
    for (const life of lives) {
      life.usdc = await usdcOf(life.trader)
      life.cngn =
        (await cngnOf(life.trader)) + (await manager<bigint>('variation', life.trader.subaccountId))
      life.position = await positionOf(world, life.trader.subaccountId)
      life.lastMark = mark
    }
  }

  const everyone = () => [...lives.map(({ trader }) => trader), rescuer, insurer]

  async function checkSums(): Promise<void> {
    const owed = await Promise.all(
      everyone().map(({ subaccountId }) => manager<bigint>('variation', subaccountId)),
    )
    const sum = owed.reduce((total, each) => total + each, 0n)
    const pool = await manager<bigint>('pool')
    const held = await balanceOf(world, await manager<bigint>('poolAccount'), world.at.wrapped_cngn)
    // Shares of a loss are rounded against the claims, by less than a unit each.
    const dust = BigInt(done.losses * everyone().length)
    expect(pool >= sum && pool - sum <= dust, 'the pool is what the ledgers add up to').to.equal(
      true,
    )
    expect(held, 'the pool is there').to.equal(pool)
    const positions = await Promise.all(
      everyone().map(({ subaccountId }) => positionOf(world, subaccountId)),
    )
    expect(
      positions.reduce((total, each) => total + each, 0n),
      'positions add up',
    ).to.equal(0n)
  }

  async function checkMargins(): Promise<void> {
    for (const { trader, usdc, cngn, position, lastMark } of lives) {
      const id = trader.subaccountId
      const atMark = cngn + (lastMark === 0n ? 0n : variationOf(position, lastMark, mark))
      const atIndex = atMark + variationOf(position, mark, index)
      const held = { usdc, size: position < 0n ? -position : position }
      const lower: FuturesPortfolio = { ...held, cngn: atMark < atIndex ? atMark : atIndex }
      const [initial, maintenance] = await Promise.all([
        manager<bigint>('getMargin', id, true),
        manager<bigint>('getMargin', id, false),
      ])
      expect(initial, `initial margin of ${id}`).to.equal(surplusOf(lower, index, INITIAL))
      expect(maintenance).to.equal(surplusOf({ ...held, cngn: atIndex }, index, MAINTENANCE))
    }
  }

  it('keep ledgers, pool, positions and margin equal to the model in every block (FUT-025, FUT-032)', async () => {
    const actions = [trade, trade, trade, movePrices, movePrices, settle, rescue]
    for (let block = 0; block < BLOCKS; block += 1) {
      await setIndex(world, index)
      await (actions[next(actions.length)] ?? trade)()
      await checkSums()
      await checkMargins()
    }
    for (const [kind, times] of Object.entries(done))
      expect(times, `the run has ${kind}`).to.be.greaterThan(0)
  })
})

function raise(): never {
  throw new Error('no account')
}
