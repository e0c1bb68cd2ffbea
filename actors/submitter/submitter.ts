import type { TransferAnswer } from '../../bus-schemas/transfer-requests.js'
import type { Hex } from '../../core/action.js'
import { chainUnreadable, transferNotFound } from '../../core/transfer-refusals.js'
import type { TransferKind, TransferRecord } from '../../core/transfer.js'
import type { Jobs } from './jobs.js'
import type { Asked, Judged } from './judge.js'
import type { RecordBook } from './record-book.js'
import { intentOf } from './transactions.js'
import type { Transactions } from './transactions.js'
import { within } from './within.js'

export interface SubmitterDeps<Transfer> {
  readonly kind: TransferKind
  readonly judge: (asked: Asked) => Promise<Judged<Transfer>>
  readonly jobs: Jobs<Transfer>
  readonly records: RecordBook
  readonly transactions: Pick<Transactions, 'minedWithin' | 'stateOf'>
  /** Brings a record to what the chain says of it; leaves it as it is while the chain does not answer. */
  readonly follow: (actionHash: Hex) => Promise<void>
}

/** What requests and lookups are answered with. */
export interface Submitter {
  readonly submit: (asked: Asked, withinMs: number) => Promise<TransferAnswer>
  readonly lookUp: (actionHash: Hex) => Promise<TransferAnswer>
}

/** How long a look at the chain may hold up an answer that the record can give. */
const LOOK_AGAIN_MS = 2_000

export function createSubmitter<Transfer>(deps: SubmitterDeps<Transfer>): Submitter {
  const { kind, judge, jobs, records } = deps

  async function submit(asked: Asked, withinMs: number): Promise<TransferAnswer> {
    const deadline = performance.now() + withinMs
    const left = (): number => Math.max(0, deadline - performance.now())
    let givenUp = false
    const isLate = (): boolean => givenUp || asked.isLate()
    const judged = await within(withinMs, judge({ ...asked, isLate }))
    if (judged === undefined) {
      // A timer may be early by our clock: what is answered so must never be claimed after all, for nobody would carry it out.
      givenUp = true
      return { kind: 'refused', refusal: chainUnreadable(kind) }
    }
    if (judged.kind === 'refused') return judged
    const { actionHash } = judged.record
    if (judged.kind === 'record') return answerRepeat(deps, judged.record)
    const job = jobs.carryOut(actionHash, judged.transfer)
    const carried = await within(left(), job)
    if (carried?.kind === 'refused') return carried
    const record = await records.settled(actionHash, left())
    const late = record.status === 'rejected' ? await job : undefined
    return late?.kind === 'refused' ? late : { kind: 'record', record }
  }

  return {
    submit,
    async lookUp(actionHash) {
      const record = records.find(actionHash)
      if (record === undefined) return { kind: 'refused', refusal: transferNotFound(kind) }
      return { kind: 'record', record: await lookAgain(deps, record) }
    },
  }
}

/** A repeated request is answered from the record; what it does not know yet the chain is asked again. */
async function answerRepeat<Transfer>(
  deps: SubmitterDeps<Transfer>,
  record: TransferRecord,
): Promise<TransferAnswer> {
  if (record.status === 'pending') return { kind: 'record', record }
  return { kind: 'record', record: await lookAgain(deps, record) }
}

async function lookAgain<Transfer>(
  { kind, transactions, follow, records }: SubmitterDeps<Transfer>,
  record: TransferRecord,
): Promise<TransferRecord> {
  const { actionHash, status } = record
  if (status !== 'submitted' && status !== 'unknown') return record
  const intentId = intentOf(kind, actionHash)
  // The lane asks the chain for receipts several times a second: what is mined is known to it within the wait.
  if (transactions.stateOf(intentId)?.kind === 'open') {
    await transactions.minedWithin(intentId, LOOK_ONCE_MS)
  }
  await within(LOOK_AGAIN_MS, follow(actionHash))
  return records.find(actionHash) ?? record
}

/** Long enough for one look at the chain. */
const LOOK_ONCE_MS = 500
