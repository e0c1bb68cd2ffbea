import { expect } from 'chai'
import type { Hex } from '../../core/action.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import type { SignedOrder } from '../support/devnet-actions.js'
import { balanceOf, openWorld } from '../support/devnet-world.js'
import type { Trader, World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { executeBody, removeDir, startExecutor, temporaryDir } from '../support/executor-world.js'
import type { ExecutorSetup, RunningExecutor } from '../support/executor-world.js'

const MANY = 120
const WHOLE = { desiredAmount: 1_000_000n * ONE }
/** Runtime code that answers every call with a word of zero. */
const SAYS_ZERO = '0x60206000f3'

describe('executor settling in batches', () => {
  let world: World
  let bid: SignedOrder
  let snapshot: Hex
  const running: RunningExecutor[] = []
  const dirs: string[] = []

  before(async () => {
    world = await openWorld()
    bid = await signOrder(world, world.alice, { isBid: true, ...WHOLE })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(async () => {
    for (const executor of running.splice(0)) await executor.stop()
    for (const dir of dirs.splice(0)) await removeDir(dir)
    await world.client.setAutomine(true)
    await world.client.revert({ id: snapshot })
  })
  after(() => world.anvil.stop())

  async function open(setup: ExecutorSetup = {}): Promise<RunningExecutor> {
    const dataDir = setup.dataDir ?? (await temporaryDir())
    const executor = await startExecutor(world, { windowMs: 50, ...setup, dataDir })
    running.push(executor)
    dirs.push(dataDir)
    return executor
  }

  const askOf = (trader: Trader) => signOrder(world, trader, { isBid: false, ...WHOLE })
  const cngnOfAlice = () => balanceOf(world, world.alice.subaccountId, world.at.wrapped_cngn)
  const sentByExecutor = () => world.client.getTransactionCount({ address: world.executor })

  /** Bodies of matches of alice's bid, each for another amount; together they are for n (n + 1) / 2 cNGN. */
  const bodiesFor = (maker: SignedOrder, n: number) =>
    Array.from({ length: n }, (_, i) =>
      executeBody({ taker: bid, makers: [maker], amount: BigInt(i + 1) * ONE }),
    )

  it('settles many at once in few transactions, each with its own answer', async () => {
    const executor = await open()
    const before = await cngnOfAlice()
    const sent = await sentByExecutor()
    const bodies = bodiesFor(await askOf(world.bob), MANY)
    const answers = await Promise.all(bodies.map((body, i) => executor.post(body, `m:${i}`)))
    for (const { body } of answers) expect(body).to.include({ receipt_status: 'success' })
    expect(await cngnOfAlice()).to.equal(before + (BigInt(MANY * (MANY + 1)) / 2n) * ONE)
    const hashes = new Set(answers.map(({ body }) => body.tx_hash))
    expect(hashes.size).to.be.at.most(MANY / 10)
    expect(await sentByExecutor()).to.equal(sent + hashes.size)
    const again = await executor.post(bodies[7], 'm:7')
    expect(again.body).to.deep.equal(answers[7]?.body)
  })

  it('keeps each transaction within the gas that the chain allows one', async () => {
    const executor = await open()
    const bodies = bodiesFor(await askOf(world.bob), MANY)
    const answers = await Promise.all(bodies.map((body, i) => executor.post(body, `m:${i}`)))
    for (const hash of new Set(answers.map(({ body }) => body.tx_hash as Hex))) {
      const { gas } = await world.client.getTransaction({ hash })
      expect(gas <= 16_777_216n).to.equal(true)
    }
  })

  it('refuses one of a group at its trial and settles the others', async () => {
    const executor = await open()
    const stingy = await signOrder(world, world.carol, { isBid: true, worstFee: 0n })
    const ask = await askOf(world.bob)
    const bad = executeBody({ taker: stingy, makers: [ask], amount: ONE })
    const bodies = [...bodiesFor(ask, 3), bad]
    const answers = await Promise.all(bodies.map((body, i) => executor.post(body, `m:${i}`)))
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 422])
    expect(answers[3]?.body).to.include({ revert: 'TM_FeeTooHigh' })
    expect(executor.journaled).to.have.length(1)
  })

  it('tells each match of a mined batch its own fate, and whom it is to blame on (SET-064)', async () => {
    const executor = await open()
    await world.client.setAutomine(false)
    const bobs = await askOf(world.bob)
    const carols = await askOf(world.carol)
    const bodies = [...bodiesFor(bobs, 2), ...bodiesFor(carols, 2)]
    const before = await cngnOfAlice()
    const answering = Promise.all(bodies.map((body, i) => executor.post(body, `m:${i}`)))
    await eventually(async () => (await world.client.getTxpoolStatus()).pending === 1)
    await world.client.setCode({ address: world.bob.address, bytecode: SAYS_ZERO })
    await world.client.mine({ blocks: 1 })
    const answers = (await answering).map(({ body }) => body)
    expect(new Set(answers.map((body) => body.tx_hash)).size).to.equal(1)
    for (const body of answers.slice(0, 2)) {
      const told = { receipt_status: 'reverted', revert: 'OV_InvalidSignature', guilty: 'maker' }
      expect(body).to.include(told)
    }
    for (const body of answers.slice(2)) expect(body).to.include({ receipt_status: 'success' })
    expect(await cngnOfAlice()).to.equal(before + 3n * ONE)
  })

  it('sends the same batch after dying between journal and broadcast', async () => {
    const dataDir = await temporaryDir()
    const hashes: Hex[] = []
    const dying = await open({
      dataDir,
      facts: {
        journaled: ({ attempts }) => {
          hashes.push(...attempts.map(({ hash }) => hash))
          throw new Error('killed')
        },
      },
    })
    const bodies = bodiesFor(await askOf(world.bob), 5)
    const before = await cngnOfAlice()
    const died = await Promise.all(bodies.map((body, i) => dying.post(body, `m:${i}`)))
    expect(died.map(({ status }) => status)).to.deep.equal(Array<number>(5).fill(500))
    await dying.stop()
    running.pop()
    expect(hashes).to.have.length(1)

    const restarted = await open({ dataDir })
    const answers = await Promise.all(bodies.map((body, i) => restarted.post(body, `m:${i}`)))
    for (const { body } of answers) {
      expect(body).to.include({ receipt_status: 'success', tx_hash: hashes[0] })
    }
    expect(restarted.journaled).to.deep.equal([])
    expect(await cngnOfAlice()).to.equal(before + 15n * ONE)
  })
})
