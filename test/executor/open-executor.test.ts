import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { JournalIncomplete } from '../../chain/lane/transaction-lane.js'
import { DeploymentMismatch } from '../../chain/reads/deployment.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import type { Market } from '../../core/contracts/market.js'
import { E18 } from '../../core/money.js'
import { AlreadyLocked } from '../../data/open.js'
import { observeExecutor, type ExecutorFacts } from '../../executor/observe.js'
import { openExecutor, type Executor, type ExecutorOptions } from '../../executor/open-executor.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import { createLog } from '../../runtime/process/log.js'
import { allow, AT, CHAIN_ID } from '../sim/chain-state.js'
import { createChain, type SimulatedChain } from '../sim/chain.js'
import { planMarkets } from '../sim/markets.js'
import { createRandom } from '../sim/random.js'
import { endow, makeTraders } from '../sim/traders.js'
import { createWorld } from '../sim/world.js'
import { eventually } from '../support/eventually.js'
import { matchPayload } from '../support/simulated-match.js'
import { serveNode, type ServedNode } from '../support/simulated-node.js'
import { tempDir } from '../support/temp-dir.js'

const KEY: Hex = `0x${'e7'.repeat(32)}`
const { address: SENDER } = createTransactionSigner(KEY, CHAIN_ID)
/** Looks as fast as the tests mine. */
const POLICY = { pollMs: 10, doubtEveryMs: 10, absences: 3 }
const NOWHERE = `0x${'99'.repeat(20)}` as const
const TRADERS = makeTraders(3)
const [ann, bob] = [TRADERS[0]!, TRADERS[1]!]
const [SPOT] = planMarkets({ kinds: ['spot'], expirySec: 0 }).markets as [Market]

