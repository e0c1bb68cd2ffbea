import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { indexRefusals, readIndexStatus } from '../../core/entry/read-index-status.js'
import { IndexStatus } from '../../interface/perpetual.js'
import { jsonObjectOf, readBody } from '../../runtime/http/read-body.js'
import { BODY_LIMITS, refuse } from '../context.js'
import { createIndexGate } from '../index-lag.js'
import { bodyRefusals, broken, refused, type Route } from '../route.js'

/** `POST /v1/internal/index-status`: a sample of the price outside, from the operator's own feed (PER-020). */
export const postIndexStatus: Route = {
  method: 'POST',
  path: '/v1/internal/index-status',
  operation: {
    id: 'reportIndexStatus',
    tag: 'Venue',
    summary: 'Report a sample of the price outside of the venue',
    description:
      'For the operator alone, with the token in the header that is set up for it (`X-Index-Token`). While the index of a perpetual is too far from the newest sample, or there is none of the last minutes, a venue may be set up to refuse its new orders (`index_lag`).',
    headers: z.object({
      'X-Index-Token': z
        .string()
        .regex(/^[!-~]+$/)
        .describe('The operator’s token.'),
    }),
    body: IndexStatus,
    responses: {
      204: { description: 'The sample is recorded, or a newer one was.' },
      400: refused('Malformed.'),
      401: refused('The token is missing or wrong.'),
      404: refused('This venue takes no samples.'),
      ...bodyRefusals,
      500: broken,
      503: { ...refused('The sample was not recorded.'), headers: ['Retry-After'] },
    },
  },
  handler({ bus, indexToken, nowMs }) {
    const gate = createIndexGate(bus)
    const isToken = tokenTest(indexToken?.value)
    return async (ctx) => {
      if (indexToken === undefined) return refuse(ctx, indexRefusals.off)
      if (!isToken(ctx.get(indexToken.header))) return refuse(ctx, indexRefusals.token)
      const read = await readBody(ctx.req, BODY_LIMITS)
      if ('refusal' in read) return refuse(ctx, read.refusal)
      const status = readIndexStatus(jsonObjectOf(read.body.toString()), nowMs())
      if ('refusal' in status) return refuse(ctx, status.refusal)
      const outcome = await gate.report(status.sample)
      if (outcome === 'off') return refuse(ctx, indexRefusals.off)
      if (outcome === 'unknown') return refuse(ctx, indexRefusals.unavailable)
      ctx.status = 204
    }
  },
}

/** Compares digests: they have one length, so that the comparison takes the same time whatever was sent. */
function tokenTest(token: string | undefined): (sent: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const expected = digest(token ?? '')
  return (sent) => token !== undefined && timingSafeEqual(digest(sent), expected)
}
