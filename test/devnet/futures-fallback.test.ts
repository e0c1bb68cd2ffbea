import { expect } from 'chai'
import { revertName } from '../../chain/abi/errors.js'
import type { Address } from '../../core/action.js'
import { ONE } from '../support/devnet-actions.js'
import { balanceOf, revertOf, type Trader } from '../support/devnet-world.js'
import {
  act,
  ask,
  callOf,
  DAY,
  HOUR,
  KEEPER,
  openDatedWorld,
  openTraders,
  positionOf,
  type FuturesContract,
  type FuturesWorld,
} from '../support/futures-world.js'
import { seriesRow } from '../support/series-rows.js'
import { openSeriesVenue, type SeriesVenue } from '../support/series-venue.js'

const EXPIRY_SEC = Date.UTC(2026, 10, 30, 14) / 1_000
const MARKET = 'USDC-cNGN-30NOV26'
const FUNDS = { usdc: 1_000n * ONE, cngn: 1_000_000n * ONE }
/** USDC per cNGN: a little above 1,538 cNGN per USDC, and 1,562.5. */
const [AT_1538, AT_1562] = [650_000_000_000_000n, 640_000_000_000_000n] as const

describe('a series whose fixing is incomplete', function () {
  let world: FuturesWorld
  let venue: SeriesVenue
  let long: Trader
  let short: Trader
  /** The index at each sample, and its time before expiry. */
  const samples: { price: bigint; leftSec: number }[] = []

  before(async () => {
    world = await openDatedWorld(EXPIRY_SEC - 3 * HOUR)
    const [a, b] = await openTraders(world, [11, 12], FUNDS)
    if (a === undefined || b === undefined) throw new Error('no traders')
    ;[long, short] = [a, b]
    venue = await openSeriesVenue(world, [seriesRow(MARKET, 2, world.subId)])
  })
  after(async () => {
    await venue.close()
    await world.anvil.stop()
  })

  const at = (leftSec: number): number => EXPIRY_SEC - leftSec
  const refusalOf = async (
    from: Address,
    role: FuturesContract,
    ...call: [string, ...unknown[]]
  ) => {
    const data = await revertOf(world, callOf(world, from, role, ...call))
    return data === 'none' ? 'success' : revertName(data)
  }
  const fallback = (price: bigint, from = world.at.deployer) =>
    refusalOf(from, 'asset', 'setFallbackPrice', world.subId, price)
  const ids = () => [long, short].map(({ subaccountId }) => subaccountId)
  const cngnOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_cngn)

  it('trades until the last trade time', async () => {
    await venue.pass(at(2 * HOUR), AT_1538)
    const terms = { market: MARKET, amount: '3000', price: '1538' }
    const sides = [
      { ...terms, orderId: 'short', side: 'sell', key: 12, subaccountId: short.subaccountId },
      { ...terms, orderId: 'long', side: 'buy', key: 11, subaccountId: long.subaccountId },
    ] as const
    for (const side of sides) expect(await venue.place(side)).to.equal(undefined)
    expect(await venue.shown('long')).to.include({ status: 'filled' })
    expect(await positionOf(world, long.subaccountId)).to.equal(3n * ONE)
  })

  it('is not settled while a part of the last hour has no sample (FUT-035)', async () => {
    for (const [leftSec, price] of [
      [HOUR, AT_1538],
      [HOUR - 300, AT_1562],
      [HOUR - 600, AT_1538],
      // The keeper is down for 45 minutes.
      [300, AT_1562],
    ] as const) {
      await venue.pass(at(leftSec), price)
      const [index = 0n] = await ask<readonly bigint[]>(world, 'asset', 'band', world.subId)
      samples.push({ price: index, leftSec })
    }
    await venue.pass(at(-60), AT_1538)
    await venue.pass(at(-120), AT_1538)
    expect((await ask<readonly unknown[]>(world, 'asset', 'fixing', world.subId))[4]).to.equal(
      false,
    )
    expect(await refusalOf(KEEPER, 'asset', 'settle', world.subId)).to.equal('FA_FixingIncomplete')
    expect(await refusalOf(KEEPER, 'manager', 'closeOut', world.subId, ids())).to.equal(
      'FM_NotSettled',
    )
    expect(await positionOf(world, long.subaccountId)).to.equal(3n * ONE)
    const [entry] = await venue.listed()
    expect(entry).to.include({ market: MARKET, trading_status_reason: 'trading_ended' })
  })

  it('is settled by its owner a day later, within 2 % of the samples’ average (FUT-036)', async () => {
    const priceSeconds = samples.reduce((sum, { price, leftSec }, i) => {
      return sum + price * BigInt(leftSec - (samples[i + 1]?.leftSec ?? 0))
    }, 0n)
    const average = priceSeconds / 3_600n
    const highest = average + average / 50n
    const lowest = average - average / 50n
    await venue.pass(at(-DAY) - 60, AT_1538)
    expect(await fallback(average)).to.equal('FA_TooEarly')
    await venue.pass(at(-DAY), AT_1538)
    expect(await fallback(average, KEEPER)).to.equal('OwnableUnauthorizedAccount')
    for (const price of [highest + 1n, lowest - 1n])
      expect(await fallback(price)).to.equal('FA_FallbackOutOfRange')
    for (const price of [average, highest, lowest])
      expect(await fallback(price)).to.equal('success')

    await act(world, world.at.deployer, 'asset', 'setFallbackPrice', world.subId, lowest)
    await venue.pass(at(-DAY - 60), AT_1538)
    for (const id of ids()) expect(await positionOf(world, id)).to.equal(0n)
    await act(world, KEEPER, 'manager', 'settleVariation', ids())
    const gain = 3_000n * (lowest - 1_538n * ONE)
    expect(await cngnOf(long)).to.equal(FUNDS.cngn + gain)
    expect(await cngnOf(short)).to.equal(FUNDS.cngn - gain)
    expect(await ask<bigint>(world, 'manager', 'pool')).to.equal(0n)
  })

  it('leaves the list as any other', async () => {
    await venue.operate(`disable ${MARKET}`)
    expect(await venue.listed()).to.deep.equal([])
    expect((await venue.get(`/v1/trades?symbol=${MARKET}`)).json.trades).to.have.length(1)
  })
})
