import type Koa from 'koa'
import type { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { revertFields, UNKNOWN_REVERT } from '../../core/revert.js'
import type { Hex } from '../../core/action.js'
import type { Findings } from '../../chain/contracts/find-guilty.js'
import type { ExecuteFailure, ExecuteReceipt } from '../../interface/execute.js'
import type { AnswerContext, HttpState } from '../../runtime/http/server.js'
import { parseJson, readBody, type BodyLimits } from '../../runtime/http/read-body.js'
import type { Admit } from '../admit.js'
import { isJsonType } from '../door.js'
import type { ExecuteAnswer, Executions } from '../execute.js'
import { executePayload, type CheckTerms, type ExecutePayload, type Objection } from '../payload.js'
import {
  executorRefusals,
  invalidPayload,
  MAX_BODY_BYTES,
  refuse,
  unavailable,
  unsettleable,
  wouldRevert,
} from '../refusals.js'

/** Keys are ids that are logged and looked up: short and printable. */
const KEY = /^[\x21-\x7e]{1,200}$/

const BODY_LIMITS: BodyLimits = {
  maxBytes: MAX_BODY_BYTES,
  maxDepth: 8,
  tooLarge: executorRefusals.bodyTooLarge,
}

export interface PostExecuteDeps extends Pick<Executions, 'execute' | 'idOf' | 'isKnown'> {
  readonly checkTerms: CheckTerms
  readonly admit: Admit
}

/** `POST /execute` (SET-048 to SET-063): a payload, optional header `Idempotency-Key`. */
export function postExecute(deps: PostExecuteDeps): Koa.Middleware<HttpState> {
  return async (ctx) => {
    const given = ctx.get('idempotency-key')
    if (given !== '' && !KEY.test(given)) return refuse(ctx, executorRefusals.keyForm)
    if (!isJsonType(ctx.get('content-type'))) return refuse(ctx, executorRefusals.notJson)
    const read = await readBody(ctx.req, BODY_LIMITS)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const body = parseJson(read.body.toString())
    if (body === undefined) return refuse(ctx, refusals.invalidJsonBody)
    const key = given === '' ? undefined : given
    const checked = await checkPayload(deps, body, key)
    if ('payload' in checked) return present(ctx, await deps.execute(checked.payload, key))
    if ('why' in checked) return refuse(ctx, unavailable(checked.why))
    // A refusal with `details` tells the caller that nothing was sent; a known key may have been sent.
    if (key !== undefined && deps.isKnown(key)) return present(ctx, { kind: 'mismatch' })
    const { objections } = checked
    const isUnsettleable = objections.every((each) => each.isUnsettleable === true)
    const refusal = isUnsettleable ? unsettleable : invalidPayload
    refuse(ctx, refusal(describe(objections[0])), {
      details: objections.map(({ field, message }) => ({ field, message })),
      ...(objections.every(({ guilty }) => guilty === 'venue') && { guilty: 'venue' }),
    } satisfies Detail)
  }
}

type CheckedPayload =
  | { readonly payload: ExecutePayload }
  | { readonly objections: readonly Objection[] }
  /** It is not known whether it may be settled. */
  | { readonly why: string }

/** A known settlement is answered from its record, even when the rules have changed since: it is not checked again. */
async function checkPayload(
  { idOf, isKnown, checkTerms, admit }: PostExecuteDeps,
  body: unknown,
  key: string | undefined,
): Promise<CheckedPayload> {
  const parsed = executePayload.safeParse(body)
  if (!parsed.success) return { objections: parsed.error.issues.map(objectionOf) }
  const payload = parsed.data
  if (isKnown(idOf(payload, key))) return { payload }
  const objections = checkTerms(payload)
  if (objections.length > 0) return { objections }
  const admission = await admit(payload, key)
  switch (admission.kind) {
    case 'admitted':
      return { payload }
    case 'refused':
      return { objections: [{ ...admission.objection, isUnsettleable: true }] }
    case 'unavailable':
      return admission
  }
}

const objectionOf = ({ path, message }: z.core.$ZodIssue): Objection => {
  return { field: path.join('.'), message }
}

function describe(detail: Objection | undefined): string {
  if (detail === undefined) return 'not an execute payload'
  return detail.field === '' ? detail.message : `${detail.field}: ${detail.message}`
}

/** What a failure says besides its text. */
type Detail = Omit<ExecuteFailure, 'error'>

function present(ctx: AnswerContext, answer: ExecuteAnswer): void {
  switch (answer.kind) {
    case 'mined':
      ctx.body = receiptBody(answer)
      return
    case 'timeout':
      ctx.body = timeoutBody(answer.hash)
      return
    case 'refused':
      return refuse(ctx, wouldRevert(answer.revert), {
        ...revertFields(answer.revert),
        ...foundOf(answer),
        ...(answer.isSpentElsewhere && { spent_elsewhere: true }),
      } satisfies Detail)
    case 'unknown':
      return refuse(ctx, executorRefusals.outcomeUnknown, { tx_hash: answer.hash } satisfies Detail)
    case 'unavailable':
      return refuse(ctx, unavailable(answer.why))
    case 'mismatch':
      return refuse(ctx, executorRefusals.keyReused, {
        details: [{ field: 'Idempotency-Key', message: 'was used for another match' }],
      } satisfies Detail)
  }
}

const timeoutBody = (hash: Hex): ExecuteReceipt => ({
  accepted: true,
  tx_hash: hash,
  receipt_status: 'timeout',
})

function receiptBody({
  transaction,
  markPrice,
  gasCost,
  ...found
}: Extract<ExecuteAnswer, { kind: 'mined' }>): ExecuteReceipt {
  const { status, hash, blockNumber, revert } = transaction
  return {
    accepted: status === 'success',
    tx_hash: hash,
    receipt_status: status,
    block_number: String(blockNumber),
    ...(markPrice !== undefined && { mark_price: String(markPrice) }),
    ...(gasCost !== undefined && { gas_cost: String(gasCost) }),
    ...(status === 'reverted' && revertFields(revert ?? UNKNOWN_REVERT)),
    ...foundOf(found),
  }
}

/** What the chain shows of a failed match. */
const foundOf = ({
  guilty,
  codeSigners,
}: Partial<Findings>): Pick<ExecuteFailure, 'guilty' | 'code_signers'> => ({
  ...(guilty !== undefined && { guilty }),
  ...(codeSigners !== undefined && { code_signers: [...codeSigners] }),
})
