import { encodeTransfer } from '../../chain/contracts/calldata.js'
import { roomyGasLimit, simulateCall, simulateSequence } from '../../chain/contracts/simulate.js'
import { ChainUnreachable, type ChainClient } from '../../chain/reads/client.js'
import type { Address, Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import {
  chainUnreadable,
  transferRefusals,
  transfersPaused,
  transfersUnavailable,
  wouldRevert,
  type TransferRefusal,
} from '../../core/entry/transfer-refusals.js'
import { readTransferBody } from '../../core/entry/validate-transfer.js'
import { UNKNOWN_REVERT } from '../../core/revert.js'
import { intentOf } from '../../core/transfer.js'
import type { TransferStore } from '../../data/transfer-store.js'
import type { RecordBook } from './records.js'
import type { SignedTransfer, TransferRules } from './rules.js'
import type { GasWallet } from '../sending/gas-wallet.js'
import type { IntentCall, Transactions } from '../sending/transactions.js'

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
 * `sent`: the transaction is in the journal; its outcome comes from the chain. `refused`: nothing was sent and the
 * record holds the reason. `interrupted`: the process is stopping; the record stays pending.
 */
export type CarriedOut =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly refusal: TransferRefusal }
  | { readonly kind: 'interrupted' }

const SENT = { kind: 'sent' } as const
const INTERRUPTED = { kind: 'interrupted' } as const
const refused = (refusal: TransferRefusal): CarriedOut => ({ kind: 'refused', refusal })

/** Length of one wait for a preparation's receipt; the wait is then repeated. */
const PREPARATION_WAIT_MS = 60_000

/**
 * Sends the transaction of a pending transfer: its preparation first where it needs one, then simulation, journal and
 * broadcast. Idempotent: after a crash it starts again without sending anything twice.
 */
export async function carryOut<Transfer extends SignedTransfer>(
  deps: CarryOutDeps<Transfer>,
  actionHash: Hex,
  transfer: Transfer,
): Promise<CarriedOut> {
  const { rules } = deps
  const outcome = await attempt(deps, actionHash, transfer).catch((error: unknown) => {
    if (!(error instanceof ChainUnreachable)) throw error
    return refused(chainUnreadable(rules.kind))
  })
  return outcome.kind === 'refused' ? giveUp(deps, actionHash, outcome.refusal) : outcome
}

/** Rejects a claimed action for which nothing was sent, and that was not given up before. */
async function giveUp(
  { records }: Pick<CarryOutDeps<SignedTransfer>, 'records'>,
  actionHash: Hex,
  refusal: TransferRefusal,
): Promise<CarriedOut> {
  const { message: error, revert } = refusal
  return (await records.decline(actionHash, { error, revert })) ? refused(refusal) : INTERRUPTED
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
  const notSent = await simulateAndSend(deps, call, (revert) =>
    refusalOfRevert(rules, transfer, revert),
  )
  if (notSent !== undefined) return refused(notSent)
  if (!(await transactions.published())) return INTERRUPTED
  const txHash = transactions.hashOf(intentId)
  deps.records.change(actionHash, { txHash }, { submittedAtMs: deps.nowMs() })
  return SENT
}

interface PreparedTransfer<Transfer> {
  readonly actionHash: Hex
  readonly transfer: Transfer
  /** The transfer itself. */
  readonly call: IntentCall
}

/** `ready` when the transfer's own transaction can be sent. */
async function prepare<Transfer extends SignedTransfer>(
  deps: CarryOutDeps<Transfer>,
  { actionHash, transfer, call }: PreparedTransfer<Transfer>,
): Promise<CarriedOut | 'ready'> {
  const { rules, records, transactions, nowMs } = deps
  const need = await rules.need(transfer)
  if (need === 'nothing') return 'ready'
  if (typeof need === 'object') return refused(need.refusal)
  const preparation = rules.preparation(transfer)
  if (preparation === undefined) return 'ready'
  const { intentId, refusalOf } = preparation
  // Another sender may have used the same permit: it is then refused, but the allowance is there.
  const readyOrRefused = async (refusal: TransferRefusal): Promise<CarriedOut | 'ready'> =>
    (await rules.need(transfer)) === 'nothing' ? 'ready' : refused(refusal)

  const before = transactions.stateOf(intentId)
  if (before?.kind === 'mined') return refused(refusalOf())
  if (before?.kind !== 'open') {
    const wouldFail = await simulateBoth(deps, preparation, { transfer, call })
    if (wouldFail !== undefined) return refused(wouldFail)
    const notSent = await simulateAndSend(deps, preparation, refusalOf)
    if (notSent !== undefined) return readyOrRefused(notSent)
  }
  if (!(await transactions.published())) return INTERRUPTED
  const permitTxHash = transactions.hashOf(intentId)
  records.change(actionHash, { permitTxHash }, { submittedAtMs: nowMs() })
  crash('transfer.after_permit_sent')
  const mined = await transactions.mined(intentId, PREPARATION_WAIT_MS)
  if (mined === undefined) return INTERRUPTED
  records.change(actionHash, { permitTxHash: mined.hash })
  crash('transfer.after_permit_mined')
  return mined.status === 'success'
    ? 'ready'
    : readyOrRefused(refusalOf(mined.revert ?? UNKNOWN_REVERT))
}

