import { crash } from '../core/crash-point.js'
import type { GasFacts } from '../chain/read-gas.js'
import type { Shortage, TransactionLane } from '../chain/transaction-lane.js'
import type { Address } from '../core/action.js'
import type { Carrier } from './carrier.js'
import type { InFlightBook, InFlightMatch } from './in-flight.js'
import type { ExecutorFacts } from './observe.js'
import type { Waiting } from './waiting.js'

export interface SendDeps {
  readonly carrier: Carrier
  readonly book: InFlightBook
  readonly lane: TransactionLane
  readonly facts: ExecutorFacts
}

/** A settlement that passed, and the gas that it used. */
export interface Passing {
  readonly waiting: Waiting
  readonly gas: bigint
}

/** What was sent, and what was kept for the next transaction. */
export interface Sent {
  readonly sent: readonly InFlightMatch[]
  readonly kept: readonly Passing[]
  /** False when all others were turned away, because the lane takes nothing more now. */
  readonly complete: boolean
}

/**
 * Signs and sends transaction after transaction until all are on their way or the lane takes no more, and answers each
 * settlement. When more wait behind them, those that would not fill another transaction are kept for it. Does not yield.
 * Throws as the lane does; what was answered before stands.
 */
export function sendPassing(
  deps: SendDeps,
  passing: readonly Passing[],
  gas: GasFacts,
  moreWait: boolean,
): Sent {
  const sent: InFlightMatch[] = []
  let unsent = passing
  while (unsent.length > 0) {
    const load = deps.carrier.load(
      unsent.map(({ waiting, gas: used }) => ({ match: waiting.settlement, gas: used })),
    )
    if (moreWait && sent.length > 0 && !load.isFull) return { sent, kept: unsent, complete: true }
    const shortage = deps.lane.shortage(gas, load.gasLimit * gas.maxFeePerGas)
    if (shortage !== undefined) {
      const why = describe(shortage, deps.lane.address)
      for (const { waiting } of unsent) waiting.resolve({ kind: 'unavailable', why })
      return { sent, kept: [], complete: false }
    }
    const aboard = unsent.slice(0, load.count)
    unsent = unsent.slice(load.count)
    const settlements = aboard.map(({ waiting }) => waiting.settlement)
    const { maxFeePerGas, maxPriorityFeePerGas } = gas
    crash('executor.before_journal')
    const transaction = deps.lane.take({
      intents: settlements.map(({ intentId, fingerprint }) => ({ intentId, fingerprint })),
      to: load.to,
      data: load.data,
      fees: { gasLimit: load.gasLimit, maxFeePerGas, maxPriorityFeePerGas },
    })
    const { evmNonce } = transaction
    deps.book.add(evmNonce, settlements)
    sent.push(...settlements.map((settlement) => ({ ...settlement, evmNonce })))
    for (const { waiting } of aboard) waiting.resolve({ kind: 'sent', transaction })
  }
  return { sent, kept: [], complete: true }
}

/** Whose money it is: every signer of the venue has its own. */
const describe = ({ kind, why }: Shortage, signer: Address): string =>
  kind === 'gas_money' ? `${why}: ${signer}` : why
