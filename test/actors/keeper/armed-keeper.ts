import { seriesOrders } from '../../../actors/keeper/list-series.js'
import { openKeeper } from '../../../actors/keeper/open-keeper.js'
import { loadDeployment } from '../../../chain/reads/deployment.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Address, Hex } from '../../../core/action.js'
import { createMarketList } from '../../../core/entry/find-market.js'
import { openRegister } from '../../../runtime/bus/market-register.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { createLog, createLogOutput } from '../../../runtime/process/log.js'
import { armCrashAt } from '../../../runtime/process/process.js'
import { aFuture, aPerp } from '../../support/builders.js'
import { FAST_SENDER } from '../../support/sender-world.js'

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
  /** By which it opens series and has them registered, unix seconds; the registered markets are its futures then. */
  readonly calendar?: readonly number[]
  /** With which it takes over, as decimal digits; none by default. */
  readonly rescue?: { readonly accounts: readonly string[]; readonly mostUsd: string }
  readonly lookEveryMs?: number
}

/** A keeper as a process of its own; with `CRASH_AT` it ends itself there. */
armCrashAt()
const told = JSON.parse(process.argv[2] ?? '{}') as ArmedKeeper
const { rpcUrl, dataDir, privateKey, deploymentFile } = told
const deployment = await loadDeployment(deploymentFile)
const log = createLog('armed-keeper', 'warn', createLogOutput())
const onFatal = (error: unknown) => {
  throw error
}
const bus = await connectNatsBus({ url: told.natsUrl, name: 'keeper' })
const known = createMarketList([
  aPerp({ ...told.perp, subId: 0n }),
  ...(told.future === undefined ? [] : [aFuture(told.future)]),
])
if (told.calendar !== undefined) {
  const register = await openRegister({ bus, log, onError: onFatal })
  for (const market of register.markets) known.add(market)
  register.watch(({ market }) => known.add(market))
}
const { accounts = [], mostUsd = '0' } = told.rescue ?? {}
const nothing = (): void => undefined
await openKeeper({
  bus,
  rpcUrl,
  deployment,
  dataDir,
  signers: { current: createTransactionSigner(privateKey, deployment.chainId) },
  ...(told.lookEveryMs !== undefined && { lookEveryMs: told.lookEveryMs }),
  rescue: { accounts: accounts.map(BigInt), mostUsd: BigInt(mostUsd) },
  ...(told.calendar !== undefined && {
    calendar: told.calendar,
    orders: seriesOrders({ bus, deploymentFile, user: 'keeper', nowMs: Date.now }),
  }),
  markets: () => known.markets,
  reserveWei: 0n,
  hourBudgetWei: 10n ** 20n,
  policy: FAST_SENDER,
  facts: {
    sent: nothing,
    refused: nothing,
    confirmed: nothing,
    lost: nothing,
    unreadable: nothing,
  },
  log,
  onFatal,
})