/**
 * Simulates preparation and transfer in sequence, so that no gas is paid for a preparation whose transfer would revert;
 * returns the refusal in that case. Undefined also when the node cannot simulate a sequence, and when the preparation
 * itself reverts, which its own simulation reports.
 */
async function simulateBoth<Transfer extends SignedTransfer>(
  { rules, client, transactions }: CarryOutDeps<Transfer>,
  preparation: Pick<IntentCall, 'to' | 'data'>,
  { transfer, call }: Pick<PreparedTransfer<Transfer>, 'transfer' | 'call'>,
): Promise<TransferRefusal | undefined> {
  const from = transactions.address
  const calls = [preparation, call].map(({ to, data }) => ({ from, to, data }))
  const simulated = await simulateSequence(client, calls)
  if (simulated.kind !== 'reverts' || simulated.position === 0) return undefined
  return refusalOfRevert(rules, transfer, simulated.revert)
}

/** Simulates the call and sends it; returns the refusal when it was not sent. Rejects with ChainUnreachable. */
async function simulateAndSend<Transfer extends SignedTransfer>(
  deps: CarryOutDeps<Transfer>,
  call: IntentCall,
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

/**
 * The answer to a transfer that reverts in simulation, with the name of the revert: 400 with the refusal of a check whose
 * result the chain has changed since, else 422. Rejects with ChainUnreachable.
 */
export async function refusalOfRevert<Transfer extends SignedTransfer>(
  rules: Pick<TransferRules<Transfer>, 'kind' | 'isRace' | 'preCheck' | 'revertName'>,
  transfer: Transfer,
  reverted: string,
): Promise<TransferRefusal> {
  const revert = rules.revertName(transfer.asset, reverted)
  if (revert === 'OV_ActionExpired') return { ...transferRefusals.actionExpired, revert }
  if (!rules.isRace(revert)) return wouldRevert(rules.kind, revert)
  const advice = (await rules.preCheck(transfer)) ?? wouldRevert(rules.kind, revert)
  return { ...advice, status: advice.status === 422 ? 400 : advice.status, revert }
}

export interface JobsDeps<Transfer extends SignedTransfer> extends CarryOutDeps<Transfer> {
  readonly store: Pick<TransferStore, 'find'>
  readonly onFatal: (error: unknown) => void
}

/** The transfers being carried out now, each once. Bounded by the owners with a transfer in progress. */
export interface Jobs<Transfer> {
  /** Starts, or joins the running job of the action; rejects only when the process is about to end. */
  carryOut(actionHash: Hex, transfer: Transfer): Promise<CarriedOut>
  /** Rejects a claimed action for which nothing was sent; joins its running job instead where there is one. */
  giveUp(actionHash: Hex, refusal: TransferRefusal): Promise<CarriedOut>
  /** As `carryOut` from the stored request, for a pending record interrupted by a crash or a foreign transaction. */
  readonly resume: (actionHash: Hex) => void
  /** Resolves when no job is running. */
  idle(): Promise<void>
}

export function createJobs<Transfer extends SignedTransfer>(
  deps: JobsDeps<Transfer>,
): Jobs<Transfer> {
  const { rules, store, transactions, nowMs, onFatal } = deps
  const running = new Map<Hex, Promise<CarriedOut>>()

  /** An action is carried out, or given up, by one job at a time: its claim can be declined once. */
  function once(actionHash: Hex, work: () => Promise<CarriedOut>): Promise<CarriedOut> {
    const same = running.get(actionHash)
    if (same !== undefined) return same
    // What a stop interrupts may be recorded already, and is not begun again.
    const job = work().then((outcome) => {
      if (outcome.kind !== 'interrupted') running.delete(actionHash)
      return outcome
    })
    running.set(actionHash, job)
    job.catch(onFatal)
    return job
  }

  const begin = (actionHash: Hex, transfer: Transfer): Promise<CarriedOut> =>
    once(actionHash, () => carryOut(deps, actionHash, transfer))

  const decline = (actionHash: Hex, refusal: TransferRefusal): Promise<CarriedOut> =>
    once(actionHash, () => giveUp(deps, actionHash, refusal))

  return {
    carryOut: begin,
    giveUp: decline,
    resume(actionHash) {
      const stored = store.find(actionHash)
      if (stored?.record.status !== 'pending') return
      const sent = transactions.stateOf(intentOf(rules.kind, actionHash))?.kind
      // A signed transaction can still be mined, even when the action has expired since.
      if (sent === 'open' || sent === 'mined') return
      const body = readTransferBody(rules.kind, JSON.parse(stored.request))
      const transfer = 'refusal' in body ? body : rules.validate(body, nowMs())
      if ('refusal' in transfer) {
        // The action has expired and nothing was sent for it.
        void decline(actionHash, transfer.refusal)
      } else {
        void begin(actionHash, transfer)
      }
    },
    idle: async () => {
      await Promise.allSettled(running.values())
    },
  }
}
