import { expect } from 'chai'
import { markTowards, fillBand, FIXING_SEC } from '../../core/contracts/future-prices.js'
import { priceE18 } from '../../core/money.js'
import { ONE } from '../support/devnet-actions.js'
import { receiptOf, revertOf, send, type Call } from '../support/devnet-world.js'
import {
  act,
  ask,
  callOf,
  DAY,
  HOUR,
  INDEX,
  KEEPER,
  leaveMatching,
  openDatedWorld,
  openTraders,
  setIndex,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../support/futures-world.js'
import { fund } from '../support/futures-gifts.js'
import { randomNumbers } from '../support/random-numbers.js'
import {
  cover,
  cure,
  everyoneOf,
  liquidation,
  NOTHING,
  randomCall,
  type Attempt,
  type Cast,
  type Effect,
} from '../support/solvency-calls.js'
import { askAll, readState, type SolvencyState } from '../support/solvency-state.js'

/** How many calls; more by hand: `FUTURES_CALLS=100000 ./venue test dist/test/devnet/futures-solvency.test.js --timeout 0`. */
const CALLS = Number(process.env.FUTURES_CALLS ?? 2_000)
const SEED = Number(process.env.FUTURES_SEED ?? 34)
/** What a run of the usual length, or a longer one, must have done, so that it shows anything. */
const COVERED = [
  ...['wash', 'fill', 'withdrawal', 'dust', 'liquidation', 'cure', 'loss', 'bankruptcy'],
  ...['jump beyond maintenance', 'settlement', 'close-out'],
]
/** Newest sample, price seconds, seconds covered, longest gap, and whether it is complete. */
type Fixing = readonly [bigint, bigint, bigint, bigint, boolean]
/** The world begins here: 2026-11-02 00:00 UTC. */
const START_SEC = 1_793_577_600
const MAINTENANCE = 7n * 10n ** 16n
/** Rounding of a call, in 1e-18 of USDC for each account. */
const DUST = 1_000n
/** A fresh index is signed again after so many seconds. */
const REFRESH_SEC = 100
const LOWEST = 300n * ONE
const HIGHEST = 6_000n * ONE

describe('futures in random jumps', () => {
  let world: FuturesWorld
  let cast: Cast
  let ids: readonly bigint[]
  let subIds: readonly bigint[]
  let poolAccount: bigint
  let index: bigint = INDEX
  let state: SolvencyState
  const next = randomNumbers(SEED)
  const done = new Map<string, number>()
  let calls = 0
  const count = (name: string) => done.set(name, (done.get(name) ?? 0) + 1)

  before(async () => {
    world = await openDatedWorld(START_SEC, 'none')
    await world.client.setBlockTimestampInterval({ interval: 1 })
    const poor = { usdc: 3_000n * ONE, cngn: 0n }
    const both = { usdc: 2_000n * ONE, cngn: 3_000_000n * ONE }
    const rich = { usdc: 10n ** 9n * ONE, cngn: 10n ** 13n * ONE }
    const tricksters = await openTraders(world, [601, 602], poor)
    tricksters.push(...(await openTraders(world, [603], both)))
    const honest = await openTraders(world, [611, 612], poor)
    honest.push(...(await openTraders(world, [613, 614], both)))
    const [partner] = await openTraders(world, [604], both)
    const [rescuer] = await openTraders(world, [621], rich)
    const [insurer] = await openTraders(world, [622], { usdc: 0n, cngn: 200_000n * ONE })
    if (partner === undefined || rescuer === undefined || insurer === undefined)
      throw new Error('no accounts')
    cast = { tricksters, partner, honest, rescuer, insurer, giver: world.alice }
    ids = everyoneOf(cast).map(({ subaccountId }) => subaccountId)
    await leaveMatching(world, partner)
    await leaveMatching(world, rescuer)
    await fund(world, cast.giver)
    await act(world, world.at.deployer, 'manager', 'setInsuranceAccount', insurer.subaccountId)
    await publish(INDEX)
    subIds = []
    await openSeries(2 * 24 * HOUR)
    await openSeries(9 * 24 * HOUR)
    poolAccount = await ask<bigint>(world, 'manager', 'poolAccount')
    state = await read()
  })
  after(() => world.anvil.stop())

  const read = () => readState(world, ids, subIds, { index, poolAccount })
  const attempt = async (call: Call): Promise<boolean> =>
    (await receiptOf(world, await send(world, call))).status === 'success'

  async function publish(price: bigint): Promise<void> {
    await setIndex(world, price)
    index = price
  }

  async function openSeries(afterSec: number): Promise<void> {
    const subId = BigInt((await timeOf(world)) + afterSec)
    await act(world, world.at.deployer, 'asset', 'createSeries', subId)
    subIds = [...subIds, subId]
  }

  /** One call that must keep what no call may touch; whether the chain took it. */
  async function tryCall({ name, call, effect }: Attempt): Promise<boolean> {
    calls += 1
    if (!(await attempt(call))) {
      count(`${name} refused`)
      return false
    }
    const before = state
    state = await read()
    count(name)
    checkLedgers(state)
    checkEffect(name, effect, before)
    return true
  }

  /** The pool is what the ledgers add up to, and it is there. */
  function checkLedgers({ accounts, pool, poolHeld }: SolvencyState): void {
    const owed = [...accounts.values()].reduce((sum, { variation }) => sum + variation, 0n)
    const dust = BigInt((done.get('loss') ?? 0) * ids.length)
    expect(pool >= owed && pool - owed <= dust, 'the pool is what the ledgers say').to.equal(true)
    expect(poolHeld, 'the pool is there').to.equal(pool)
  }

  const worthIn = ({ accounts }: SolvencyState, id: bigint): bigint => accounts.get(id)?.worth ?? 0n

  /** No call makes an account owe more than it has, or owe more of that; no account gains but as the call says. */
  function checkEffect(name: string, effect: Effect, before: SolvencyState): void {
    const dust = DUST * index
    for (const id of ids) {
      const was = worthIn(before, id)
      const is = worthIn(state, id)
      const said = `${name} of ${id}: ${was} to ${is}`
      // Claims that share a loss are accrued to within a hundredth of the index.
      const notional = (state.accounts.get(id)?.size ?? 0n) * 1_000n * index
      const near = effect.kind === 'loss' ? notional / 100n : 0n
      expect(is >= -dust - near || is >= was - dust, `it makes no debt: ${said}`).to.equal(true)
      const gained = is - was
      if (effect.kind === 'exactly') {
        const exact = effect.gains.get(id) ?? 0n
        expect(gained - exact <= dust && exact - gained <= dust, `as agreed: ${said}`).to.equal(
          true,
        )
      } else if (effect.kind === 'bounded') {
        if (id !== effect.from && id !== effect.to)
          expect(gained <= dust && -gained <= dust, `not meant: ${said}`).to.equal(true)
        const most = least(effect.perCent, atLeastZero(worthIn(before, effect.from)))
        if (id === effect.to)
          expect(gained >= -dust && gained <= most + dust, `a bonus: ${said}`).to.equal(true)
      } else if (id !== effect.of) {
        expect(gained <= dust, `no other gains by a loss: ${said}`).to.equal(true)
      }
    }
  }

  /** Whatever may be taken over, paid and covered is; afterwards no account owes more than it has. */
  async function rescueAll(): Promise<void> {
    await closeOut()
    const others = ids.filter((id) => id !== cast.rescuer.subaccountId)
    // A loss that is shared may leave one that shares it below maintenance margin.
    for (let round = 0; round < 5 && !(await isSound(others)); round += 1) await rescue(others)
    for (const id of others) {
      const { worth = 0n, cngn = 0n } = state.accounts.get(id) ?? {}
      expect(worth >= -DUST * index, `${id} owes no more than it has`).to.equal(true)
      expect(cngn >= -DUST * ONE, `${id} owes nothing that was not paid`).to.equal(true)
    }
    expect(await belowMaintenance(others), 'all is taken over').to.deep.equal([])
  }

  async function isSound(others: readonly bigint[]): Promise<boolean> {
    const inDebt = others.some((id) => (state.accounts.get(id)?.cngn ?? 0n) < 0n)
    return !inDebt && (await belowMaintenance(others)).length === 0
  }

  async function pay(): Promise<void> {
    const call = callOf(world, KEEPER, 'manager', 'settleVariation', ids)
    await must({ name: 'payment', call, effect: NOTHING })
  }

  async function rescue(others: readonly bigint[]): Promise<void> {
    const accrue = callOf(world, KEEPER, 'manager', 'accrueAtIndex')
    await must({ name: 'accrual', call: accrue, effect: NOTHING })
    await pay()
    const { rescuer } = cast
    for (const id of await belowMaintenance(others)) {
      for (const { subId, settlementPrice } of state.series) {
        if (settlementPrice !== 0n) continue
        if ((state.accounts.get(id)?.positions.get(subId) ?? 0n) === 0n) continue
        if ((await belowMaintenance([id])).length === 0) break
        await must(liquidation({ world, state }, { by: rescuer, id, subId, portion: ONE }))
      }
    }
    await cureAll(others)
    await pay()
    for (const id of others) {
      const { worth = 0n, size = 0n } = state.accounts.get(id) ?? {}
      if (worth < 0n && size === 0n) await must(cover({ world }, id))
    }
    // What the insurance bought of bankrupt accounts it owes.
    await cureAll(others)
  }

  async function cureAll(of: readonly bigint[]): Promise<void> {
    for (const id of of) {
      const { cngn = 0n, usdc = 0n } = state.accounts.get(id) ?? {}
      if (cngn < 0n && usdc > 0n) await must(cure({ world, state }, cast.rescuer, id, 10n ** 30n))
    }
  }

  async function must(one: Attempt): Promise<void> {
    const isDone = await tryCall(one)
    const why = isDone ? '' : await revertOf(world, one.call)
    expect(isDone, `${one.name} is refused: ${why}`).to.equal(true)
  }

  /** Accounts below maintenance margin, as the manager says; a bankrupt one without positions is not among them. */
  async function belowMaintenance(of: readonly bigint[]): Promise<bigint[]> {
    const withPositions = of.filter((id) => (state.accounts.get(id)?.size ?? 0n) > 0n)
    const { abi } = world.artifacts.FuturesManager
    const margins = await askAll(
      world,
      withPositions.map((id) => ({
        to: world.at.futures_manager,
        abi,
        functionName: 'getMargin',
        args: [id, false],
      })),
    )
    return withPositions.filter((_, i) => ((margins[i] as bigint | undefined) ?? 0n) < 0n)
  }

  async function closeOut(): Promise<void> {
    for (const { subId, settlementPrice } of state.series) {
      if (settlementPrice === 0n) continue
      await must({
        name: 'close-out',
        call: callOf(world, KEEPER, 'manager', 'closeOut', subId, ids),
        effect: NOTHING,
      })
      await act(world, KEEPER, 'asset', 'retireSeries', subId)
      subIds = subIds.filter((one) => one !== subId)
      state = await read()
    }
  }

  /**
   * The index moves, or a series is settled at another price than the index: of what accounts owe beyond what they have then,
   * which others bear, there is no more than their notional times what the move exceeds maintenance margin by.
   */
  async function move(
    name: string,
    change: () => Promise<void>,
    priceOf: () => Promise<bigint>,
  ): Promise<void> {
    await rescueAll()
    const before = state
    await change()
    state = await read()
    const from = before.index
    const to = await priceOf()
    const [low, high] = from < to ? [from, to] : [to, from]
    const excess = (high * ONE) / low - ONE - MAINTENANCE
    count(name)
    if (excess > 0n) count(`${name} beyond maintenance`)
    checkLedgers(state)
    for (const id of ids) {
      const owed = -worthIn(state, id)
      const notional = (before.accounts.get(id)?.size ?? 0n) * 1_000n
      const most = (notional * atLeastZero(excess) * index) / ONE
      expect(owed <= most + DUST * index, `${id} owes ${owed}, at most ${most}`).to.equal(true)
      if (owed > DUST * index) count('bankruptcy')
    }
  }

  const moveIndex = (price: bigint) =>
    move(
      'jump',
      async () => {
        await publish(price)
      },
      () => Promise.resolve(price),
    )

  let earlier = INDEX
  function nextPrice(): bigint {
    const kind = next(10)
    const back = earlier
    earlier = index
    const percent = [97 + next(7), 97 + next(7), 97 + next(7), 85 + next(31), 80 + next(50)]
    const factor = kind < 5 ? (percent[kind] ?? 100) : kind < 7 ? 30 + next(271) : 100
    const price = kind >= 7 ? back : (index * BigInt(factor)) / 100n
    return price < LOWEST ? LOWEST : price > HIGHEST ? HIGHEST : price
  }

  /** The keeper moves a mark to any legal price: towards the index, or as far from it as it may. */
  async function moveMark(): Promise<void> {
    await warpTo(world, (await timeOf(world)) + HOUR)
    await publish(index)
    state = await read()
    for (const { subId, mark, settlementPrice } of state.series) {
      if (settlementPrice !== 0n) continue
      const band = fillBand(priceE18(index), Number(subId), (await timeOf(world)) + 30)
      const target = [index, band.low, band.high][next(3)] ?? index
      const legal = markTowards(priceE18(mark), priceE18(target), band)
      if (legal === undefined) continue
      await tryCall({
        name: 'mark',
        call: callOf(world, KEEPER, 'asset', 'updateMark', subId, legal),
        effect: NOTHING,
      })
    }
  }

  /** Nothing is paid out and no risk is added while the index is stale; what does neither goes on. */
  async function staleIndex(): Promise<void> {
    await warpTo(world, (await timeOf(world)) + 400)
    state = await read()
    for (let i = 0; i < 6; i += 1) {
      const one = await randomCall({ world, cast, next, state })
      if (one !== undefined) await tryCall(one)
    }
    await publish(index)
    state = await read()
  }

  /** The hour before an expiry, with jumps in it; then settlement and the next series, which overlaps with the other. */
  async function expire(): Promise<void> {
    const ending = state.series.filter(({ settlementPrice }) => settlementPrice === 0n)
    const subId = ending.map((one) => one.subId).reduce((a, b) => (a < b ? a : b))
    const expiry = Number(subId)
    for (let at = expiry - FIXING_SEC; at < expiry; at += 250) {
      if ((await timeOf(world)) >= at) continue
      await warpTo(world, at)
      await publish(index)
      state = await read()
      if (next(4) === 0) await moveIndex(nextPrice())
      await attempt(callOf(world, KEEPER, 'asset', 'recordIndex', subId))
      const one = await randomCall({ world, cast, next, state })
      if (one !== undefined) await tryCall(one)
    }
    await warpTo(world, Math.max(expiry, await timeOf(world)) + 1)
    const fixing = await ask<Fixing>(world, 'asset', 'fixing', subId)
    // So many calls may have come between two samples that the fixing is not complete.
    if (!fixing[4]) await warpTo(world, Math.max(expiry + DAY, await timeOf(world)) + 1)
    await publish(index)
    state = await read()
    const mark = state.series.find((one) => one.subId === subId)?.mark ?? 0n
    const fallback = fixing[2] === 0n ? mark : fixing[1] / fixing[2]
    await move(
      'settlement',
      async () => {
        if (fixing[4]) await act(world, KEEPER, 'asset', 'settle', subId)
        else await act(world, world.at.deployer, 'asset', 'setFallbackPrice', subId, fallback)
      },
      () => Promise.resolve(state.series.find((one) => one.subId === subId)?.settlementPrice ?? 0n),
    )
    await openSeries((7 + next(10)) * 24 * HOUR)
    state = await read()
  }

  it(`leave others no loss beyond the jump less maintenance margin, in ${CALLS} calls (seed ${SEED}, FUT-049)`, async () => {
    let isInsured = true
    let published = 0
    while (calls < CALLS) {
      if (calls - published > REFRESH_SEC / 4) {
        await publish(index)
        published = calls
      }
      if (next(25) === 0) await moveIndex(nextPrice())
      if (next(60) === 0) await moveMark()
      if (next(120) === 0) await staleIndex()
      if (next(300) === 0) await expire()
      if (isInsured && calls > CALLS / 2) {
        await act(world, world.at.deployer, 'manager', 'setInsuranceAccount', 0n)
        isInsured = false
      }
      const one = await randomCall({ world, cast, next, state })
      if (one !== undefined) await tryCall(one)
    }
    await rescueAll()
    const counts = JSON.stringify(Object.fromEntries(done))
    process.stdout.write(`${counts}\n`)
    const missing = CALLS < 2_000 ? [] : COVERED.filter((name) => !done.has(name))
    expect(missing, `what the run lacks, of ${counts}`).to.deep.equal([])
  })

  const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
  const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n)
})
