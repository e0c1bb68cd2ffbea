import { z } from 'zod'
import type { CancelsReply, CancelsKind } from '../bus-schemas/cancels.js'
import { findMarketByName } from '../core/entry/find-market.js'
import { notAString, refusals, type OrRefusal, type Refusal } from '../core/entry/refusals.js'
import { sentField, type JsonFields } from '../core/json.js'
import { cancelledOrder, notCancelled, refusalOfMarkets } from '../core/records/cancels-record.js'
import { isoTime } from '../core/time.js'
import { type CancelledOrder, partly } from '../interface/cancels.js'
import { ErrorBody, MarketError, serviceAuthHeader } from '../interface/venue.js'
import { askOneMarket } from '../runtime/bus/ask-intake.js'
import { jsonObjectOf, readBody } from '../runtime/http/read-body.js'
import { BODY_LIMITS, refuse, type GatewayContext, type GatewayDeps } from './context.js'
import { saySeqToo, sayingSeqs } from './feed-seqs.js'
import { markDeprecated } from './read-request.js'
import { aliasHeaders, bodyRefusals, refused, type EndpointAnswer } from './route.js'

/** What a cancel of many orders takes besides its body. */
export const cancelsHeaders = z.object({
  'X-Service-Auth': serviceAuthHeader
    .optional()
    .describe('Proof of the owner, in place of a signature.'),
})

/** The body of a refusal of which other markets have carried out their part. */
const PartlyRefused = ErrorBody.extend(partly).meta({
  id: 'PartlyRefused',
  description: 'Why it was refused, and what the other markets have done.',
})

/** What a cancel of many orders may answer besides its 200. */
export const cancelsRefused: Readonly<Record<number, EndpointAnswer>> = {
  ...bodyRefusals,
  400: {
    description: 'Malformed, or `unknown_market`; nothing was cancelled.',
    body: MarketError,
  },
  403: refused(
    'No proof, or one that is void, used or another owner’s; nothing was cancelled. Or a page of an origin that is not allowed.',
  ),
  500: sayingSeqs({
    description: 'In some markets it is not known what was done; safe to retry, with a new proof.',
    body: PartlyRefused,
    headers: ['Retry-After'],
  }),
}

/** The answers to a body that may name its market by a deprecated identifier, which headers report. */
export const ofNamedMarket = (
  answers: Readonly<Record<number, EndpointAnswer>>,
): Readonly<Record<number, EndpointAnswer>> =>
  Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const headers = [...(answer.headers ?? []), ...aliasHeaders]
      return [status, { ...answer, headers }]
    }),
  )

/** What each asked market has answered. */
export interface AnsweredMarket {
  readonly market: string
  readonly answer: CancelsReply
}

/** A request that every asked market has answered, or its refusal with what was done nevertheless. */
export interface CancelsResult {
  readonly sent: JsonFields
  readonly answered: readonly AnsweredMarket[]
  readonly refusal?: Refusal
  readonly failedMarkets?: readonly object[]
}

/** Reads the body and asks the market that it names, or all; undefined when the request was refused and is answered. */
export async function askMarkets(
  ctx: GatewayContext,
  deps: GatewayDeps,
  kind: CancelsKind,
): Promise<CancelsResult | undefined> {
  const read = await readBody(ctx.req, BODY_LIMITS)
  if ('refusal' in read) return void refuse(ctx, read.refusal)
  const body = read.body.toString()
  const sent = jsonObjectOf(body)
  if (sent === undefined) return void refuse(ctx, refusals.invalidJsonBody)
  const markets = marketsOf(ctx, deps, kind, sent)
  if ('refusal' in markets) return void refuse(ctx, markets.refusal)
  const auth = ctx.get(deps.auth.header)
  const request = {
    request_id: ctx.state.requestId,
    kind,
    body,
    ...(auth !== '' && { service_auth: auth }),
  }
  const answers = await Promise.all(
    markets.names.map(async (market): Promise<AnsweredMarket> => {
      const answer = await askOneMarket(deps.bus, { ...request, market })
      return { market, answer: answer ?? { kind: 'refused', refusal: refusals.cancelTarget } }
    }),
  )
  return judge(ctx, deps, sent, answers)
}

/** A deprecated identifier is reported in the answer's headers. */
function marketsOf(
  ctx: GatewayContext,
  deps: GatewayDeps,
  kind: CancelsKind,
  sent: JsonFields,
): OrRefusal<{ readonly names: readonly string[] }> {
  const { markets, nowMs, aliasCutoffMs } = deps
  const named = kind === 'cancel_orders' ? undefined : sentField(sent, 'market')
  if (named === undefined) return { names: markets.map(({ market }) => market) }
  if (typeof named !== 'string') return { refusal: notAString('market') }
  const found = findMarketByName(markets, named, {
    nowMs: nowMs(),
    aliasesUntilMs: aliasCutoffMs,
  })
  if ('refusal' in found) return found
  markDeprecated(ctx, deps, found)
  return { names: [found.market.market] }
}

function judge(
  ctx: GatewayContext,
  deps: GatewayDeps,
  sent: JsonFields,
  answers: readonly AnsweredMarket[],
): CancelsResult | undefined {
  const refusedBy = answers.flatMap(({ market, answer }) =>
    answer.kind === 'refused' ? [{ market, refusal: answer.refusal }] : [],
  )
  const answered = answers.filter(({ answer }) => answer.kind !== 'refused')
  for (const { market, answer } of answered) {
    if (answer.kind !== 'cancels') continue
    deps.ownWrites.answered(market, answer.feed_seq)
    saySeqToo(ctx, market, answer.feed_seq)
  }
  const refused = refusalOfMarkets(refusedBy, answered.length)
  if (refused !== undefined && answered.length === 0) return void refuse(ctx, refused.refusal)
  return { sent, answered, ...refused }
}

/** Answers what became of the orders; ids that no market knows are not active. */
export function answerCancels(ctx: GatewayContext, asked: CancelsResult): void {
  const orders = asked.answered.flatMap(({ market, answer }) =>
    answer.kind === 'cancels' ? answer.outcomes.map((each) => cancelledOrder(market, each)) : [],
  )
  const left = asked.answered.reduce(
    (sum, { answer }) => sum + (answer.kind === 'cancels' ? answer.left : 0),
    0,
  )
  const unknown = asked.refusal === undefined ? unknownOrders(asked.sent, orders) : []
  answer(ctx, asked, { orders: [...orders, ...unknown], left })
}

/** Answers until when each market holds the orders of a dead-man switch. */
export function answerLeases(ctx: GatewayContext, asked: CancelsResult): void {
  const leases = asked.answered.flatMap(({ market, answer }) => {
    if (answer.kind !== 'lease') return []
    const endsAt = answer.ends_at_ms
    return [{ market, ...(endsAt > 0 && { ends_at: isoTime(endsAt) }) }]
  })
  answer(ctx, asked, { leases })
}

function answer(
  ctx: GatewayContext,
  { refusal, failedMarkets }: CancelsResult,
  body: object,
): void {
  if (refusal === undefined) ctx.body = body
  else refuse(ctx, refusal, { failed_markets: failedMarkets, ...body })
}

function unknownOrders({ order_ids: sent }: JsonFields, known: readonly CancelledOrder[]) {
  if (!Array.isArray(sent)) return []
  const ids = new Set(known.map(({ order_id }) => order_id))
  return [...new Set(sent as string[])]
    .filter((id) => !ids.has(id))
    .map((id) => notCancelled(id, 'active_order_not_found'))
}
