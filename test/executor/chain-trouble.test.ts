import { expect } from 'chai'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import type { ExecutorObserver } from '../../executor/observe.js'
import { MAX_SIMULATIONS } from '../../executor/pack-matches.js'
import { ANVIL_CHAIN_ID } from '../support/anvil.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { openWorld, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  executeBody,
  EXECUTOR_KEY,
  removeDir,
  startExecutor,
  type ExecutorSetup,
  type RunningExecutor,
} from '../support/executor-world.js'
import { readBody } from '../support/answer-body.js'
import { STOP_DEADLINE_MS } from '../../runtime/process/process.js'
import { startRpcProxy, type Fate, type RpcProxy } from '../support/rpc-proxy.js'

const SEND = 'eth_sendRawTransaction'

describe('executor with a chain in trouble', () => {
  let world: World
  let proxy: RpcProxy
  let executor: RunningExecutor | undefined

  before(async () => {
    world = await openWorld()
  })
  beforeEach(async () => {
    proxy = await startRpcProxy(world.anvil.rpcUrl)
  })
  afterEach(async () => {
    await executor?.stop()
    if (executor !== undefined) await removeDir(executor.dataDir)
    await proxy.stop()
  })
  after(() => world.anvil.stop())

  async function open(setup: ExecutorSetup = {}): Promise<RunningExecutor> {
    executor = await startExecutor(world, { rpcUrl: proxy.rpcUrl, timeoutMs: 1_000, ...setup })
    return executor
  }

  /** The gas money is looked at with new blocks only. */
  async function readiness(blocks = 0) {
    if (blocks > 0) await world.client.mine({ blocks })
    const response = await fetch(`${executor?.url}/readyz`)
    return [response.status, await readBody(response)]
  }

  async function aBody() {
    const taker = await signOrder(world, world.alice, { isBid: true })
    const maker = await signOrder(world, world.bob, { isBid: false })
    return executeBody({ taker, makers: [maker], amount: 1_000n * ONE })
  }

  /** The answer to a settlement; a loaded machine may still have it in the queue when a request gives up. */
  async function settled(post: RunningExecutor['post'], body: object, key: string) {
    for (;;) {
      const answer = await post(body, key)
      if (answer.body.error !== 'waits for other settlements') return answer
    }
  }

  const only = (method: string, fate: Fate | (() => Fate)) => (asked: string) => {
    if (asked !== method) return 'pass'
    return typeof fate === 'function' ? fate() : fate
  }

  function aGate() {
    let open = (): void => undefined
    const passed = new Promise<void>((resolve) => (open = resolve))
    return { passed, open: () => open() }
  }

  it('answers 503 and records nothing when the match cannot be tried out (SET-060)', async () => {
    const { post, journaled } = await open()
    const body = await aBody()
    proxy.fateOf = () => 'lose'
    const refused = await post(body, 'm:1')
    expect(refused.status).to.equal(503)
    expect(refused.body.error).to.be.a('string')
    expect(refused.body).to.not.have.property('revert')
    expect(journaled).to.deep.equal([])
    proxy.fateOf = () => 'pass'
    await eventually(async () => (await post(body, 'm:1')).body.receipt_status === 'success')
  })

  it('asks a slow node to try out a bounded number of matches at once', async () => {
    const asked = MAX_SIMULATIONS + 9
    const received: string[] = []
    const settlementReceived: ExecutorObserver['settlementReceived'] = ({ settlementId }) =>
      void received.push(settlementId)
    const facts = { settlementReceived }
    const { post } = await open({ timeoutMs: 40_000, facts, batches: false })
    const simulated = () => proxy.asked.filter((method) => method === 'eth_estimateGas').length
    const body = await aBody()
    const gates = [aGate(), aGate()]
    let opened = 0
    proxy.fateOf = only('eth_estimateGas', () => ({
      after: gates[opened]?.passed ?? Promise.resolve(),
    }))
    const first = post(body, 'm:first')
    await eventually(() => simulated() === 1)
    const others = Array.from({ length: asked - 1 }, (_, index) => post(body, `m:${index}`))
    await eventually(() => received.length === asked)
    opened = 1
    gates[0]?.open()
    await eventually(() => simulated() > 1)
    expect(simulated()).to.equal(1 + MAX_SIMULATIONS)
    opened = 2
    gates[1]?.open()
    const statuses = (await Promise.all([first, ...others])).map(({ status }) => status)
    expect(simulated()).to.be.at.least(asked)
    expect(statuses.filter((status) => status !== 200 && status !== 422)).to.deep.equal([])
  })

  it('answers 503 when the signer cannot pay, and settles once it can (SET-060)', async () => {
    const { post, journaled } = await open()
    const body = await aBody()
    const balance = await world.client.getBalance({ address: world.executor })
    await world.client.setBalance({ address: world.executor, value: 1n })
    const refused = await settled(post, body, 'm:1')
    expect(refused).to.deep.include({
      status: 503,
      body: { error: `the signer has not enough gas money: ${world.executor}` },
    })
    expect(journaled).to.deep.equal([])
    await world.client.setBalance({ address: world.executor, value: balance })
    await eventually(async () => (await post(body, 'm:1')).status === 200)
  })

  it('does not touch the reserve of its gas money (OPE-036)', async () => {
    const gasReserveWei = await world.client.getBalance({ address: world.executor })
    const { post, journaled } = await open({ gasReserveWei })
    const refused = await settled(post, await aBody(), 'm:1')
    expect(refused.status).to.equal(503)
    expect(refused.body.error).to.include(world.executor)
    expect(journaled).to.deep.equal([])
    // Exactly the reserve is there; a wei less is too little for whatever comes.
    await world.client.setBalance({ address: world.executor, value: gasReserveWei - 1n })
    const why = `the signer has less gas money than its reserve: ${world.executor}`
    await eventually(async () => expect(await readiness(1)).to.deep.equal([503, { error: why }]))
    await world.client.setBalance({ address: world.executor, value: gasReserveWei })
    await eventually(async () => expect((await readiness(1))[0]).to.equal(200))
  })

  it('answers 502 when no node took the transaction, and signs no other (SET-009, SET-059)', async () => {
    const { post, journaled } = await open()
    const body = await aBody()
    proxy.fateOf = only(SEND, 'lose')
    const unclear = await settled(post, body, 'm:1')
    expect(unclear.status).to.equal(502)
    expect(unclear.body).to.include({ tx_hash: journaled[0] })
    const again = await post(body, 'm:1')
    expect(again.status).to.equal(502)
    expect(journaled).to.have.length(1)
  })

  it('finds the receipt when only the answer to the broadcast was lost', async () => {
    const { post, journaled } = await open({ timeoutMs: 40_000 })
    proxy.fateOf = only(SEND, 'lose answer')
    const answer = await post(await aBody(), 'm:1')
    expect(answer.body).to.include({ receipt_status: 'success', tx_hash: journaled[0] })
    expect(proxy.asked.filter((method) => method === SEND)).to.have.length(1)
  })

  it('takes a refused broadcast for no outcome', async () => {
    const { post } = await open()
    proxy.fateOf = only(SEND, { error: 'nonce too low' })
    expect((await settled(post, await aBody(), 'm:1')).status).to.equal(502)
    proxy.fateOf = only(SEND, { error: 'already known' })
    const known = await settled(post, await aBody(), 'm:2')
    expect(known.body).to.include({ receipt_status: 'timeout' })
  })

  it('waits through a silence of the chain and tells of it once', async () => {
    const told: string[] = []
    const facts = { chainLost: () => told.push('lost'), chainBack: () => told.push('back') }
    await open({ facts })
    proxy.fateOf = () => 'lose'
    await eventually(() => told.includes('lost'))
    const looks = proxy.asked.length
    await eventually(() => proxy.asked.length > looks + 3)
    proxy.fateOf = () => 'pass'
    await eventually(() => told.includes('back'))
    expect(told).to.deep.equal(['lost', 'back'])
  })

  it('stops in time while the chain answers nothing, with a settlement in flight', async () => {
    const { post, stop } = await open({ timeoutMs: 60_000 })
    const body = await aBody()
    let held = 0
    proxy.fateOf = () => {
      held += 1
      return { after: new Promise(() => undefined) }
    }
    await eventually(() => held > 0)
    // Its connection may be closed before the answer.
    const asked = post(body, 'm:1').catch(() => undefined)
    await eventually(() => held > 1)
    const stoppedAt = performance.now()
    await stop()
    // Half of it is for the machine; a question is asked for 15 s.
    expect(performance.now() - stoppedAt).to.be.below(2 * STOP_DEADLINE_MS)
    await asked
    executor = undefined
  })

  it('takes nothing more once a foreign transaction used its nonce, not even what waits (SET-063)', async () => {
    let frozen = 0
    const { post } = await open({ facts: { frozen: () => (frozen += 1) } })
    proxy.fateOf = only(SEND, 'lose')
    const body = await aBody()
    expect((await settled(post, body, 'm:1')).status).to.equal(502)
    const evmNonce = await world.client.getTransactionCount({ address: world.executor })
    const signer = createTransactionSigner(EXECUTOR_KEY, ANVIL_CHAIN_ID)
    const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, gasLimit: 50_000n }
    const to = world.alice.address
    const { raw }: { raw: Hex } = signer.sign({ to, data: '0x', evmNonce, ...fees })
    const by = await world.client.sendRawTransaction({ serializedTransaction: raw })
    await eventually(() => frozen === 1)
    const refused = await post(await aBody(), 'm:2')
    expect(refused.status).to.equal(503)
    const { blockNumber } = await world.client.getTransactionReceipt({ hash: by })
    expect(refused.body.error).to.equal(
      `a foreign transaction used nonce ${evmNonce} of the signer in block ${blockNumber}: ${by}; once its cause is known: ` +
        `./venue accept-foreign executor ${by}`,
    )
    expect((await post(body, 'm:1')).status).to.equal(502)
    expect(await readiness()).to.deep.equal([503, { error: refused.body.error }])
  })
})
