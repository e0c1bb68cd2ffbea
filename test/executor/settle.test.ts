import { expect } from 'chai'
import type { Hex } from '../../core/action.js'
import { quoteE18 } from '../../core/money.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import type { SignedOrder } from '../support/devnet-actions.js'
import { balanceOf, openWorld } from '../support/devnet-world.js'
import type { World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { executeBody, removeDir, startExecutor } from '../support/executor-world.js'
import type { ExecutorSetup, RunningExecutor } from '../support/executor-world.js'

const AMOUNT = 1_000n * ONE

describe('executor settling on a chain', () => {
  let world: World
  const running: RunningExecutor[] = []

  before(async () => {
    world = await openWorld()
  })
  afterEach(async () => {
    await world.client.setAutomine(true)
    for (const executor of running.splice(0)) {
      await executor.stop()
      await removeDir(executor.dataDir)
    }
  })
  after(() => world.anvil.stop())

  async function open(setup?: ExecutorSetup): Promise<RunningExecutor> {
    const executor = await startExecutor(world, setup)
    running.push(executor)
    return executor
  }

  const bid = (): Promise<SignedOrder> => signOrder(world, world.alice, { isBid: true })
  const ask = (): Promise<SignedOrder> => signOrder(world, world.bob, { isBid: false })

  async function aBody() {
    return executeBody({ taker: await bid(), makers: [await ask()], amount: AMOUNT })
  }

  const cngn = (subaccountId: bigint): Promise<bigint> =>
    balanceOf(world, subaccountId, world.at.wrapped_cngn)

  const sentByExecutor = (): Promise<number> =>
    world.client.getTransactionCount({ address: world.executor })

  it('settles a match: balances move and the receipt is answered', async () => {
    const executor = await open({ gasTokenPrice: quoteE18(3_000n * ONE) })
    const before = await cngn(world.alice.subaccountId)
    const { status, body } = await executor.post(await aBody(), 'cNGN-USDC:1')
    expect(status).to.equal(200)
    const receipt = await world.client.getTransactionReceipt({ hash: body.tx_hash as Hex })
    expect(body).to.deep.equal({
      accepted: true,
      tx_hash: receipt.transactionHash,
      receipt_status: 'success',
      block_number: receipt.blockNumber.toString(),
      gas_cost: `${receipt.gasUsed * receipt.effectiveGasPrice * 3_000n}`,
    })
    expect(await cngn(world.alice.subaccountId)).to.equal(before + AMOUNT)
  })

  it('settles one taker against several makers in one transaction (SET-053)', async () => {
    const executor = await open()
    const carols = await signOrder(world, world.carol, { isBid: false })
    const body = executeBody({ taker: await bid(), makers: [await ask(), carols], amount: AMOUNT })
    const before = await cngn(world.alice.subaccountId)
    const answer = await executor.post(body)
    expect(answer.body).to.include({ accepted: true, receipt_status: 'success' })
    expect(await cngn(world.alice.subaccountId)).to.equal(before + 2n * AMOUNT)
  })

  it('answers a repeated settlement from its record, with the key and without (SET-010)', async () => {
    const executor = await open()
    const body = await aBody()
    const first = await executor.post(body, 'cNGN-USDC:2')
    const second = await executor.post(body, 'cNGN-USDC:2')
    expect(second.body).to.deep.equal(first.body)
    const other = await aBody()
    const third = await executor.post(other)
    expect((await executor.post({ ...other, unknown_field: 1 })).body).to.deep.equal(third.body)
    expect(executor.journaled).to.have.length(2)
  })

  it('makes one transaction of requests that come at the same time', async () => {
    const executor = await open()
    const body = await aBody()
    const before = await sentByExecutor()
    const requests = Array.from({ length: 8 }, () => executor.post(body, 'cNGN-USDC:3'))
    const hashes = new Set((await Promise.all(requests)).map((answer) => answer.body.tx_hash))
    expect(hashes.size).to.equal(1)
    expect(await sentByExecutor()).to.equal(before + 1)
  })

  it('refuses a key that belongs to another match, sent before or being sent (SET-062)', async () => {
    const executor = await open()
    const one = await aBody()
    const other = await aBody()
    const [first, clash] = await Promise.all([
      executor.post(one, 'cNGN-USDC:4'),
      executor.post(other, 'cNGN-USDC:4'),
    ])
    expect([first?.status, clash?.status].sort()).to.deep.equal([200, 400])
    const late = await executor.post(first?.status === 200 ? other : one, 'cNGN-USDC:4')
    expect(late.status).to.equal(400)
    expect(late.body.error).to.equal('Idempotency-Key was used for another match')
    const unreadable = await executor.post({ ...one, market: undefined }, 'cNGN-USDC:4')
    expect(unreadable.body.error).to.equal(late.body.error)
    expect(executor.journaled).to.have.length(1)
  })

  it('does not wait for one receipt before the next: four settlements in one block', async () => {
    const executor = await open({ batches: false })
    await world.client.setAutomine(false)
    const bodies = await Promise.all(Array.from({ length: 4 }, () => aBody()))
    const answers = Promise.all(bodies.map((body, i) => executor.post(body, `cNGN-USDC:b${i}`)))
    await eventually(async () => (await world.client.getTxpoolStatus()).pending === 4)
    await world.client.mine({ blocks: 1 })
    const blocks = (await answers).map(({ body }) => body.block_number)
    expect(blocks).to.have.length(4)
    expect(new Set(blocks).size).to.equal(1)
  })

  it('answers without a receipt when time is up, and with it when asked again', async () => {
    const executor = await open({ timeoutMs: 1_000 })
    await world.client.setAutomine(false)
    const body = await aBody()
    const early = await executor.post(body, 'cNGN-USDC:5')
    expect(early.status).to.equal(200)
    const hash = early.body.tx_hash
    expect(early.body).to.deep.equal({ accepted: true, tx_hash: hash, receipt_status: 'timeout' })
    await world.client.mine({ blocks: 1 })
    const late = await executor.post(body, 'cNGN-USDC:5')
    expect(late.body).to.include({ receipt_status: 'success', tx_hash: hash })
  })

  it('refuses what the simulation reverts, names the revert and keeps to it (SET-058)', async () => {
    const executor = await open()
    const before = await sentByExecutor()
    const stingy = await signOrder(world, world.alice, { isBid: true, worstFee: 0n })
    const tooDear = executeBody({ taker: stingy, makers: [await ask()], amount: AMOUNT })
    const refused = await executor.post(tooDear, 'cNGN-USDC:6')
    expect(refused.status).to.equal(422)
    expect(refused.body).to.include({ revert: 'TM_FeeTooHigh' })
    const again = await executor.post(tooDear, 'cNGN-USDC:6')
    expect(again).to.deep.include({ status: 422, body: refused.body })
    expect(await sentByExecutor()).to.equal(before)
  })

  it('refuses another fee or price than the rules give, and sends nothing', async () => {
    const executor = await open()
    const dear = await aBody()
    dear.order_data.taker_fee = `${BigInt(dear.order_data.taker_fee) + 1n}`
    const cheap = await aBody()
    cheap.order_data.fill_details[0]!.price = '1'
    for (const [body, field, status] of [
      [dear, 'order_data.taker_fee', 422],
      [cheap, 'order_data.fill_details.0.price', 400],
    ] as const) {
      const refused = await executor.post(body, `cNGN-USDC:${field}`)
      expect(refused.status).to.equal(status)
      expect(refused.body.details).to.have.nested.property('[0].field', field)
    }
    expect(executor.journaled).to.deep.equal([])
  })

  it('tells why a mined transaction reverted', async () => {
    const executor = await open({ batches: false })
    const taker = await bid()
    const maker = await ask()
    const all = executeBody({ taker, makers: [maker] })
    await world.client.setAutomine(false)
    const both = Promise.all([executor.post(all, 'cNGN-USDC:7'), executor.post(all, 'cNGN-USDC:8')])
    await eventually(async () => (await world.client.getTxpoolStatus()).pending === 2)
    await world.client.mine({ blocks: 1 })
    const answers = (await both).map(({ body }) => body)
    const reverted = answers.find((body) => body.receipt_status === 'reverted')
    expect(answers.map((body) => body.accepted).sort()).to.deep.equal([false, true])
    expect(reverted).to.include({ revert: 'TM_FillLimitCrossed', accepted: false })
    expect(reverted?.block_number).to.be.a('string')
  })
})
