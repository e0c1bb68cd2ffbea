import { z } from 'zod'
import { orderRecord } from './order-record.js'
import { hash } from './values.js'

/** Fields that every refusal has. */
const fields = {
  error: z.string().describe('What is wrong, in words; the interface fixes many of these texts.'),
  code: z.string().describe('The same, stable and for machines.'),
  field: z.string().optional().describe('The field of the request that is wrong.'),
  detail: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Facts that help to correct it, for example the nearest valid prices.'),
  request_id: z.string().describe('The same as in `X-Request-Id`.'),
}

/** The body of everything that is refused. */
export const errorBody = z.object(fields).meta({ id: 'Error', description: 'Why it was refused.' })

export const duplicateBody = z
  .object({
    ...fields,
    order: orderRecord
      .optional()
      .describe('The stored order, for whoever sends the very same signed order again.'),
  })
  .meta({ id: 'DuplicateError', description: 'The id or the nonce is taken.' })

/** Deposits and withdrawals say what the chain had against them. */
export const transferErrorBody = z
  .object({
    ...fields,
    revert: z.string().optional().describe('Name of the revert.'),
    action_hash: hash.optional().describe('With 502: what to look up.'),
    tx_hash: hash.optional().describe('With 502: what was sent last.'),
  })
  .meta({ id: 'TransferError', description: 'Why nothing was submitted, or that it is not known.' })

/** Reads that name a market answer this for one they do not know, and the usual body for the rest. */
export const marketErrorBody = z
  .object({
    ...fields,
    message: z.string().optional().describe('With `unknown_market`: which name was not found.'),
    markets: z
      .array(z.string())
      .optional()
      .describe('With `unknown_market`: the identifiers that exist.'),
  })
  .meta({ id: 'MarketError', description: 'An unknown market or another bad parameter.' })

export const notReadyBody = z
  .object({
    ...fields,
    missing: z.record(z.string(), z.string()).describe('What is not ready, and why.'),
  })
  .meta({ id: 'NotReady', description: 'Parts that do not answer.' })
