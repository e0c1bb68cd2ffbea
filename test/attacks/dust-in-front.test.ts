import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { quoteE18 } from '../../core/money.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { openWorld, type World } from '../support/devnet-world.js'
import { eventually, onThisMachine } from '../support/eventually.js'
import {
  removeDir,
  startExecutor,
  executeBody,
  type RunningExecutor,
} from '../support/executor-world.js'

/** As in the attack: a sweep of so many asks of 0.000001 cNGN. */
const DUST = 430
const DUST_AMOUNT = 10n ** 12n
/** The size of a block of the target chain when it is small: the dust fills many of them. */
const BLOCK_GAS = 30_000_000n
/** As long without a new transaction the executor waits for the chain. */
const QUIET_MS = 500
/** A match costs five hundredths of a USDC at a gwei, and 65 USDC bring in sixteen. */
const GAS_TOKEN_USDC = quoteE18(100n * ONE)

describe('dust in front of an honest trade', function () {
  let world: World
  let executor: RunningExecutor
  const received = new Set<string>()
  const simulated = new Set<string>()

  before(async () => {
    world = await openWorld()
    await world.client.setBlockGasLimit({ gasLimit: BLOCK_GAS })
    // It is seen by the newest block.
    await world.client.mine({ blocks: 1 })
    await world.client.setAutomine(false)
    executor = await startExecutor(world, {
      gasTokenPrice: GAS_TOKEN_USDC,
      timeoutMs: 120_000,
      facts: {
        settlementReceived: ({ settlementId }) => void received.add(settlementId),
        simulated: (settlementId) => void simulated.add(settlementId),
      },
    })
  })
  after(async () => {
    await world.client.setAutomine(true)
    await executor.stop()
    await removeDir(executor.dataDir)
    await world.anvil.stop()
  })

  /** Until the executor has sent all that it sends before the next block. */
  async function quiet(): Promise<void> {
    let seen = -1
    while (seen !== executor.journaled.length) {
      seen = executor.journaled.length
      await delay(onThisMachine(QUIET_MS))
    }
  }

  async function bodyOf(amount: bigint): Promise<object> {
    const terms = { desiredAmount: amount }
    const taker = await signOrder(world, amount === DUST_AMOUNT ? world.alice : world.carol, {
      isBid: true,
      ...terms,
    })
    const maker = await signOrder(world, world.bob, { isBid: false, ...terms })
    return executeBody({ taker, makers: [maker] })
  }

  it(`of ${DUST} settlements delays one of the same maker by a few blocks`, async () => {
    const dust: object[] = []
    for (let i = 0; i < DUST; i += 1) dust.push(await bodyOf(DUST_AMOUNT))
    const honest = await bodyOf(100_000n * ONE)
    const settled: string[] = []
    const post = async (name: string, body: object) => {
      const { body: answer } = await executor.post(body, name)
      settled.push(`${name} ${String(answer.receipt_status)}`)
    }
    const all = dust.map((one, i) => post(`dust:${i}`, one))
    await eventually(() => received.size === DUST)
    await quiet()
    all.push(post('honest', honest))
    await eventually(() => simulated.has('honest'))
    await quiet()
    let blocks = 0
    let honestAfter: number | undefined
    while (settled.length < all.length && blocks < 60) {
      await world.client.mine({ blocks: 1 })
      blocks += 1
      await quiet()
      if (settled.includes('honest success')) honestAfter ??= blocks
    }
    await Promise.all(all)
    expect(new Set(settled.map((one) => one.split(' ')[1]))).to.deep.equal(new Set(['success']))
    expect(honestAfter).to.be.at.most(4)
    expect(blocks).to.be.at.least(8)
  })
})
