import { hasReceipt, transferReceipt, transferRecord } from '../core/records/transfer-record.js'
import { assert } from '../core/assert.js'
import type { TransferAnswer } from '../bus-schemas/transfer-requests.js'
import { type TransferRefusal, transferUnknown } from '../core/transfer-refusals.js'
import type { TransferRecord } from '../core/transfer.js'
import type { GatewayContext } from './context.js'
import { refuse } from './refuse.js'

type Answering = Pick<GatewayContext, 'status' | 'body' | 'state' | 'set'>

/** Answers a request: 200 with the receipt of what was sent, 202 while it is pending, 502 when that is not known. */
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
  assert(record.status === 'unknown', `a request answered with a ${record.status} record`)
  const { actionHash, txHash } = record
  refuse(ctx, transferUnknown(record.kind), {
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
