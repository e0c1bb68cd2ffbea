import type Koa from 'koa'
import { revertFields, revertFieldsOf } from '../../core/revert.js'
import type { ReversalRecord, ReversalsPage } from '../../interface/execute.js'
import type { HttpState } from '../../runtime/http/server.js'
import { executorRefusals, MAX_REVERSALS, refuse } from '../refusals.js'
import type { ReadDurableReversals } from '../open-executor.js'
import type { FinalOutcome, OutcomeReversal } from '../reversals.js'

const WHOLE = /^(0|[1-9][0-9]{0,14})$/

/**
 * `GET /reversals?after=<no>&limit=<1 to 100>`: settlements whose final outcome differs from the recorded one, in order
 * of their number, from the one after `after` (0 for all), as a `ReversalsPage`. 400 for a parameter that is not a whole
 * number.
 */
export function getReversals(readReversals: ReadDurableReversals): Koa.Middleware<HttpState> {
  return async (ctx) => {
    const after = numberOf(ctx.query.after, 0)
    const limit = numberOf(ctx.query.limit, MAX_REVERSALS)
    if (after === undefined) return refuse(ctx, executorRefusals.after)
    if (limit === undefined || limit < 1 || limit > MAX_REVERSALS) {
      return refuse(ctx, executorRefusals.limit)
    }
    const page: ReversalsPage = { reversals: (await readReversals(after, limit)).map(reversalJson) }
    ctx.body = page
  }
}

function numberOf(text: string | string[] | undefined, byDefault: number): number | undefined {
  if (text === undefined) return byDefault
  return typeof text === 'string' && WHOLE.test(text) ? Number.parseInt(text, 10) : undefined
}

function reversalJson({ no, settlementId, before, now }: OutcomeReversal): ReversalRecord {
  const { status, hash, blockNumber, revert } = before
  return {
    no,
    settlement_id: settlementId,
    before: {
      status,
      ...revertFieldsOf(revert),
      tx_hash: hash,
      block_number: String(blockNumber),
    },
    now: outcomeJson(now),
  }
}

function outcomeJson(now: FinalOutcome): ReversalRecord['now'] {
  if (now.status === 'success') {
    return { status: 'success', tx_hash: now.txHash, block_number: String(now.blockNumber) }
  }
  return {
    status: 'reverted',
    ...revertFields(now.revert),
    ...(now.txHash !== undefined && { tx_hash: now.txHash }),
    ...(now.blockNumber !== undefined && { block_number: String(now.blockNumber) }),
  }
}
