import { ChainUnreachable } from '../../chain/chain-unreachable.js'
import type { ChainClient } from '../../chain/client.js'
import { encodeTransfer } from '../../chain/encode-transfer.js'
import { roomyGasLimit, simulateCall } from '../../chain/simulate-match.js'
import { simulateSequence } from '../../chain/simulate-sequence.js'
import type { Address, Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import {
  chainUnreadable,
  transfersPaused,
  transfersUnavailable,
} from '../../core/transfer-refusals.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import { refusalOfRevert } from './refusal-of-revert.js'
import type { GasWallet } from './gas.js'
import type { RecordBook } from './record-book.js'
import type { SignedTransfer, TransferRules } from './transfer-rules.js'
import { intentOf } from './transactions.js'
import type { Call, Transactions } from './transactions.js'

export interface CarryOutDeps<Transfer extends SignedTransfer> {
  readonly rules: TransferRules<Transfer>
  readonly records: RecordBook
  readonly transactions: Transactions
  readonly gas: GasWallet
  /** A `read` client. */
  readonly client: ChainClient
  readonly matching: Address
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * `sent`: the transaction is journaled, and what becomes of it is the chain's to say. `refused`: nothing was sent for
 * the transfer and the record says why. `interrupted`: the process is stopping; the record stays pending.
 */
export type CarriedOut =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly refusal: TransferRefusal }
  | { readonly kind: 'interrupted' }

const SENT = { kind: 'sent' } as const
const refused = (refusal: TransferRefusal): CarriedOut => ({ kind: 'refused', refusal })

/** How long one wait for a preparation lasts before its transaction is asked about again. */
const PREPARATION_WAIT_MS = 60_000

/**
 * Takes a pending transfer to its transaction: its preparation first where it needs one, then a trial run, then the
 * journal and the wire. Begins anew after a crash without sending anything twice.
 */
export async function carryOut<Transfer extends SignedTransfer>(
  deps: CarryOutDeps<Transfer>,
  actionHash: Hex,
  transfer: Transfer,
): Promise<CarriedOut> {
  const { rules, records } = deps
  const outcome = await attempt(deps, actionHash, transfer).catch((error: unknown) => {
    if (!(error instanceof ChainUnreachable)) throw error
    return refused(chainUnreadable(rules.kind))
  })
  if (outcome.kind === 'refused') {
    const { message, revert } = outcome.refusal
    records.change(actionHash, { status: 'rejected', error: message, revert })
  }
  return outcome
}

async function attempt<Transfer extends SignedTransfer>(
  deps: CarryOutDeps<Transfer>,
  actionHash: Hex,
  transfer: Transfer,
): Promise<CarriedOut> {
  const { rules, matching, transactions } = deps
  const intentId = intentOf(rules.kind, actionHash)
  const state = transactions.stateOf(intentId)
  if (state?.kind === 'open' || state?.kind === 'mined') return SENT
  crash('transfer.after_claim')
  const data = encodeTransfer(transfer.action, transfer.signature)
  const call = { intentId, to: matching, data }
  const prepared = await prepare(deps, { actionHash, transfer, call })
  if (prepared !== 'ready') return prepared
  const notSent = await trySend(deps, call, (revert) => refusalOfRevert(rules, transfer, revert))
  if (notSent !== undefined) return refused(notSent)
  const txHash = transactions.hashOf(intentId)
  deps.records.change(actionHash, { txHash }, { submittedAtMs: deps.nowMs() })
  return SENT
}

interface Prepared<Transfer> {
  readonly actionHash: Hex
  readonly transfer: Transfer
  /** The transfer itself. */
  readonly call: Call
}

/** `ready` once nothing stands between the transfer and its own transaction any more. */
async function prepare<Transfer extends SignedTransfer>(
  deps: CarryOutDeps<Transfer>,
  { actionHash, transfer, call }: Prepared<Transfer>,
): Promise<CarriedOut | 'ready'> {
  const { rules, records, transactions, nowMs } = deps
  const need = await rules.need(transfer)
  if (need === 'nothing') return 'ready'
  if (typeof need === 'object') return refused(need.refusal)
  const preparation = rules.preparation(transfer)
  if (preparation === undefined) return 'ready'
  const { intentId, refusalOf } = preparation
  // Somebody else may have sent the same permit: then it is refused, and nothing is needed any more.
  const unlessThere = async (refusal: TransferRefusal): Promise<CarriedOut | 'ready'> =>
    (await rules.need(transfer)) === 'nothing' ? 'ready' : refused(refusal)

  const before = transactions.stateOf(intentId)
  if (before?.kind === 'mined') return refused(refusalOf('already used'))
  if (before?.kind !== 'open') {
    const inVain = await foresee(deps, preparation, { transfer, call })
    if (inVain !== undefined) return refused(inVain)
    const notSent = await trySend(deps, preparation, refusalOf)
    if (notSent !== undefined) return unlessThere(notSent)
  }
  const permitTxHash = transactions.hashOf(intentId)
  records.change(actionHash, { permitTxHash }, { submittedAtMs: nowMs() })
  crash('transfer.after_permit_sent')
  const mined = await transactions.mined(intentId, PREPARATION_WAIT_MS)
  if (mined === undefined) return { kind: 'interrupted' }
  records.change(actionHash, { permitTxHash: mined.hash })
  crash('transfer.after_permit_mined')
  return mined.status === 'success' ? 'ready' : unlessThere(refusalOf(mined.revert ?? 'unknown'))
}

/**
 * Tries the transfer out behind its preparation, so that no gas is paid for a preparation in vain; the refusal when the
 * transfer would revert. A node that cannot do that, and a preparation that reverts itself, are no reason here.
 */
async function foresee<Transfer extends SignedTransfer>(
  { rules, client, transactions }: CarryOutDeps<Transfer>,
  preparation: Pick<Call, 'to' | 'data'>,
  { transfer, call }: Pick<Prepared<Transfer>, 'transfer' | 'call'>,
): Promise<TransferRefusal | undefined> {
  const from = transactions.address
  const calls = [preparation, call].map(({ to, data }) => ({ from, to, data }))
  const foreseen = await simulateSequence(client, calls)
  if (foreseen.kind !== 'reverts' || foreseen.position === 0) return undefined
  return refusalOfRevert(rules, transfer, foreseen.revert)
}

/** Tries the call out and sends it; the refusal when it was not sent. Rejects with ChainUnreachable. */
async function trySend<Transfer extends SignedTransfer>(
  deps: CarryOutDeps<Transfer>,
  call: Call,
  refusalOf: (revert: string) => TransferRefusal | Promise<TransferRefusal>,
): Promise<TransferRefusal | undefined> {
  const { rules, transactions, gas, client } = deps
  const { to, data } = call
  const { kind } = rules
  const question = `simulation of the ${kind}`
  const [simulation, facts] = await Promise.all([
    simulateCall(client, { from: transactions.address, to, data }, question),
    gas.read(),
  ])
  if (simulation.kind === 'reverts') return refusalOf(simulation.revert)
  crash('transfer.after_simulate')
  const gasLimit = roomyGasLimit(simulation.gas)
  const { maxFeePerGas, maxPriorityFeePerGas } = facts
  const costWei = gasLimit * maxFeePerGas
  const shortage = transactions.shortage(facts, costWei)
  if (shortage !== undefined && shortage.kind !== 'gas_money') return transfersUnavailable(kind)
  const pause = shortage === undefined ? gas.pauseFor(costWei, facts) : 'gas_reserve'
  if (pause !== undefined) return transfersPaused(kind, pause)
  const fees = { gasLimit, maxFeePerGas, maxPriorityFeePerGas }
  if (!transactions.send(call, fees)) return transfersUnavailable(kind)
  return undefined
}
