import { expect } from 'chai'
import { readAnswer } from '../../actors/matcher/ask-executor.js'
import type { Address } from '../../core/action.js'
import { auctionCall } from '../support/auction-calls.js'
import { ONE } from '../support/devnet-actions.js'
import { openWorld, perform, type Trader, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  temporaryDir,
  type Answer,
  type RunningExecutor,
} from '../support/executor-world.js'
import {
  administerPerp,
  cashOf,
  e18,
  openPerpAccount,
  positionOf,
  setPrices,
  signPerpOrder,
  stopTheClock,
} from '../support/perp-world.js'

interface Terms {
  readonly taker: Trader
  readonly maker: Trader
  readonly takerBuys: boolean
  /** Contracts, whole. */
  readonly size: number
  readonly price?: string
}

/** Mark and index are 0.00065, initial margin is a tenth, the taker's fee 25 bps; facts change only when a test says so. */
describe('executor settling a perpetual', function () {
  let world: World
  let executor: RunningExecutor
  let deferred: string[]
  let deep: Trader
  let dataDir: string

  before(async function () {
    world = await openWorld()
    await stopTheClock(world)
    deep = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    deferred = []
    dataDir = await temporaryDir()
    executor = await open()
  })
  const open = () =>
    startExecutor(world, {
      dataDir,
      timeoutMs: 60_000,
      facts: {
        deferred: (settlementId: string) => void deferred.push(settlementId),
      },
    })

  after(async () => {
    await executor.stop()
    await removeDir(executor.dataDir)
    await world.anvil.stop()
  })
  afterEach(() => world.client.setAutomine(true))

  const withCash = (trader: Trader, cash: number, cngn = 0) =>
    openPerpAccount(world, trader, { cash, cngn })

  async function bodyOf({ taker, maker, takerBuys, size, price = '0.00065' }: Terms) {
    const trade = { size, price: e18(price) }
    return executeBody({
      market: 'cNGN-PERP',
      taker: await signPerpOrder(world, taker, takerBuys, trade),
      makers: [await signPerpOrder(world, maker, !takerBuys, trade)],
    })
  }

  const settle = async (terms: Terms, key?: string) => executor.post(await bodyOf(terms), key)

  async function mineUntil<T>(answer: Promise<T>): Promise<T> {
    let isDone = false
    const done = answer.finally(() => (isDone = true))
    await eventually(async () => {
      if (!isDone) await world.client.mine({ blocks: 1 })
      return isDone
    })
    return done
  }

  const pending = async () => (await world.client.getTxpoolStatus()).pending

  const outcomesOf = (answers: readonly Answer[]): string[] => {
    const told = answers.map(({ status, body }) => [status, body.receipt_status, body.revert])
    return [...new Set(told.map((parts) => parts.filter(Boolean).join(' ')))]
  }

  it('moves positions, the fee in cash, and the difference to the mark', async () => {
    const taker = await withCash(world.alice, 100)
    const cash = await cashOf(world, deep)
    const answer = await settle({
      taker,
      maker: deep,
      takerBuys: true,
      size: 10_000,
      price: '0.0007',
    })
    expect(answer.body).to.include({ receipt_status: 'success' })
    expect(await positionOf(world, taker)).to.equal(10_000n * ONE)
    // 0.5 to the maker beside the fee of 25 bps of 7.
    expect(await cashOf(world, taker)).to.equal(e18('99.4825'))
    expect((await cashOf(world, deep)) - cash).to.equal(e18('0.5'))
  })

  it('settles profit before it judges the cash of a match', async () => {
    const taker = await withCash(world.alice, 8)
    const trade = { taker, maker: deep, takerBuys: true, size: 100_000 }
    await settle(trade)
    await setPrices(world, { index: '0.001' })
    // 7.8375 in cash and 35 of profit pay for a second purchase far above the mark.
    const answer = await settle({ ...trade, size: 10_000, price: '0.002' })
    await setPrices(world, { index: '0.00065' })
    expect(answer.body).to.include({ receipt_status: 'success' })
    expect(await cashOf(world, taker)).to.equal(e18('32.7875'))
  })

  describe('that the chain refuses', () => {
    const size = 100_000
    /** What the matcher reads from the answer. */
    async function blame(terms: Terms) {
      const { status, body } = await settle(terms)
      expect(status).to.equal(422)
      const answer = readAnswer(status, body)
      return answer.kind === 'reverted' ? [answer.revert, answer.guilty] : answer
    }
    /** The blame on each side in turn, buying and selling. */
    async function blameOnEach(
      poor: Trader,
      terms: Pick<Terms, 'size'>,
      worse: string,
      better: string,
    ) {
      const found = []
      for (const buys of [true, false]) {
        const price = buys ? worse : better
        found.push(await blame({ ...terms, taker: poor, maker: deep, takerBuys: buys, price }))
        found.push(await blame({ ...terms, taker: deep, maker: poor, takerBuys: !buys, price }))
      }
      return found
    }
    const SIDES = ['taker', 'maker', 'taker', 'maker']

    it('blames the side without margin', async () => {
      const poor = await withCash(world.alice, 6)
      expect(await blameOnEach(poor, { size }, '0.00065', '0.00065')).to.deep.equal(
        SIDES.map((side) => ['SRM_PortfolioBelowMargin', side]),
      )
      const other = await withCash(world.carol, 6)
      expect(await blame({ taker: poor, maker: other, takerBuys: true, size })).to.deep.equal([
        ...['SRM_PortfolioBelowMargin', 'both'],
      ])
    })

    it('blames the side without the cash that it pays, whatever its margin', async () => {
      const poor = await withCash(world.alice, 1, 200_000)
      expect(await blameOnEach(poor, { size }, '0.0007', '0.0006')).to.deep.equal(
        SIDES.map((side) => ['SRM_NoNegativeCash', side]),
      )
    })

    it('blames the side that pays to reduce below its margin, and takes one that pays nothing', async () => {
      const poor = await withCash(world.alice, 7)
      await settle({ taker: poor, maker: deep, takerBuys: true, size })
      await setPrices(world, { index: '0.00062' })
      const reduce = { taker: poor, maker: deep, takerBuys: false, size: 1_000, price: '0.00062' }
      const found = await blame(reduce)
      const free = await settle({ ...reduce, taker: deep, maker: poor, takerBuys: true })
      await setPrices(world, { index: '0.00065' })
      expect(found).to.deep.equal(['SRM_PortfolioBelowMargin', 'taker'])
      expect(free.body).to.include({ receipt_status: 'success' })
    })

    it('blames the side whose account is auctioned', async () => {
      const poor = await withCash(world.alice, 7)
      await settle({ taker: poor, maker: deep, takerBuys: true, size })
      await setPrices(world, { index: '0.00059' })
      const auction = auctionCall(world, 'startAuction', poor)
      await perform(world, { ...auction, from: world.at.deployer })
      const terms = { taker: poor, maker: deep, takerBuys: false, size: 1_000 }
      const found = [
        await blame(terms),
        await blame({ ...terms, taker: deep, maker: poor, takerBuys: true }),
      ]
      await setPrices(world, { index: '0.00065' })
      expect(found).to.deep.equal(
        ['taker', 'maker'].map((side) => ['BM_AccountUnderLiquidation', side]),
      )
    })

    const faults: readonly [
      revert: string,
      of: keyof World['at'],
      set: (world: World) => readonly [string, ...unknown[]],
      unset: (world: World) => readonly [string, ...unknown[]],
    ][] = [
      [
        'BM_AdjustmentsPaused',
        'perp_manager',
        () => ['setAdjustmentsPaused', true],
        () => ['setAdjustmentsPaused', false],
      ],
      [
        'BM_AssetCapExceeded',
        'perp_asset',
        ({ at }) => ['setTotalPositionCap', at.perp_manager, 1n],
        ({ at }) => ['setTotalPositionCap', at.perp_manager, 10n ** 30n],
      ],
      [
        'BLF_DataTooOld',
        'impact_ask_feed',
        () => ['setHeartbeat', 0n],
        () => ['setHeartbeat', 10n ** 9n],
      ],
    ]
    for (const [revert, of, set, unset] of faults) {
      it(`blames the venue for ${revert}`, async () => {
        const taker = await withCash(world.alice, 100)
        const terms = { taker, maker: deep, takerBuys: true, size: 1_000 }
        const to = world.at[of] as Address
        const { timestamp } = await world.client.getBlock()
        // Older prices, for the feed whose heartbeat ends.
        await world.client.setNextBlockTimestamp({ timestamp: timestamp + 60n })
        await administerPerp(world, to, ...set(world))
        const found = await blame(terms)
        await administerPerp(world, to, ...unset(world))
        expect(found).to.deep.equal([revert, 'venue'])
        expect((await settle(terms)).body).to.include({ receipt_status: 'success' })
      })
    }

    it('blames the venue for impact prices that are crossed', async () => {
      const taker = await withCash(world.alice, 100)
      const terms = { taker, maker: deep, takerBuys: true, size: 1_000 }
      await setPrices(world, { index: '0.00065', bid: '0.00066', ask: '0.00064' })
      const found = await blame(terms)
      await setPrices(world, { index: '0.00065' })
      expect(found).to.deep.equal(['PA_InvalidImpactPrices', 'venue'])
      expect((await settle(terms)).body).to.include({ receipt_status: 'success' })
    })
  })

  describe('with one account in many matches', () => {
    const TAKERS = 20

    it('sends the matches of one maker together, as far as its margin carries them', async () => {
      // Each match takes 0.65 of margin, and the maker has cash for all of them.
      const maker = await withCash(world.carol, 14)
      const taker = await withCash(world.alice, 1_000)
      const bodies: ReturnType<typeof executeBody>[] = []
      for (let i = 0; i < TAKERS; i += 1)
        bodies.push(await bodyOf({ taker, maker, takerBuys: true, size: 10_000 }))
      await world.client.setAutomine(false)
      deferred.length = 0
      const sent: Promise<Answer>[] = []
      const sendTo = async (count: number) => {
        const transactions = await pending()
        for (const body of bodies.slice(sent.length, count))
          sent.push(executor.post(body, `one:${sent.length}`))
        await eventually(async () => (await pending()) > transactions)
      }
      await sendTo(TAKERS / 2)
      // These meet the others in flight.
      await sendTo(TAKERS)
      const answers = await mineUntil(Promise.all(sent))
      expect(outcomesOf(answers)).to.deep.equal(['200 success'])
      expect(deferred).to.deep.equal([])
      expect(await positionOf(world, maker)).to.equal(-200_000n * ONE)
    })

    it('knows what is in flight after it was started again', async () => {
      const maker = await withCash(world.carol, 10)
      const taker = await withCash(world.alice, 100)
      // Each takes 6.5 of margin.
      const terms = { taker, maker, takerBuys: true, size: 100_000 }
      await world.client.setAutomine(false)
      deferred.length = 0
      const first = settle(terms, 'again:1')
      await eventually(async () => (await pending()) === 1)
      await executor.stop()
      await first
      executor = await open()
      const second = settle(terms, 'again:2')
      await eventually(() => deferred.includes('again:2'))
      expect(await pending()).to.equal(1)
      const { status, body } = await mineUntil(second)
      expect(status).to.equal(422)
      expect(body).to.include({ revert: 'SRM_PortfolioBelowMargin', guilty: 'maker' })
      expect(await positionOf(world, maker)).to.equal(-100_000n * ONE)
    })

    it('never has the chain refuse what it could have known', async () => {
      let seed = 11
      const random = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
        // The low bits of such a sequence repeat.
        return (seed >>> 12) % below
      }
      const seen = new Set<string>()
      for (let round = 0; round < 4; round += 1) {
        // Cash is short where prices are far from the mark, and margin where sizes are large.
        const isFar = round % 2 === 0
        const [spread, thousands] = isFar ? [50, 40] : [2, 150]
        const poor = await (isFar
          ? withCash(world.alice, 1, 100_000)
          : withCash(world.alice, 6 + 3 * round))
        const terms = Array.from({ length: 24 }, (): Terms => {
          const isTaker = random(2) === 0
          const price = `0.000${650 - spread + random(2 * spread + 1)}`
          const takerBuys = random(2) === 0
          const size = 1_000 * (1 + random(thousands))
          const [taker, maker] = isTaker ? [poor, deep] : [deep, poor]
          return { taker, maker, takerBuys, size, price }
        })
        const bodies = await Promise.all(terms.map(bodyOf))
        await world.client.setAutomine(false)
        const posting = bodies.map((body, i) => executor.post(body, `r${round}:${i}`))
        for (const outcome of outcomesOf(await mineUntil(Promise.all(posting)))) seen.add(outcome)
        await world.client.setAutomine(true)
      }
      expect([...seen].sort()).to.deep.equal([
        '200 success',
        '422 SRM_NoNegativeCash',
        '422 SRM_PortfolioBelowMargin',
      ])
    })
  })
})
