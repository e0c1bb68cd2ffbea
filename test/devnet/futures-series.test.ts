import { expect } from 'chai'
import type { Address, Hex } from '../../core/action.js'
import { ONE } from '../support/devnet-actions.js'
import { revertOf, type Call } from '../support/devnet-world.js'
import { revertName } from '../../chain/abi/errors.js'
import {
  act,
  ask,
  callOf,
  DAY,
  HOUR,
  INDEX,
  KEEPER,
  openFuturesWorld,
  setIndex,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../support/futures-world.js'
import { BAND_ROWS, FIXING_ROWS, MARK_ROWS, wei } from '../support/future-vectors.js'

type Band = readonly [bigint, bigint, bigint, bigint, number]
type Fixing = readonly [bigint, bigint, bigint, bigint, boolean]
type Series = readonly [bigint, bigint, bigint, bigint, number]

describe('the series of the future asset', () => {
  let world: FuturesWorld
  let snapshot: Hex
  let expiry: number

  before(async () => {
    world = await openFuturesWorld()
    expiry = Number(world.subId)
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  const nameOf = async (call: Call): Promise<string> => {
    const data = await revertOf(world, call)
    return data === 'none' ? 'success' : revertName(data)
  }
  const band = () => ask<Band>(world, 'asset', 'band', world.subId)
  const fixing = () => ask<Fixing>(world, 'asset', 'fixing', world.subId)
  const mark = (price: bigint, from = KEEPER) =>
    callOf(world, from, 'asset', 'updateMark', world.subId, price)

  const settle = () => callOf(world, world.alice.address, 'asset', 'settle', world.subId)
  const fallback = (price: bigint, from = world.at.deployer) =>
    callOf(world, from, 'asset', 'setFallbackPrice', world.subId, price)

  /** Gives the index this price in a block of this time. */
  async function indexAt(timeSec: number, price = INDEX): Promise<void> {
    await world.client.setNextBlockTimestamp({ timestamp: BigInt(timeSec) })
    await setIndex(world, price, timeSec)
  }

  async function sampleAt(timeSec: number, price: bigint): Promise<void> {
    await indexAt(timeSec, price)
    await act(world, world.alice.address, 'asset', 'recordIndex', world.subId)
  }

  it('opens with the index as the mark, an hour of no trading before expiry (FUT-003)', async () => {
    const [lastTrade, price, , settlement, state] = await ask<Series>(
      world,
      'asset',
      'series',
      world.subId,
    )
    expect(lastTrade).to.equal(world.subId - 3_600n)
    expect([price, settlement, state]).to.deep.equal([INDEX, 0n, 1])
    expect(await ask<Series>(world, 'asset', 'series', 5n)).to.deep.equal([0n, 0n, 0n, 0n, 0])
  })

  describe('the band', () => {
    for (const { leftSec, index, width, low, high } of BAND_ROWS) {
      it(`${leftSec} seconds before expiry at ${index} is ${low} to ${high} (FUT-011)`, async () => {
        await indexAt(expiry - leftSec, wei(index))
        const expected = [index, width, low, high].map(wei)
        expect(await band()).to.deep.equal([...expected, 0])
      })
    }

    it('states that the index is stale, and that a series is unknown, without reverting', async () => {
      const now = await timeOf(world)
      await setIndex(world, INDEX, now)
      await warpTo(world, now + 180)
      expect((await band())[4]).to.equal(0)
      await warpTo(world, now + 181)
      expect((await band())[4]).to.equal(1)
      expect(await ask<Band>(world, 'asset', 'band', 7n)).to.deep.equal([0n, 0n, 0n, 0n, 2])
    })
  })

  describe('the mark', () => {
    for (const { name, sinceSec, leftSec = 0, index, next, refusal } of MARK_ROWS) {
      it(`${refusal === undefined ? 'moves' : 'does not move'} ${name}`, async () => {
        const [, , markAt] = await ask<Series>(world, 'asset', 'series', world.subId)
        const atSec = sinceSec === undefined ? expiry - leftSec : Number(markAt) + sinceSec
        await indexAt(atSec, wei(index))
        expect(await nameOf(mark(wei(next)))).to.equal(refusal ?? 'success')
      })
    }

    it('is moved by the keeper only, and then not for an hour (FUT-033)', async () => {
      await indexAt((await timeOf(world)) + HOUR + 10)
      expect(await nameOf(mark(INDEX, world.alice.address))).to.equal('FA_OnlyKeeper')
      await act(world, KEEPER, 'asset', 'updateMark', world.subId, 1_575n * ONE)
      expect(await nameOf(mark(1_575n * ONE))).to.equal('FA_MarkTooSoon')
    })

    it('needs a fresh index and an open series', async () => {
      await warpTo(world, (await timeOf(world)) + 2 * HOUR)
      expect(await nameOf(mark(INDEX))).to.equal('BLF_DataTooOld')
      await indexAt(expiry)
      expect(await nameOf(mark(INDEX))).to.equal('FA_SeriesExpired')
      const unknown = callOf(world, KEEPER, 'asset', 'updateMark', 7n, INDEX)
      expect(await nameOf(unknown)).to.equal('FA_UnknownSeries')
    })
  })

  describe('the fixing', () => {
    for (const row of FIXING_ROWS) {
      it(`of ${row.name} is ${row.fallback === undefined ? row.average : 'incomplete'}`, async () => {
        for (const [leftSec, price] of row.samples) await sampleAt(expiry - leftSec, wei(price))
        await warpTo(world, expiry + 2)
        const sums = [row.priceSeconds, `${row.coveredSec}`, `${row.largestGapSec}`]
        const [priceSeconds = 0n, coveredSec, largestGapSec] = sums.map(BigInt)
        expect((await fixing()).slice(1)).to.deep.equal([
          ...[priceSeconds * ONE, coveredSec, largestGapSec],
          row.fallback === undefined,
        ])
        if (row.fallback === undefined) await settlesAt(wei(row.average ?? ''))
        else await fallsBack(row.fallback.map(wei) as [bigint, bigint])
      })
    }

    async function settlesAt(price: bigint): Promise<void> {
      await act(world, world.alice.address, 'asset', 'settle', world.subId)
      const [, , , settlement, state] = await ask<Series>(world, 'asset', 'series', world.subId)
      expect([settlement, state]).to.deep.equal([price, 3])
      expect(await nameOf(settle())).to.equal('FA_AlreadySettled')
    }

    async function fallsBack([lowest, highest]: readonly [bigint, bigint]): Promise<void> {
      expect(await nameOf(settle())).to.equal('FA_FixingIncomplete')
      await warpTo(world, expiry + DAY - 1)
      expect(await nameOf(fallback(lowest))).to.equal('FA_TooEarly')
      await warpTo(world, expiry + DAY)
      expect(await nameOf(fallback(lowest, KEEPER))).to.equal('OwnableUnauthorizedAccount')
      for (const price of [lowest - 1n, highest + 1n])
        expect(await nameOf(fallback(price))).to.equal('FA_FallbackOutOfRange')
      expect(await nameOf(fallback(lowest))).to.equal('success')
      await act(world, world.at.deployer, 'asset', 'setFallbackPrice', world.subId, highest)
      const [, , , settlement] = await ask<Series>(world, 'asset', 'series', world.subId)
      expect(settlement).to.equal(highest)
    }

    it('takes only newer samples of times up to expiry', async () => {
      await sampleAt(expiry - 10, INDEX)
      const record = callOf(world, world.alice.address, 'asset', 'recordIndex', world.subId)
      expect(await nameOf(record)).to.equal('FA_SampleNotNewer')
      await indexAt(expiry + 1, 1_600n * ONE)
      expect(await nameOf(record)).to.equal('FA_SampleTooLate')
      expect(await nameOf(settle())).to.equal('FA_FixingIncomplete')
    })

    it('is not settled before expiry', async () => {
      await warpTo(world, expiry - 1)
      expect(await nameOf(settle())).to.equal('FA_TooEarly')
    })
  })

  describe('the fallback', () => {
    it('is refused where the fixing is complete (FUT-036)', async () => {
      for (let at = expiry - HOUR; at < expiry; at += 300) await sampleAt(at, INDEX)
      await warpTo(world, expiry + DAY)
      expect(await nameOf(fallback(INDEX))).to.equal('FA_FixingComplete')
    })
  })

  it('takes its index only from what answers as a feed', async () => {
    const { deployer, matching, spot_feed } = world.at
    const set = (feed: Address, from = deployer) =>
      callOf(world, from, 'asset', 'setIndexFeed', feed)
    expect(await nameOf(set(KEEPER))).to.equal('FA_InvalidFeed')
    expect(await revertOf(world, set(matching))).to.equal('0x')
    expect(await nameOf(set(spot_feed, KEEPER))).to.equal('OwnableUnauthorizedAccount')
    expect(await nameOf(set(spot_feed))).to.equal('success')
  })

  it('opens at most sixteen series, and makes room by retiring settled ones without positions', async () => {
    const { length } = await ask<bigint[]>(world, 'asset', 'openSeries')
    for (let i = BigInt(length); i < 16n; i += 1n)
      await act(world, world.at.deployer, 'asset', 'createSeries', world.subId + i)
    const more = callOf(world, world.at.deployer, 'asset', 'createSeries', world.subId + 16n)
    expect(await nameOf(more)).to.equal('FA_TooManySeries')
    const retire = callOf(world, KEEPER, 'asset', 'retireSeries', world.subId)
    expect(await nameOf(retire)).to.equal('FA_TooEarly')
    await warpTo(world, expiry + DAY)
    await act(world, world.at.deployer, 'asset', 'setFallbackPrice', world.subId, INDEX)
    await act(world, KEEPER, 'asset', 'retireSeries', world.subId)
    expect(await ask<bigint[]>(world, 'asset', 'openSeries')).to.have.length(15)
  })

  it('refuses a series that would not trade, and one that exists', async () => {
    const create = (id: number) => callOf(world, world.at.deployer, 'asset', 'createSeries', id)
    expect(await nameOf(create((await timeOf(world)) + HOUR))).to.equal('FA_InvalidExpiry')
    expect(await nameOf(create(expiry))).to.equal('FA_InvalidExpiry')
  })

  it('is opened by the series creator alone, whom the owner names', async () => {
    const { deployer } = world.at
    const create = callOf(world, deployer, 'asset', 'createSeries', expiry + 1)
    expect(await nameOf({ ...create, from: KEEPER })).to.equal('FA_OnlySeriesCreator')
    const name = callOf(world, deployer, 'asset', 'setSeriesCreator', world.alice.address)
    expect(await nameOf({ ...name, from: KEEPER })).to.equal('OwnableUnauthorizedAccount')
    await act(world, deployer, 'asset', 'setSeriesCreator', world.alice.address)
    expect(await nameOf(create)).to.equal('FA_OnlySeriesCreator')
    expect(await nameOf({ ...create, from: world.alice.address })).to.equal('success')
  })
})
