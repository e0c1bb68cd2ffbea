import { expect } from 'chai'
import type { Hex } from '../../core/action.js'
import { ONE, signOrder, type SignedOrder } from '../support/devnet-actions.js'
import { openWorld, type Trader, type World } from '../support/devnet-world.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  temporaryDir,
  type RunningExecutor,
} from '../support/executor-world.js'

/** What settlements cost in gas with the real contracts; docs/FUTURES.md has the numbers that this test prints. */
describe('the gas of settlements', function () {
  let world: World
  let snapshot: Hex
  let executor: RunningExecutor
  let dataDir: string
  /** Gas of a match that is settled by itself. */
  let alone: number

  before(async () => {
    world = await openWorld()
    // The first match of an account writes storage that is empty before; most matches are later ones.
    await settleFirst()
    alone = await gasOfMatch(() => bodies(1, ofOnePair))
  })
  after(() => world.anvil.stop())

  /** A match of each account, which stays. */
  async function settleFirst(): Promise<void> {
    const first = await startExecutor(world, { dataDir: (dataDir = await temporaryDir()) })
    for (const maker of [world.bob, world.carol]) {
      const pair = [await bidOf(world.alice), await askOf(maker)] as const
      await first.post(executeBody({ taker: pair[0], makers: [pair[1]] }))
    }
    await first.stop()
    await removeDir(dataDir)
  }

  /** Settles the bodies at once; they must share one transaction. Rounded down to a unit of gas. */
  async function gasOfMatch(bodiesOf: () => Promise<readonly object[]>): Promise<number> {
    snapshot = await world.client.snapshot()
    dataDir = await temporaryDir()
    executor = await startExecutor(world, { windowMs: 500, dataDir })
    try {
      const sent = await bodiesOf()
      const answers = await Promise.all(sent.map((body, i) => executor.post(body, `m:${i}`)))
      for (const { body } of answers) expect(body).to.include({ receipt_status: 'success' })
      const hashes = [...new Set(answers.map(({ body }) => body.tx_hash as Hex))]
      expect(hashes).to.have.length(1)
      const [hash = '0x'] = hashes
      const { gasUsed } = await world.client.getTransactionReceipt({ hash })
      return Math.floor(Number(gasUsed) / sent.length)
    } finally {
      await executor.stop()
      await removeDir(dataDir)
      await world.client.revert({ id: snapshot })
    }
  }

  type Pair = readonly [taker: SignedOrder, maker: SignedOrder]
  const small = { desiredAmount: 100n * ONE }
  const bidOf = (trader: Trader) => signOrder(world, trader, { isBid: true, ...small })
  const askOf = (trader: Trader) => signOrder(world, trader, { isBid: false, ...small })

  const bodies = async (count: number, pairOf: (i: number) => Promise<Pair>) => {
    const all: object[] = []
    for (let i = 0; i < count; i += 1) {
      const [taker, maker] = await pairOf(i)
      all.push(executeBody({ taker, makers: [maker] }))
    }
    return all
  }
  const ofOnePair = async (): Promise<Pair> => [await bidOf(world.alice), await askOf(world.bob)]

  const say = (what: string, gas: number) => {
    const saved = Math.round((1 - gas / alone) * 100)
    process.stdout.write(`      ${what}: ${gas} gas a match, ${saved} % less than alone\n`)
    return gas
  }

  it('is less for each match of a pair of accounts, the more of them share a transaction', async () => {
    say('alone', alone)
    for (const count of [2, 5, 20]) {
      const gas = say(`${count} of one pair`, await gasOfMatch(() => bodies(count, ofOnePair)))
      expect(gas).to.be.lessThan(0.85 * alone)
    }
  })

  it('is about as much where one side is another account, because a transaction is what is shared', async () => {
    const turns = [world.bob, world.carol]
    const ofTwo = async (i: number): Promise<Pair> => [
      await bidOf(world.alice),
      await askOf(turns[i % 2] ?? world.bob),
    ]
    const one = await gasOfMatch(() => bodies(20, ofOnePair))
    const two = say('20 of one taker and two makers', await gasOfMatch(() => bodies(20, ofTwo)))
    expect(two).to.be.lessThan(1.1 * one)
  })

  it('would be less again with all makers of an order in one action, which settle or fail together', async () => {
    const count = 20
    const joined = await gasOfMatch(async () => {
      const makers: SignedOrder[] = []
      for (let i = 0; i < count; i += 1) makers.push(await askOf(world.bob))
      const whole = { isBid: true, desiredAmount: BigInt(count) * small.desiredAmount }
      return [executeBody({ taker: await signOrder(world, world.alice, whole), makers })]
    })
    say(`${count} makers in one action`, Math.floor(joined / count))
    const apart = await gasOfMatch(async () => {
      const whole = { isBid: true, desiredAmount: BigInt(count) * small.desiredAmount }
      const taker = await signOrder(world, world.alice, whole)
      return bodies(count, async () => [taker, await askOf(world.bob)])
    })
    say(`${count} makers of one order, an action each`, apart)
    expect(joined / count).to.be.lessThan(apart)
  })
})
