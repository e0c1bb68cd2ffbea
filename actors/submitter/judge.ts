import type { TransferAnswer } from '../../bus-schemas/transfer-requests.js'
import { ChainUnreachable } from '../../chain/chain-unreachable.js'
import type { TransferReader } from '../../chain/read-transfer.js'
import type { SignatureVerifier } from '../../chain/verify-signature.js'
import type { Hex } from '../../core/action.js'
import { readTransferBody } from '../../core/read-transfer-body.js'
import type { TransferBody } from '../../core/read-transfer-body.js'
import {
  chainUnreadable,
  transferInProgress,
  transfersPaused,
} from '../../core/transfer-refusals.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import type { TransferRecord } from '../../core/transfer.js'
import type { ChainClock } from './chain-clock.js'
import { checkSignature } from './check-signature.js'
import type { SignatureDeps } from './check-signature.js'
import type { GasWallet } from './gas.js'
import type { Limits } from './limits.js'
import type { RecordBook } from './record-book.js'
import type { SignedTransfer, TransferRules } from './transfer-rules.js'

export interface JudgeDeps<Transfer extends SignedTransfer> extends SignatureDeps {
  readonly rules: TransferRules<Transfer>
  readonly verifier: SignatureVerifier
  readonly records: RecordBook
  readonly limits: Limits
  readonly gas: GasWallet
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly clock: ChainClock
  readonly reader: Pick<TransferReader, 'blockTimeSec'>
}

/** One request, as it came from the bus. */
export interface Asked {
  /** The client's own JSON text. */
  readonly body: string
  readonly clientAddress: string
  /** Whether the asker has been given up: then nothing may be claimed for it any more. */
  readonly isLate: () => boolean
}

/** The answer, or a record that was just claimed and is to be carried out now. */
export type Judged<Transfer> =
  | TransferAnswer
  | { readonly kind: 'claimed'; readonly record: TransferRecord; readonly transfer: Transfer }

/**
 * Takes requests through every check to their claim, in the order of decision E1: form, record, limits, signature,
 * chain, claim. Of several requests with one action one is judged, the others are given what became of it.
 */
export function createJudge<Transfer extends SignedTransfer>(deps: JudgeDeps<Transfer>) {
  const { rules, verifier, records, limits, clock } = deps
  /** Bounded by the requests that are open. */
  const judging = new Map<Hex, Promise<Judged<Transfer>>>()

  const answerable = (actionHash: Hex): TransferAnswer | undefined => {
    const record = records.find(actionHash)
    return record === undefined || record.status === 'rejected'
      ? undefined
      : { kind: 'record', record }
  }

  return async (asked: Asked): Promise<Judged<Transfer>> => {
    const body = readTransferBody(rules.kind, parseJson(asked.body))
    if ('refusal' in body) return refused(body.refusal)
    const actionHash = verifier.digest(body.action)
    const recorded = answerable(actionHash)
    if (recorded !== undefined) return recorded
    const transfer = rules.validate(body, clock.latestMs())
    if ('refusal' in transfer) return refused(transfer.refusal)
    const { action, signature } = transfer
    const limited = limits.refuse(action.owner, actionHash)
    if (limited !== undefined) return refused(limited)

    const fault = await checkSignature(deps, action, signature)
    if (fault?.kind === 'unreadable') return refused(fault.refusal)
    if (fault !== undefined)
      return refused(limits.countStranger(asked.clientAddress) ?? fault.refusal)
    const same = judging.get(actionHash)
    if (same !== undefined) return afterSame(await same)
    const meanwhile = answerable(actionHash)
    if (meanwhile !== undefined) return meanwhile
    const judged = judgeSigned(deps, { asked, actionHash, body, transfer }).finally(() =>
      judging.delete(actionHash),
    )
    judging.set(actionHash, judged)
    return judged
  }
}

/** What was claimed by one request is a record to the others. */
const afterSame = <Transfer>(judged: Judged<Transfer>): TransferAnswer =>
  judged.kind === 'claimed' ? { kind: 'record', record: judged.record } : judged

const refused = (refusal: TransferRefusal): TransferAnswer => ({ kind: 'refused', refusal })

/** Undefined for text that is not JSON, which is refused like any other body that is no object. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface Signed<Transfer> {
  readonly asked: Asked
  readonly actionHash: Hex
  readonly body: TransferBody
  readonly transfer: Transfer
}

async function judgeSigned<Transfer extends SignedTransfer>(
  deps: JudgeDeps<Transfer>,
  signed: Signed<Transfer>,
): Promise<Judged<Transfer>> {
  const { rules, records, limits } = deps
  const { asked, actionHash, transfer } = signed
  const { kind } = rules
  const { action, asset, amount } = transfer
  const { owner, nonce, subaccountId } = action
  const limited = limits.refuse(owner, actionHash)
  if (limited !== undefined) return refused(limited)
  limits.countOwner(owner)

  const against = await askChain(deps, signed)
  if (against !== undefined) return refused(against)
  if (asked.isLate()) return refused(chainUnreadable(kind))
  const hourly = limits.refuseHourly(owner, actionHash)
  if (hourly !== undefined) return refused(hourly)
  const atMs = deps.nowMs()
  const record: TransferRecord = {
    ...{ kind, actionHash, status: 'pending', owner, nonce, asset, amount },
    ...{ subaccountIdRequested: subaccountId, createdAtMs: atMs, updatedAtMs: atMs },
  }
  if (!records.claim(record, asked.body)) return refused(transferInProgress(kind))
  return { kind: 'claimed', record, transfer }
}

async function askChain<Transfer extends SignedTransfer>(
  { rules, gas, clock, reader }: JudgeDeps<Transfer>,
  { body, transfer }: Signed<Transfer>,
): Promise<TransferRefusal | undefined> {
  try {
    const [blockSec, against] = await Promise.all([reader.blockTimeSec(), rules.preCheck(transfer)])
    clock.saw(blockSec)
    // The newest block may be ahead of our clock, and the action expired to it.
    const late = rules.validate(body, clock.latestMs())
    if ('refusal' in late) return late.refusal
    if (against !== undefined) return against
    // What the transaction may cost is not known before it is tried out; whether anything can be paid is.
    const pause = gas.pauseFor(1n, await gas.read())
    return pause === undefined ? undefined : transfersPaused(rules.kind, pause)
  } catch (error) {
    if (error instanceof ChainUnreachable) return chainUnreadable(rules.kind)
    throw error
  }
}
