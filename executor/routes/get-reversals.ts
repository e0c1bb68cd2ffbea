import type Koa from 'koa'
import type { FinalOutcome, ReadReversals, SettlementReversal } from '../reversals.js'
import { refuse } from '../refuse.js'

const LIMIT_MAX = 100
const WHOLE = /^(0|[1-9][0-9]{0,14})$/

/**
 * `GET /reversals?after=<no>&limit=<1 to 100>`: settlements whose outcome is another than was recorded before, above a
 * number (0 for all), in order, each once it is final: `{reversals: [{no, settlement_id, before, now}]}`, where `before`
 * and `now` have `status` (`success` or `reverted`), `revert` of the latter, and `tx_hash` with `block_number` where a
 * transaction carried it out. 400 for anything that is no number.
 */
export function getReversals(readReversals: ReadReversals): Koa.Middleware {
  return (ctx) => {
    const after = numberOf(ctx.query.after, 0)
    const limit = numberOf(ctx.query.limit, LIMIT_MAX)
    if (after === undefined) return refuse(ctx, 400, 'after must be a whole number')
    if (limit === undefined || limit < 1 || limit > LIMIT_MAX) {
      return refuse(ctx, 400, `limit must be between 1 and ${LIMIT_MAX}`)
    }
    ctx.body = { reversals: readReversals(after, limit).map(wordReversal) }
  }
}

function numberOf(text: string | string[] | undefined, otherwise: number): number | undefined {
  if (text === undefined) return otherwise
  return typeof text === 'string' && WHOLE.test(text) ? Number.parseInt(text, 10) : undefined
}

function wordReversal({ no, settlementId, before, now }: SettlementReversal) {
  const { status, hash, blockNumber, revert } = before
  return {
    no,
    settlement_id: settlementId,
    before: {
      status,
      ...(revert !== undefined && { revert }),
      tx_hash: hash,
      block_number: String(blockNumber),
    },
    now: wordOutcome(now),
  }
}

const wordOutcome = (now: FinalOutcome) => ({
  status: now.status,
  ...(now.status === 'reverted' && { revert: now.revert }),
  ...(now.txHash !== undefined && { tx_hash: now.txHash }),
  ...(now.blockNumber !== undefined && { block_number: String(now.blockNumber) }),
})
