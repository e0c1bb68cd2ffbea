import { z } from 'zod'
import { askTransfer, askTransferRecord } from '../bus-schemas/subjects.js'
import {
  decodeTransferAnswer,
  encodeTransferLookup,
  encodeTransferRequest,
  TRANSFER_TIMEOUT_MS,
  type TransferAnswer,
  type TransferLookup,
  type TransferRequest,
} from '../bus-schemas/transfers.js'
import type { Hex } from '../core/action.js'
import { refusals } from '../core/entry/refusals.js'
import {
  transferRecordUnreadable,
  transferRefusals,
  transferRejected,
  transfersUnavailable,
  transferUnknown,
  type TransferRefusal,
} from '../core/entry/transfer-refusals.js'
import { hasReceipt, transferReceipt, transferRecord } from '../core/records/transfer-record.js'
import { revertFieldsOf } from '../core/revert.js'
import type { TransferKind, TransferRecord } from '../core/transfer.js'
import { hash } from '../interface/values.js'
import { TransferError } from '../interface/venue.js'
import { NoAnswer, type Bus } from '../runtime/bus/bus.js'
import { clientAddress } from '../runtime/http/connections.js'
import type { AnswerContext } from '../runtime/http/server.js'
import { jsonObjectOf, readBody } from '../runtime/http/read-body.js'
import { BODY_LIMITS, refuse, type GatewayDeps, type Handler } from './context.js'
import { bodyRefusals, broken, type EndpointAnswer, type EndpointOperation } from './route.js'

/** A refusal with the error body of deposits and withdrawals. */
export const refusedTransfer = (description: string): EndpointAnswer => ({
  description,
  body: TransferError,
})

/** What both requests may answer in the same words. */
export const requestRefusals = {
  401: refusedTransfer('The signature does not authorize the action.'),
  ...bodyRefusals,
  422: refusedTransfer('It would revert on chain; `revert` names why.'),
  429: {
    ...refusedTransfer('Another one of this owner is in progress, or too many were sent.'),
    headers: ['Retry-After'],
  },
  500: broken,
  503: {
    ...refusedTransfer('Paused, or something it needs does not answer; `error` says which.'),
    headers: ['Retry-After'],
  },
} as const satisfies Readonly<Record<number, EndpointAnswer>>

/** What looking up a transfer takes and answers. */
export const lookupOperation = (kind: TransferKind, record: z.ZodType): EndpointOperation => ({
  id: kind === 'deposit' ? 'lookUpDeposit' : 'lookUpWithdrawal',
  tag: 'Deposits and withdrawals',
  summary: `Look one ${kind} up by its action hash`,
  description: 'While its outcome is open it is first read again from the chain.',
  path: z.object({ action_hash: hash }),
  responses: {
    200: { description: `The ${kind} wherever it stands.`, body: record },
    400: refusedTransfer('No action hash.'),
    404: refusedTransfer(`No such ${kind}.`),
    500: broken,
    503: { ...refusedTransfer('The record cannot be read now.'), headers: ['Retry-After'] },
  },
})

/** Passes a body that is a JSON object to the submitter of its kind, which checks its fields. */
export function submitTransfer(deps: GatewayDeps, kind: TransferKind): Handler {
  return async (ctx) => {
    const read = await readBody(ctx.req, BODY_LIMITS)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const body = read.body.toString()
    if (jsonObjectOf(body) === undefined) return refuse(ctx, refusals.invalidJsonBody)
    const request = {
      request_id: ctx.state.requestId,
      client_address: clientAddress(ctx.req, deps.trustedProxies),
      body,
    }
    answerRequest(ctx, await askToSubmit(deps.bus, kind, request))
  }
}

/** Answers with the record of the path's `action_hash`, in lower or upper case. */
export function lookUpTransfer(deps: GatewayDeps, kind: TransferKind): Handler {
  return async (ctx) => {
    const { action_hash = '' } = ctx.params
    if (!/^0x[0-9a-fA-F]{64}$/.test(action_hash)) {
      return refuseTransfer(ctx, transferRefusals.actionHashForm)
    }
    const lookup = {
      request_id: ctx.state.requestId,
      action_hash: action_hash.toLowerCase() as Hex,
    }
    answerLookup(ctx, await askForRecord(deps.bus, kind, lookup))
  }
}

type AskingBus = Pick<Bus, 'ask' | 'isConnected'>

/**
 * Passes a request to the submitter and returns its answer. Without a bus connection nothing is sent, and the refusal
 * says so; without an answer the outcome is unknown.
 */
export async function askToSubmit(
  bus: AskingBus,
  kind: TransferKind,
  request: TransferRequest,
): Promise<TransferAnswer> {
  if (!bus.isConnected()) return refused(transfersUnavailable(kind))
  const answer = await ask(bus, askTransfer(kind), encodeTransferRequest(request))
  return answer ?? refused(transferUnknown(kind))
}

/** Asks the submitter for a record. */
export async function askForRecord(
  bus: AskingBus,
  kind: TransferKind,
  lookup: TransferLookup,
): Promise<TransferAnswer> {
  const answer = bus.isConnected()
    ? await ask(bus, askTransferRecord(kind), encodeTransferLookup(lookup))
    : undefined
  return answer ?? refused(transferRecordUnreadable(kind))
}

const refused = (refusal: TransferRefusal): TransferAnswer => ({ kind: 'refused', refusal })

/** Returns undefined when no answer came in time. */
async function ask(
  bus: AskingBus,
  subject: string,
  question: Uint8Array,
): Promise<TransferAnswer | undefined> {
  try {
    return decodeTransferAnswer(await bus.ask(subject, question, TRANSFER_TIMEOUT_MS))
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}

/**
 * Answers a submission: 200 with the receipt once it was sent, 202 while it is pending, 502 while it is unknown whether
 * it was sent, else the refusal.
 */
export function answerRequest(ctx: AnswerContext, answer: TransferAnswer): void {
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

/** Answers a lookup: 200 with the record, whatever its status. */
export function answerLookup(ctx: AnswerContext, answer: TransferAnswer): void {
  if (answer.kind === 'refused') return refuseTransfer(ctx, answer.refusal)
  log(ctx, answer.record)
  ctx.body = transferRecord(answer.record)
}

/** Answers with a refusal, its revert and `Retry-After` where it has them. */
export function refuseTransfer(ctx: AnswerContext, refusal: TransferRefusal): void {
  const { revert, retryAfterSec } = refusal
  if (retryAfterSec !== undefined) ctx.set('Retry-After', retryAfterSec.toString())
  refuse(ctx, refusal, revertFieldsOf(revert))
}

function log({ state }: AnswerContext, { actionHash, status }: TransferRecord): void {
  state.logged.action_hash = actionHash
  state.logged.transfer = status
}
