import { expect } from 'chai'
import { parseEther } from 'viem'
import { batchExecutorAbi } from '../../chain/abi/contracts.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import { CannotStart } from '../../core/cannot-start.js'
import { ANVIL_CHAIN_ID } from '../support/anvil.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { administer, balanceOf, openWorld, testKey, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  executeBody,
  EXECUTOR_KEY,
  removeDir,
  startExecutor,
  temporaryDir,
  type RunningExecutor,
} from '../support/executor-world.js'

const AMOUNT = 1_000n * ONE
const old = createTransactionSigner(EXECUTOR_KEY, ANVIL_CHAIN_ID)
const current = createTransactionSigner(testKey(4343), ANVIL_CHAIN_ID)

describe('an executor whose key is rotated', () => {
  let world: World
  let dataDir: string
  const running: RunningExecutor[] = []

  before(async () => {
    world = await openWorld()
    await world.client.setBalance({ address: current.address, value: parseEther('10') })
    const { batch_executor: batches } = world.at
    await administer(world, batches, batchExecutorAbi, 'setOperator', current.address, true)
  })
  beforeEach(async () => {
    dataDir = await temporaryDir()
  })
  afterEach(async () => {
    await world.client.setAutomine(true)
    for (const executor of running.splice(0)) await executor.stop()
    await removeDir(dataDir)
  })
  after(() => world.anvil.stop())

  async function start(setup: Parameters<typeof startExecutor>[1]): Promise<RunningExecutor> {
    const executor = await startExecutor(world, { dataDir, ...setup })
    running.push(executor)
    return executor
  }
  async function stop(executor: RunningExecutor): Promise<void> {
    running.splice(running.indexOf(executor), 1)
    await executor.stop()
  }
  async function aBody() {
    const taker = await signOrder(world, world.alice, { isBid: true })
    const maker = await signOrder(world, world.bob, { isBid: false })
    return executeBody({ taker, makers: [maker], amount: AMOUNT })
  }
  const cngnOfAlice = () => balanceOf(world, world.alice.subaccountId, world.at.wrapped_cngn)
  const senderOf = async (hash: unknown) =>
    (await world.client.getTransaction({ hash: hash as Hex })).from.toLowerCase()

  it('follows what the old key has in flight, then sends with the new one, each match once', async () => {
    const before = await cngnOfAlice()
    await world.client.setAutomine(false)
    const first = await start({ timeoutMs: 1_000 })
    const inFlight = await aBody()
    // Signed and sent, and not mined.
    expect((await first.post(inFlight, 'm:1')).body).to.include({ receipt_status: 'timeout' })
    expect(first.journaled).to.have.length(1)
    await stop(first)

    const retired: Hex[] = []
    const facts = { keyRetired: (address: Hex) => void retired.push(address) }
    const second = await start({ signers: { current, retiring: old }, facts })
    const again = second.post(inFlight, 'm:1')
    const next = second.post(await aBody(), 'm:2')
    // The new key waits for the block that has the old one's transaction.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(second.journaled).to.deep.equal([])
    await world.client.setAutomine(true)
    await world.client.mine({ blocks: 1 })
    const [one, two] = await Promise.all([again, next])
    expect([one.status, two.status], JSON.stringify([one.body, two.body])).to.deep.equal([200, 200])
    expect(await senderOf(one.body.tx_hash)).to.equal(old.address)
    expect(await senderOf(two.body.tx_hash)).to.equal(current.address)
    expect((await cngnOfAlice()) - before).to.equal(2n * AMOUNT)
    expect(retired).to.deep.equal([])
    await world.client.mine({ blocks: 80 })
    await eventually(() => expect(retired).to.deep.equal([old.address]))
    // Asked again after the rotation, the old key's settlement is answered and not sent a second time.
    expect((await second.post(inFlight, 'm:1')).body).to.deep.equal(one.body)
    expect((await cngnOfAlice()) - before).to.equal(2n * AMOUNT)
  })

  it('does not start without a key whose transactions are not final', async () => {
    const first = await start({})
    expect((await first.post(await aBody(), 'm:1')).status).to.equal(200)
    await stop(first)
    const failure: unknown = await start({ signers: { current } }).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(CannotStart)
    expect((failure as Error).message)
      .to.include(old.address)
      .and.include('.retiring')
    await start({ signers: { current, retiring: old } })
  })
})
