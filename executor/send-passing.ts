import type { GasFacts } from '../chain/sender/gas.js'
import type { Shortage, TransactionSender } from '../chain/sender/transaction-sender.js'
import type { Address } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import type { GasLoad, InFlightBook, InFlightMatch } from './in-flight.js'
import type { ExecutorObserver } from './observe.js'
import { partBehind } from './place-apart.js'
import type {
  CodeGas,
  MatchPacker,
  PackedTransaction,
  QueuedSettlement,
  SimulatedMatch,
} from './settlement.js'

export interface SendDeps {
  readonly packer: MatchPacker
  readonly book: InFlightBook
  readonly txSender: TransactionSender
  readonly facts: ExecutorObserver
}

/** A settlement that passed its simulation, and the gas that it used. */
export interface PassedSettlement {
  readonly queued: QueuedSettlement
  readonly gas: bigint
  /** Present where a signer is code: with which others it may share a transaction, and its gas. */
  readonly code?: CodeGas & { readonly key: string }
}

/** The matches that were sent, and the settlements that wait for a later transaction. */
interface SentMatches {
  readonly sent: readonly InFlightMatch[]
  readonly kept: readonly PassedSettlement[]
  /** False when the sender accepts no more now, and all other settlements were answered with that. */
  readonly complete: boolean
}

interface SendRequest {
  readonly passing: readonly PassedSettlement[]
  readonly gas: GasFacts
  /** Whether more settlements wait after the group. */
  readonly moreWait: boolean
  /** The gas of transactions in flight that code has signed. */
  readonly codeGas: bigint
}

/**
 * Signs and sends transactions until all settlements are sent or the sender accepts no more, and answers each settlement.
 * When more wait after the group, the last settlements are kept unless they fill a transaction. Of what the same code has
 * signed one transaction is sent, unless each match is simulated by itself: the rest was simulated after it, where storage
 * is warm, and would be first in its own. That rest is kept, and so is what code has signed beyond half a block of gas in
 * flight, each with all that comes after it on its accounts. Does not yield. Throws SenderFrozen, JournalUnwritable and
 * SignerUnavailable.
 */
export function sendPassing(deps: SendDeps, request: SendRequest): SentMatches {
  const { passing, gas } = request
  const sent: InFlightMatch[] = []
  const kept: PassedSettlement[] = []
  // Keeping matches back would delay those queued after code by another transaction, so with code in the group none are kept.
  const moreWait = request.moreWait && passing.every(({ code }) => code === undefined)
  const mostCodeGas = gas.blockGasLimit / 2n
  let { codeGas } = request
  let unsent = passing
  const keep = (count: number): void => {
    const parted = partBehind(unsent, count, ({ queued }) => queued.settlement.accountIds)
    kept.push(...parted.behind)
    unsent = parted.others
  }
  for (;;) {
    const [first] = unsent
    if (first === undefined) return { sent, kept, complete: true }
    const run = runOf(unsent)
    const packed = deps.packer.pack(run.map(simulatedOf))
    if (moreWait && sent.length > 0 && !packed.isFull) return { sent, kept: unsent, complete: true }
    const included = unsent.slice(0, packed.count)
    const isOfCode = first.code !== undefined
    if (isOfCode && codeGas > 0n && codeGas + packed.gasLimit > mostCodeGas) {
      keep(deps.packer.maxAhead > 0 ? run.length : included.length)
      continue
    }
    const shortage = deps.txSender.shortage(gas, packed.gasLimit * gas.maxFeePerGas)
    if (shortage !== undefined) {
      const why = describe(shortage, deps.txSender.address)
      for (const { queued } of [...kept, ...unsent]) queued.resolve({ kind: 'unavailable', why })
      return { sent, kept: [], complete: false }
    }
    unsent = unsent.slice(packed.count)
    sent.push(...sendOne(deps, included, packed, gas))
    if (!isOfCode) continue
    codeGas += packed.gasLimit
    if (deps.packer.maxAhead > 0) keep(run.length - packed.count)
  }
}

/** The leading ones that may share a transaction. */
function runOf(unsent: readonly PassedSettlement[]): readonly PassedSettlement[] {
  const end = unsent.findIndex(({ code }) => code?.key !== unsent[0]?.code?.key)
  return end === -1 ? unsent : unsent.slice(0, end)
}

const simulatedOf = ({ queued, gas, code }: PassedSettlement): SimulatedMatch => ({
  match: queued.settlement,
  gas,
  ...(code && { code: { alone: code.alone } }),
})

function sendOne(
  { txSender, book }: SendDeps,
  included: readonly PassedSettlement[],
  packed: PackedTransaction,
  { maxFeePerGas, maxPriorityFeePerGas }: GasFacts,
): InFlightMatch[] {
  assert(included.length > 0, 'a transaction settles nothing')
  const settlements = included.map(({ queued }) => queued.settlement)
  const { gasLimit } = packed
  crash('executor.before_journal')
  const transaction = txSender.take({
    intents: settlements.map(({ intentId, fingerprint }) => ({ intentId, fingerprint })),
    to: packed.to,
    data: packed.data,
    fees: { gasLimit, maxFeePerGas, maxPriorityFeePerGas },
  })
  const { evmNonce } = transaction
  book.add(evmNonce, settlements, loadOf(included, gasLimit))
  for (const { queued } of included) queued.resolve({ kind: 'sent', transaction })
  return settlements.map((settlement) => ({ ...settlement, evmNonce }))
}

const loadOf = (included: readonly PassedSettlement[], gasLimit: bigint): GasLoad => ({
  gasLimit,
  isOfCode: included[0]?.code !== undefined,
  dustGas: included.reduce(
    (sum, { queued, gas }) => (queued.isDust === true ? sum + gas : sum),
    0n,
  ),
})

/** Names the signer whose gas money is short: each signer has its own. */
const describe = ({ kind, why }: Shortage, signer: Address): string =>
  kind === 'gas_money' ? `${why}: ${signer}` : why
