import { z } from 'zod'
import { type Answer, type ResponseHeader, readRefusals } from './operation.js'
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

/** What a read of one market may answer besides its own; also then it may have been named by a deprecated word. */
export const marketRefusals: Readonly<Record<number, Answer>> = {
  400: {
    description: '`unknown_market` with the identifiers that exist, or a bad parameter.',
    body: marketErrorBody,
    headers: aliasHeaders,
  },
  500: { ...readRefusals[500], headers: aliasHeaders },
  503: { ...readRefusals[503], headers: aliasHeaders },
}
