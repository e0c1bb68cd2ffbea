import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { observeExecutor, type ExecutorObserver } from '../../executor/observe.js'
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
import { startRpcProxy, type RpcProxy } from '../support/rpc-proxy.js'
import { serveNode, type ServedNode } from '../support/simulated-node.js'
import { tempDir } from '../support/temp-dir.js'

const KEY: Hex = `0x${'e7'.repeat(32)}`
export const SIGNER = createTransactionSigner(KEY, CHAIN_ID)
/** Looks as fast as the tests mine. */
const POLICY = { pollMs: 10, doubtEveryMs: 10, absences: 3 }
export const TRADERS = makeTraders(3)
export const [SPOT] = planMarkets({ kinds: ['spot'], expirySec: 0 }).markets as [Market]
/** The deployment without its batch executor. */
export const DEPLOYED = {
  chainId: CHAIN_ID,
  matching: AT.matching,
  subAccounts: AT.subAccounts,
}

/** The whole executor in one process, on the simulator's chain behind a proxy; a new one for each test of a suite. */
export interface ExecutorRig {
  readonly chain: SimulatedChain
  readonly proxy: RpcProxy
  readonly dir: string
  readonly bus: MemoryBus
  readonly told: [fact: keyof ExecutorObserver, ...rest: unknown[]][]
  open(options?: Partial<ExecutorOptions>): Promise<Executor>
  close(executor: Executor): Promise<void>
  mineAll(): Promise<void>
  /** Until the node has so many transactions that wait. */
  pooled(count?: number): Promise<void>
  /** The contract that each mined transaction called. */
  sentTo(): Hex[]
}

const FACTS = ['deferred', 'faultFound', 'senderOpened', 'waitingForChain', 'simulated'] as const

export function executorRig(): ExecutorRig {
  let chain: SimulatedChain
  let node: ServedNode
  let proxy: RpcProxy
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  const told: ExecutorRig['told'] = []
  const running: Executor[] = []

  beforeEach(async () => {
    told.length = 0
    dir = tempDir()
    bus = createMemoryBus()
    chain = createChain({
      // A seed whose first blocks are not empty.
      world: createWorld(),
      random: createRandom(3),
      sender: SIGNER.address,
      matchGas: 300_000n,
      genesis: (state) => {
        endow(state, TRADERS)
        for (const caller of [SIGNER.address, AT.batchExecutor]) allow(state, AT.matching, caller)
        allow(state, AT.batchExecutor, SIGNER.address)
      },
    })
    node = await serveNode(chain)
    proxy = await startRpcProxy(node.url)
  })
  afterEach(async () => {
    for (const executor of running.splice(0)) await close(executor)
    await proxy.stop()
    await node.stop()
    dir.remove()
  })

  async function open(options: Partial<ExecutorOptions> = {}): Promise<Executor> {
    const note = (name: keyof ExecutorObserver) => [
      name,
      (...rest: unknown[]) => void told.push([name, ...rest]),
    ]
    const executor = await openExecutor({
      bus,
      rpcUrl: proxy.rpcUrl,
      dataDir: dir.path,
      markets: [SPOT],
      signers: { current: SIGNER },
      deployment: { ...DEPLOYED, batchExecutor: AT.batchExecutor },
      timeoutMs: 20_000,
      gasReserveWei: 0n,
      policy: POLICY,
      facts: {
        ...observeExecutor(createLog('test', 'silent')),
        ...(Object.fromEntries(FACTS.map(note)) as Partial<ExecutorObserver>),
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
  return {
    get chain() {
      return chain
    },
    get proxy() {
      return proxy
    },
    get bus() {
      return bus
    },
    get dir() {
      return dir.path
    },
    told,
    open,
    close,
    mineAll: () =>
      eventually(() => {
        chain.mine()
        return chain.poolSize() === 0
      }),
    pooled: (count = 1) => eventually(() => chain.poolSize() === count),
    sentTo: () =>
      Array.from({ length: chain.head().number }, (_, i) => chain.block(i + 1)?.receipts ?? [])
        .flat()
        .map(({ transaction }) => transaction.to),
  }
}
