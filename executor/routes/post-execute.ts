import type Koa from 'koa'
import type { z } from 'zod'
import type { CheckTerms, Objection } from '../check-terms.js'
import type { Executions, ExecuteAnswer } from '../execute.js'
import { executePayload } from '../execute-payload.js'
import { refuse } from '../refuse.js'
import { readJsonBody } from '../read-json-body.js'

/** Keys are ids that somebody logs and looks up: short and printable. */
const KEY = /^[\x21-\x7e]{1,200}$/

export interface PostExecuteDeps extends Pick<Executions, 'execute' | 'isKnown'> {
  readonly checkTerms: CheckTerms
}

/** `POST /execute` (interface 4.14, decision E6): body 2.10, optional header `Idempotency-Key`. */
export function postExecute({ execute, isKnown, checkTerms }: PostExecuteDeps): Koa.Middleware {
  return async (ctx) => {
    const key = ctx.get('idempotency-key')
    if (key !== '' && !KEY.test(key)) {
      refuse(ctx, 400, 'Idempotency-Key must be 1 to 200 printable characters')
      return
    }
    const body = await readJsonBody(ctx)
    const parsed = executePayload.safeParse(body)
    const objections = !parsed.success
      ? parsed.error.issues.map(objectionOf)
      : // What is known is answered from its record, whatever the rules have become since.
        isKnown(key)
        ? []
        : checkTerms(parsed.data)
    const [first] = objections
    if (parsed.success && first === undefined) {
      return present(ctx, await execute(parsed.data, key === '' ? undefined : key))
    }
    // Only for a key that nothing was sent under may a 400 be taken to mean so.
    if (isKnown(key)) return present(ctx, { kind: 'mismatch' })
    refuse(ctx, 400, `invalid payload: ${describe(first)}`, { details: objections })
  }
}

const objectionOf = ({ path, message }: z.core.$ZodIssue): Objection => {
  return { field: path.join('.'), message }
}

function describe(detail: Objection | undefined): string {
  if (detail === undefined) return 'not an execute payload'
  return detail.field === '' ? detail.message : `${detail.field}: ${detail.message}`
}

function present(ctx: Koa.Context, answer: ExecuteAnswer): void {
  switch (answer.kind) {
    case 'mined':
      ctx.body = receiptBody(answer)
      return
    case 'timeout':
      ctx.body = { accepted: true, tx_hash: answer.hash, receipt_status: 'timeout' }
      return
    case 'refused':
      return refuse(ctx, 422, `the match would revert: ${answer.revert}`, {
        revert: answer.revert,
        ...(answer.guilty !== undefined && { guilty: answer.guilty }),
      })
    case 'unknown':
      return refuse(ctx, 502, 'outcome unknown, ask again with the same Idempotency-Key', {
        tx_hash: answer.hash,
      })
    case 'unavailable':
      return refuse(ctx, 503, answer.why)
    case 'mismatch':
      return refuse(ctx, 400, 'Idempotency-Key was used for another match', {
        details: [{ field: 'Idempotency-Key', message: 'was used for another match' }],
      })
  }
}

function receiptBody({ transaction, guilty }: Extract<ExecuteAnswer, { kind: 'mined' }>) {
  const { status, hash, blockNumber, revert } = transaction
  return {
    accepted: status === 'success',
    tx_hash: hash,
    receipt_status: status,
    block_number: String(blockNumber),
    ...(status === 'reverted' && { revert: revert ?? 'unknown' }),
    ...(guilty !== undefined && { guilty }),
  }
}
