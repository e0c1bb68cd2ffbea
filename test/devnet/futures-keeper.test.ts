import { expect } from 'chai'
import { E18 } from '../../core/money.js'
import { ONE } from '../support/devnet-actions.js'
import { FEEDER_KEY, type Trader } from '../support/devnet-world.js'
import { createFuturesUpkeep, type FuturesUpkeep } from '../support/futures-upkeep.js'
import {
  act,
  ask,
  HOUR,
  INDEX,
  openFuturesWorld,
  openTraders,
  positionOf,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../support/futures-world.js'

type Series = readonly [bigint, bigint, bigint, bigint, number]

describe('the life of a series that is kept', function () {
  let world: FuturesWorld
  let keeper: FuturesUpkeep
  let long: Trader
  let short: Trader

  before(async () => {
    world = await openFuturesWorld()
    const funds = { usdc: 1_000n * ONE, cngn: 1_000_000n * ONE }
    const [a, b] = await openTraders(world, [11, 12], funds)
    if (a === undefined || b === undefined) throw new Error('no traders')
    ;[long, short] = [a, b]
    await setIndex(world, INDEX)
    await settleFill(world, { taker: long, maker: short, amount: 2n * ONE, price: INDEX })
    const { rpcUrl } = world.anvil
    keeper = createFuturesUpkeep({ rpcUrl, at: world.at, feederKey: FEEDER_KEY })
  })
  after(() => world.anvil.stop())

  const series = () => ask<Series>(world, 'asset', 'series', world.subId)
  /** USDC per cNGN at so many cNGN per USDC; the keeper inverts it back. */
  const keepAt = (cngnPerUsdc: bigint) => keeper.keep((E18 + cngnPerUsdc / 2n) / cngnPerUsdc)

  it('publishes the index and moves the mark towards it, by 5 % an hour', async () => {
    await warpTo(world, (await timeOf(world)) + HOUR)
    await keepAt(1_600n)
    const [index] = await ask<readonly bigint[]>(world, 'asset', 'band', world.subId)
    expect(index).to.equal(1_600n * ONE)
    expect((await series())[1]).to.equal(1_575n * ONE)
    await warpTo(world, (await timeOf(world)) + 60)
    await keepAt(1_610n)
    expect((await series())[1]).to.equal(1_575n * ONE)
    await warpTo(world, (await timeOf(world)) + HOUR)
    await keepAt(1_600n)
    expect((await series())[1]).to.equal(1_600n * ONE)
  })

  it('keeps every series, whatever becomes of another', async () => {
    const snapshot = await world.client.snapshot()
    const dueSec = Number(world.subId) - HOUR / 2
    const next = world.subId + 86_400n
    await warpTo(world, dueSec - HOUR - 60)
    await setIndex(world, 1_600n * ONE)
    await act(world, world.at.deployer, 'asset', 'createSeries', next)
    await world.client.setNextBlockTimestamp({ timestamp: BigInt(dueSec) })
    await setIndex(world, 1_610n * ONE, dueSec)
    // From here on no time passes: the first series has the newest sample already, and refuses the keeper's.
    await world.client.setBlockTimestampInterval({ interval: 0 })
    await act(world, long.address, 'asset', 'recordIndex', world.subId)
    await keepAt(1_610n)
    const [, mark] = await ask<Series>(world, 'asset', 'series', next)
    expect(mark).to.not.equal(1_600n * ONE)
    await world.client.removeBlockTimestampInterval()
    await world.client.revert({ id: snapshot })
  })

  it('records the last hour, settles, closes all positions and retires the series', async () => {
    const expiry = Number(world.subId)
    for (let at = expiry - HOUR - 100; at < expiry; at += 250) {
      await warpTo(world, at)
      await keepAt(1_600n)
    }
    await warpTo(world, expiry + 60)
    await keepAt(1_700n)
    expect((await series())[3]).to.equal(1_600n * ONE)
    await warpTo(world, expiry + 120)
    await keepAt(1_700n)
    for (const { subaccountId } of [long, short])
      expect(await positionOf(world, subaccountId)).to.equal(0n)
    expect(await ask<bigint[]>(world, 'asset', 'openSeries')).to.not.include(world.subId)
  })
})
