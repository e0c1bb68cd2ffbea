import { z } from 'zod'
import type { Answer, ResponseHeader } from './operation.js'
import { marketErrorBody } from './error-body.js'
import { sentAddress, sentInteger } from './values.js'

/** How a read names its market. */
export const marketNaming = {
  symbol: z.string().optional().describe('Identifier of the market, case-sensitive.'),
  asset_address: sentAddress.optional().describe('With `sub_id`, in place of `symbol`.'),
  sub_id: sentInteger.optional().describe('`0` unless told.'),
}

/** Headers of an answer to a request that used a deprecated identifier. */
export const aliasHeaders: readonly ResponseHeader[] = [
  'Deprecation',
  'Sunset',
  'X-Canonical-Market',
]

/** No such market, or another parameter that is wrong. */
export const marketRefused: Answer = {
  description: '`unknown_market` with the identifiers that exist, or a bad parameter.',
  body: marketErrorBody,
}
