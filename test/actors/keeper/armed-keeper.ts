import { openKeeper } from '../../../actors/keeper/open-keeper.js'
import { loadDeployment } from '../../../chain/reads/deployment.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Address, Hex } from '../../../core/action.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { createLog, createLogOutput } from '../../../runtime/process/log.js'
import { armCrashAt } from '../../../runtime/process/process.js'
import { aFuture, aPerp } from '../../support/builders.js'
import { FAST_LANE } from '../../support/lane-world.js'

type Contracts = Readonly<
  Record<'assetAddress' | 'tradeModuleAddress' | 'marginManagerAddress', Address>
>

/** What a keeper is told by its parent, as the only argument. */
export interface ArmedKeeper {
  readonly natsUrl: string
  readonly rpcUrl: string
  readonly deploymentFile: string
  readonly dataDir: string
  readonly privateKey: Hex
  readonly perp: Contracts
  /** Of all series; their expiry, in unix seconds, is of no concern. */
  readonly future?: Contracts
  /** With which it takes over, as decimal digits; none by default. */
  readonly rescue?: { readonly accounts: readonly string[]; readonly mostUsd: string }
  readonly lookEveryMs?: number
}

/** A keeper as a process of its own; with `CRASH_AT` it ends itself there. */
armCrashAt()
const told = JSON.parse(process.argv[2] ?? '{}') as ArmedKeeper
const { rpcUrl, dataDir, privateKey } = told
const deployment = await loadDeployment(told.deploymentFile)
const markets = [
  aPerp({ ...told.perp, subId: 0n }),
  ...(told.future === undefined ? [] : [aFuture(told.future)]),
]
const { accounts = [], mostUsd = '0' } = told.rescue ?? {}
const nothing = (): void => undefined
await openKeeper({
  ...{
    bus: await connectNatsBus({ url: told.natsUrl, name: 'keeper' }),
    rpcUrl,
    deployment,
    dataDir,
  },
  signers: { current: createTransactionSigner(privateKey, deployment.chainId) },
  ...(told.lookEveryMs !== undefined && { lookEveryMs: told.lookEveryMs }),
  rescue: { accounts: accounts.map(BigInt), mostUsd: BigInt(mostUsd) },
  ...{ markets: () => markets, reserveWei: 0n, hourBudgetWei: 10n ** 20n, policy: FAST_LANE },
  facts: {
    ...{ sent: nothing, refused: nothing, confirmed: nothing, lost: nothing },
    unreadable: nothing,
  },
  log: createLog('armed-keeper', 'warn', createLogOutput()),
  onFatal: (error: unknown) => {
    throw error
  },
})