/** The whole executor in one process, on the simulator's chain. */
describe('an executor that is opened', () => {
  let chain: SimulatedChain
  let node: ServedNode
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  let told: [fact: keyof ExecutorFacts, ...rest: unknown[]][]
  const running: Executor[] = []

  beforeEach(async () => {
    told = []
    dir = tempDir()
    bus = createMemoryBus()
    chain = createChain({
      // A seed whose first blocks are not empty.
      ...{ world: createWorld(), random: createRandom(3), sender: SENDER, matchGas: 300_000n },
      genesis: (state) => {
        endow(state, TRADERS)
        for (const caller of [SENDER, AT.batchExecutor]) allow(state, AT.matching, caller)
        allow(state, AT.batchExecutor, SENDER)
      },
    })
    node = await serveNode(chain)
  })
  afterEach(async () => {
    for (const executor of running.splice(0)) await close(executor)
    await node.stop()
    dir.remove()
  })

  async function open(options: Partial<ExecutorOptions> = {}): Promise<Executor> {
    const note =
      (name: keyof ExecutorFacts) =>
      (...rest: unknown[]) =>
        void told.push([name, ...rest])
    const executor = await openExecutor({
      bus,
      ...{ rpcUrl: node.url, dataDir: dir.path, markets: [SPOT] },
      signers: { current: createTransactionSigner(KEY, CHAIN_ID) },
      deployment: {
        ...{ chainId: CHAIN_ID, matching: AT.matching, subAccounts: AT.subAccounts },
        batchExecutor: AT.batchExecutor,
      },
      ...{ timeoutMs: 20_000, gasReserveWei: 0n, policy: POLICY },
      facts: {
        ...observeExecutor(createLog('test', 'silent')),
        ...{ deferred: note('deferred'), faultFound: note('faultFound') },
        ...{ laneOpened: note('laneOpened') },
      },
      onFatal: (error) => {
        throw error
      },
      ...options,
    })
    running.push(executor)
    return executor
  }
  async function close(executor: Executor): Promise<void> {
    await executor.stop()
    await executor.close()
    if (running.includes(executor)) running.splice(running.indexOf(executor), 1)
  }
  const payload = (amount = E18) => matchPayload(SPOT, [ann, bob], amount)
  const mineAll = () =>
    eventually(() => {
      chain.mine()
      return chain.poolSize() === 0
    })
  const pooled = (count = 1) => eventually(() => chain.poolSize() === count)
  const sentTo = () =>
    Array.from({ length: chain.head().number }, (_, i) => chain.block(i + 1)?.receipts ?? [])
      .flat()
      .map(({ transaction }) => transaction.to)

  for (const batches of [true, false]) {
    it(`settles a match ${batches ? 'in a batch' : 'by itself'}, once for its key`, async () => {
      const deployment = { chainId: CHAIN_ID, matching: AT.matching, subAccounts: AT.subAccounts }
      const executor = await open(batches ? {} : { deployment })
      const asked = payload()
      const answering = executor.execute(asked, 'm:1')
      expect(executor.isKnown('m:1')).to.equal(true)
      await pooled()
      await mineAll()
      const answer = await answering
      expect(answer.kind === 'mined' && answer.transaction.status).to.equal('success')
      expect(await executor.execute(asked, 'm:1')).to.deep.equal(answer)
      expect(await executor.execute(payload(), 'm:1')).to.deep.equal({ kind: 'mismatch' })
      expect(sentTo()).to.deep.equal([batches ? AT.batchExecutor : AT.matching])
      expect([executor.isKnown('m:2'), executor.isRunning('m:1')]).to.deep.equal([false, false])
      expect(await executor.readReversals(0, 10)).to.deep.equal([])
      expect(executor.trouble()).to.equal(undefined)
    })
  }

  it('knows after it was opened again what it has in flight', async () => {
    const first = await open()
    const asked = payload(40n * E18)
    const cut = first.execute(asked, 'm:1')
    await pooled()
    await close(first)
    expect((await cut).kind).to.be.oneOf(['timeout', 'unknown'])

    const second = await open()
    expect(told.filter(([fact]) => fact === 'laneOpened').at(-1)?.[1]).to.include({ open: 1 })
    const [again, poorer] = [
      second.execute(asked, 'm:1'),
      second.execute(payload(40n * E18), 'm:2'),
    ]
    // Of the buyer's 60 USDC the match in flight leaves too little.
    await eventually(() => told.some(([fact, id]) => fact === 'deferred' && id === 'm:2'))
    await mineAll()
    const answer = await again
    expect(answer.kind === 'mined' && answer.transaction.status).to.equal('success')
    expect(await poorer).to.include({ kind: 'refused', revert: 'WERC_CannotBeNegative' })
    expect(sentTo()).to.have.length(1)
  })

  it('has its journal alone, and leaves it to the next one', async () => {
    const first = await open()
    const failure: unknown = await open().catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(AlreadyLocked)
    await close(first)
    await open()
  })

  it('does not start on another chain, nor without its contracts, and leaves its journal free', async () => {
    const at = { chainId: CHAIN_ID, matching: AT.matching, subAccounts: AT.subAccounts }
    for (const [deployment, words] of [
      [{ ...at, chainId: 5 }, 'the deployment is on chain 5'],
      [{ ...at, matching: NOWHERE }, 'no contract at matching'],
      [{ ...at, subAccounts: NOWHERE }, 'no contract at subAccounts'],
    ] as const) {
      const failure: unknown = await open({ deployment }).catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(DeploymentMismatch)
      expect((failure as Error).message).to.include(words)
    }
    await open()
  })

  it('does not start on a journal that lacks what its key has sent', async () => {
    chain.sendForeign()
    await mineAll()
    const failure: unknown = await open({ acceptNonces: 0 }).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalIncomplete)
    await open({ acceptNonces: 1 })
  })

  it('rebuilds a deleted journal from the bus, and settles nothing twice', async () => {
    const first = await open({ acceptNonces: 0 })
    const asked = payload()
    const answering = first.execute(asked, 'm:1')
    await pooled()
    await mineAll()
    const answer = await answering
    const cut = first.execute(payload(), 'm:2')
    await pooled()
    await close(first)
    await cut
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(dir.path, `executor.db${end}`), { force: true })

    const second = await open({ acceptNonces: 0 })
    expect(await second.execute(asked, 'm:1')).to.deep.equal(answer)
    expect(second.isKnown('m:2')).to.equal(true)
    expect(await second.execute(payload(), 'm:1')).to.deep.equal({ kind: 'mismatch' })
    await mineAll()
    expect(sentTo()).to.have.length(2)
  })

  it('starts without the module of one market, and says that of it alone', async () => {
    const other = { ...SPOT, market: 'OTHER', tradeModuleAddress: NOWHERE } as Market
    const executor = await open({ markets: [other, SPOT] })
    expect(Object.fromEntries(executor.faults.standing() ?? [])).to.deep.equal({
      OTHER: 'wrong_wiring',
    })
    expect(executor.trouble()).to.equal(undefined)
  })

  it('names the right that it lacks as its trouble', async () => {
    chain.happen((state) => state.rights.clear())
    chain.mine()
    const executor = await open()
    expect(executor.trouble()).to.match(/is no operator of 0x(ba)+: allow it there$/)
  })

  it('answers what waits when it is stopped, and takes nothing more', async () => {
    const executor = await open()
    const cut = executor.execute(payload(), 'm:1')
    await pooled()
    await executor.stop()
    expect((await cut).kind).to.be.oneOf(['timeout', 'unknown'])
    expect(await executor.execute(payload(), 'm:2')).to.deep.equal({
      ...{ kind: 'unavailable', why: 'the executor is stopping' },
    })
  })
})
