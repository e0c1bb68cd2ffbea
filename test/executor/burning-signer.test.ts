import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { matchingAbi } from '../../chain/abi/contracts.js'
import { readBatchLogs } from '../../chain/contracts/simulate.js'
import type { Address, Hex } from '../../core/action.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { openWorld, perform, type Trader, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  type Answer,
  type RunningExecutor,
} from '../support/executor-world.js'

/**
 * Says yes to every signature while it has more than two million gas, as in any simulation, and burns all that it gets below
 * that, as in a transaction.
 */
const BURNS_IN_A_TRANSACTION: Hex = `0x621e84805a11600a57fe5b631626ba7e60e01b60005260206000f3`
const BURNERS: readonly Address[] = ['b1', 'b2', 'b3'].map(
  (byte) => `0x${byte.repeat(20)}` as const,
)
const PLAIN = 12

describe('signers that burn the gas of their matches', function () {
  let world: World
  let executor: RunningExecutor

  before(async () => {
    world = await openWorld()
    for (const signer of BURNERS) {
      await world.client.setCode({ address: signer, bytecode: BURNS_IN_A_TRANSACTION })
      const args = [signer, 4_000_000_000n] as const
      const data = encodeFunctionData({
        abi: matchingAbi,
        functionName: 'registerSessionKey',
        args,
      })
      await perform(world, { from: world.carol.address, to: world.at.matching, data })
    }
  })
  beforeEach(async () => {
    executor = await startExecutor(world, { windowMs: 500 })
    await world.client.setAutomine(false)
  })
  afterEach(async () => {
    await world.client.setAutomine(true)
    await executor.stop()
    await removeDir(executor.dataDir)
  })
  after(() => world.anvil.stop())

  const small = { desiredAmount: 100n * ONE }
  async function bodyOf(taker: Trader, maker: Trader, signer?: Address): Promise<object> {
    const by = signer === undefined ? {} : { signer }
    return executeBody({
      taker: await signOrder(world, taker, { isBid: true, ...small }),
      makers: [await signOrder(world, maker, { isBid: false, ...small }, by)],
    })
  }

  /** Settles so many matches of plain keys with those of burners at these places, all of them in one block. */
  async function settle(places: readonly number[], transactions: number) {
    const bodies: object[] = []
    let burning = 0
    for (let i = 0; i < PLAIN + places.length; i += 1) {
      const signer = places.includes(i) ? BURNERS[burning++] : undefined
      bodies.push(await bodyOf(world.alice, signer === undefined ? world.bob : world.carol, signer))
    }
    const posting = Promise.all(bodies.map((body, i) => executor.post(body, `m:${i}`)))
    await eventually(async () => {
      const { pending } = await world.client.getTxpoolStatus()
      return pending === transactions
    })
    await world.client.mine({ blocks: 1 })
    return posting
  }

  const gasOf = async ({ body }: Answer): Promise<bigint> => {
    const { logs, gasUsed } = await world.client.getTransactionReceipt({
      hash: body.tx_hash as Hex,
    })
    const outcomes = readBatchLogs(logs, world.at.batch_executor)
    expect(outcomes).to.have.length(1)
    return gasUsed
  }

  const rows = [
    [[0], 2],
    [[6], 3],
    [[PLAIN], 2],
    [[0, 1, 2], 4],
  ] as const satisfies readonly (readonly [readonly number[], number])[]
  for (const [at, transactions] of rows) {
    const places: readonly number[] = at
    it(`burn only their own, at place ${places.join(', ')} of a group, and all others are settled in the block (COD-018)`, async () => {
      const answers = await settle(places, transactions)
      const statuses = answers.map(({ body }) => body.receipt_status)
      const expected = statuses.map((_, i) => (places.includes(i) ? 'reverted' : 'success'))
      expect(statuses).to.deep.equal(expected)
      const [first] = answers
      expect(answers.every(({ body }) => body.block_number === first?.body.block_number)).to.equal(
        true,
      )
      for (const place of places) {
        const burned = await gasOf(answers[place] as Answer)
        expect(Number(burned)).to.be.lessThan(900_000)
        process.stdout.write(`      burned at place ${place}: ${burned} gas\n`)
      }
    })
  }
})
