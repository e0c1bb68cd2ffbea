import { openKeeper } from '../../../actors/keeper/open-keeper.js'
import { loadDeployment } from '../../../chain/reads/deployment.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Address, Hex } from '../../../core/action.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { createLog, createLogOutput } from '../../../runtime/process/log.js'
import { armCrashAt } from '../../../runtime/process/process.js'
import { aPerp } from '../../support/builders.js'
import { FAST_LANE } from '../../support/lane-world.js'

/** What a keeper of a perpetual is told by its parent, as the only argument. */
export interface ArmedKeeper {
  readonly natsUrl: string
  readonly rpcUrl: string
  readonly deploymentFile: string
  readonly dataDir: string
  readonly privateKey: Hex
  readonly perp: Readonly<
    Record<'assetAddress' | 'tradeModuleAddress' | 'marginManagerAddress', Address>
  >
}

/** A keeper as a process of its own; with `CRASH_AT` it ends itself there. */
armCrashAt()
const told = JSON.parse(process.argv[2] ?? '{}') as ArmedKeeper
const { rpcUrl, dataDir, privateKey } = told
const deployment = await loadDeployment(told.deploymentFile)
const market = aPerp({ ...told.perp, subId: 0n })
const nothing = (): void => undefined
await openKeeper({
  ...{
    bus: await connectNatsBus({ url: told.natsUrl, name: 'keeper' }),
    rpcUrl,
    deployment,
    dataDir,
  },
  signers: { current: createTransactionSigner(privateKey, deployment.chainId) },
  ...{ markets: () => [market], reserveWei: 0n, hourBudgetWei: 10n ** 20n, policy: FAST_LANE },
  facts: {
    ...{ sent: nothing, refused: nothing, confirmed: nothing, lost: nothing },
    unreadable: nothing,
  },
  log: createLog('armed-keeper', 'warn', createLogOutput()),
  onFatal: (error: unknown) => {
    throw error
  },
})
