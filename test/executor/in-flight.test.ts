import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { erc20Abi, wrappedErc20AssetAbi } from '../../chain/abi/contracts.js'
import type { Hex } from '../../core/action.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { newAccount, openWorld, perform, type Trader, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  temporaryDir,
  type RunningExecutor,
} from '../support/executor-world.js'

/** One more account of the trader, held by Matching, with so many millionths of a USDC in it. */
async function accountWithUsdc(world: World, trader: Trader, amount: bigint): Promise<bigint> {
  const accountId = await newAccount(world, trader)
  if (amount === 0n) return accountId
  const { usdc, wrapped_usdc: asset } = world.at
  const approval = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [asset, amount],
  })
  await perform(world, { from: trader.address, to: usdc, data: approval })
  const deposit = encodeFunctionData({
    abi: wrappedErc20AssetAbi,
    functionName: 'deposit',
    args: [accountId, amount],
  })
  await perform(world, { from: trader.address, to: asset, data: deposit })
  return accountId
}

/** Ten thousand cNGN cost 6.5 USDC, so that an account with ten can pay for one such match and not for two. */
const AMOUNT = 10_000n * ONE
const TEN_USDC = 10_000_000n

/** What is settled depends on what is in flight, which the newest block does not show. */
for (const batches of [true, false]) {
  describe(`executor with settlements in flight, ${batches ? 'in batches' : 'one by one'}`, () => {
    let world: World
    let snapshot: Hex
    let account: bigint
    let deferred: string[]
    let executor: RunningExecutor
    let dataDir: string

    before(async () => {
      world = await openWorld()
    })
    beforeEach(async () => {
      snapshot = await world.client.snapshot()
      account = await accountWithUsdc(world, world.alice, TEN_USDC)
      dataDir = await temporaryDir()
      deferred = []
      await open()
      await world.client.setAutomine(false)
    })
    afterEach(async () => {
      await executor.stop()
      await removeDir(dataDir)
      await world.client.setAutomine(true)
      await world.client.revert({ id: snapshot })
    })
    after(() => world.anvil.stop())

    async function open(): Promise<void> {
      const facts = { deferred: (settlementId: string) => void deferred.push(settlementId) }
      executor = await startExecutor(world, { dataDir, batches, facts, timeoutMs: 15_000 })
    }

    /** The account takes the trader's offer. */
    async function aBody(maker: Trader, takerBuys: boolean, amount = AMOUNT) {
      const own = { subaccountId: account }
      const taker = await signOrder(world, world.alice, { isBid: takerBuys }, own)
      const offer = await signOrder(world, maker, { isBid: !takerBuys })
      return executeBody({ taker, makers: [offer], amount })
    }

    const pending = async () => (await world.client.getTxpoolStatus()).pending

    async function mineUntil<T>(answer: Promise<T>): Promise<T> {
      let isDone = false
      const done = answer.finally(() => (isDone = true))
      await eventually(async () => {
        if (!isDone) await world.client.mine({ blocks: 1 })
        return isDone
      })
      return done
    }

    async function buyInFlight(): Promise<Promise<{ body: Record<string, unknown> }>[]> {
      const buying = executor.post(await aBody(world.bob, true), 'm:1')
      await eventually(async () => (await pending()) === 1)
      return [buying]
    }

    it('settles what only a match in flight pays for', async () => {
      const [buying] = await buyInFlight()
      const selling = executor.post(await aBody(world.carol, false), 'm:2')
      if (batches) await eventually(async () => (await pending()) === 2)
      else await eventually(() => deferred.includes('m:2'))
      const answers = await mineUntil(Promise.all([buying, selling]))
      for (const answer of answers) expect(answer?.body).to.include({ receipt_status: 'success' })
      expect(deferred).to.deep.equal(batches ? [] : ['m:2'])
    })

    it('does not send what a match in flight leaves no money for, and says so once that is mined (SET-072)', async () => {
      const [buying] = await buyInFlight()
      const more = executor.post(await aBody(world.carol, true), 'm:2')
      await eventually(() => deferred.includes('m:2'))
      expect(await pending()).to.equal(1)
      const [bought, refused] = await mineUntil(Promise.all([buying, more]))
      expect(bought?.body).to.include({ receipt_status: 'success' })
      expect(refused).to.deep.include({
        status: 422,
        body: {
          error: 'the match would revert: WERC_CannotBeNegative',
          revert: 'WERC_CannotBeNegative',
          guilty: 'taker',
          code_signers: [],
        },
      })
      expect(executor.journaled).to.have.length(1)
    })

    it('does not wait for what leaves enough', async () => {
      const [buying] = await buyInFlight()
      const more = executor.post(await aBody(world.carol, true, 5_000n * ONE), 'm:2')
      await eventually(async () => (await pending()) === 2)
      expect(deferred).to.deep.equal([])
      const answers = await mineUntil(Promise.all([buying, more]))
      for (const answer of answers) expect(answer?.body).to.include({ receipt_status: 'success' })
    })

    it('never lets the chain refuse for want of money what it could have known', async () => {
      let seed = 7
      const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below
      const terms = Array.from(
        { length: batches ? 30 : 6 },
        () => [random(2) === 0, BigInt(1 + random(9))] as const,
      )
      const bodies = await Promise.all(
        terms.map(([buys, thousands]) => aBody(world.bob, buys, thousands * 1_000n * ONE)),
      )
      const posting = bodies.map((body, i) => executor.post(body, `m:${i}`))
      const answers = await mineUntil(Promise.all(posting))
      const kinds = answers.map(({ status, body }) =>
        [status, body.receipt_status ?? body.revert].join(' '),
      )
      expect([...new Set(kinds)].sort()).to.deep.equal(['200 success', '422 WERC_CannotBeNegative'])
    })

    it('knows what is in flight after it was started again', async () => {
      const [buying] = await buyInFlight()
      await executor.stop()
      await buying
      await open()
      const more = executor.post(await aBody(world.carol, true), 'm:2')
      await eventually(() => deferred.includes('m:2'))
      expect(await pending()).to.equal(1)
      const refused = await mineUntil(more)
      expect(refused.body).to.include({ revert: 'WERC_CannotBeNegative', guilty: 'taker' })
    })
  })
}
