import type { Bus } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { Running } from '../../bus-schemas/process.js'
import type { Hex } from '../../core/action.js'
import { readAction } from '../../core/action-json.js'
import { InvariantBroken, assert } from '../../core/assert.js'
import type { Order } from '../../core/order.js'
import { readStatement } from '../../core/order-statement.js'
import type { AccountReader } from '../../chain/read-account.js'
import type { SignatureVerifier } from '../../chain/verify-signature.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { type CommandLog, LogMismatch } from './command-log.js'
import { followOrders } from './follow-orders.js'
import type { OrderWatch } from './order-watch.js'
import { type RecheckDeps, recheckSignatures } from './recheck-signatures.js'

export interface SignatureWatchOptions {
  readonly bus: Bus
  readonly registry: IntakeRegistry
  readonly watch: OrderWatch
  readonly verifier: SignatureVerifier
  readonly accounts: AccountReader
  /** By market. */
  readonly commandLogs: ReadonlyMap<string, CommandLog>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly recheckEveryMs: number
  readonly log: Logger
  /** Feed, log or registry cannot be relied on any more. */
  readonly onFatal: (error: unknown) => void
}

/** Follows the live orders of every market and asks the chain about their signatures again and again. */
export async function watchSignatures(options: SignatureWatchOptions): Promise<Running> {
  const { commandLogs } = options
  const followings = await Promise.all(
    [...commandLogs.keys()].map((market) => followOrders({ ...options, market })),
  )
  const rounds = repeatRechecks(options, {
    ...options,
    tell: async (market, command) => {
      const commandLog = commandLogs.get(market)
      assert(commandLog !== undefined, `an order of ${market}, which has no command log`)
      return (await commandLog.submit({ command })).kind === 'logged'
    },
  })
  return {
    stop: async () => {
      await rounds.stop()
      await Promise.all(followings.map((following) => following.stop()))
    },
  }
}

/** One round after the other, with a pause between; what a round could not tell the log, the next one does. */
function repeatRechecks(
  { recheckEveryMs, log, onFatal }: SignatureWatchOptions,
  deps: RecheckDeps,
): Running {
  let timer: NodeJS.Timeout | undefined
  let round = Promise.resolve()
  let stopping = false
  const failed = (error: unknown): void => {
    if (error instanceof InvariantBroken || error instanceof LogMismatch) return onFatal(error)
    if (!stopping) log.error({ err: error }, 'signatures could not be checked again')
  }
  const schedule = (): void => {
    if (stopping) return
    timer = setTimeout(() => {
      round = recheckSignatures(deps).catch(failed).then(schedule)
    }, recheckEveryMs)
  }
  schedule()
  return {
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      await round
    },
  }
}

/** The digest that the order's signature is over. Its action was read before, so it can be read again. */
export function digestOfOrder(verifier: Pick<SignatureVerifier, 'digest'>, order: Order): Hex {
  const read = readAction(readStatement(order.statement).action)
  assert(!('refusal' in read), `the action of order ${order.orderId} cannot be read`)
  return verifier.digest(read.action)
}
