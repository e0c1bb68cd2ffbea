import { hasReceipt, transferReceipt, transferRecord } from '../core/records/transfer-record.js'
import type { TransferAnswer } from '../bus-schemas/transfer-requests.js'
import {
  type TransferRefusal,
  transferRejected,
  transferUnknown,
} from '../core/transfer-refusals.js'
import type { TransferRecord } from '../core/transfer.js'
import type { GatewayContext } from './context.js'
import { refuse } from './refuse.js'

type Answering = Pick<GatewayContext, 'status' | 'body' | 'state' | 'set'>

/** Answers a request: 200 with the receipt of what was sent, 202 while it is pending, 502 when that is not known, a refusal if none. */
export function answerRequest(ctx: Answering, answer: TransferAnswer): void {
  if (answer.kind === 'refused') return refuseTransfer(ctx, answer.refusal)
  const { record } = answer
  log(ctx, record)
  if (hasReceipt(record)) {
    ctx.body = transferReceipt(record)
    return
  }
  if (record.status === 'pending') {
    ctx.status = 202
    ctx.body = transferRecord(record)
    return
  }
  const { kind, actionHash, txHash, error = 'no reason was kept', revert } = record
  if (record.status === 'rejected') {
    return refuseTransfer(ctx, transferRejected(kind, error, revert))
  }
  refuse(ctx, transferUnknown(kind), {
    action_hash: actionHash,
    ...(txHash !== undefined && { tx_hash: txHash }),
  })
}

/** Answers a lookup: 200 with the record wherever it stands. */
export function answerLookup(ctx: Answering, answer: TransferAnswer): void {
  if (answer.kind === 'refused') return refuseTransfer(ctx, answer.refusal)
  log(ctx, answer.record)
  ctx.body = transferRecord(answer.record)
}

/** The refusal with the name of the revert and the time to wait, where it has them. */
export function refuseTransfer(ctx: Answering, refusal: TransferRefusal): void {
  const { revert, retryAfterSec } = refusal
  if (retryAfterSec !== undefined) ctx.set('Retry-After', retryAfterSec.toString())
  refuse(ctx, refusal, { ...(revert !== undefined && { revert }) })
}

function log({ state }: Answering, { actionHash, status }: TransferRecord): void {
  state.logged.action_hash = actionHash
  state.logged.transfer = status
}
