import { z } from 'zod'
import type { ShownSeq } from '../bus-schemas/account-facts.js'
import { readRefusals } from '../core/entry/read-refusals.js'
import type { OrRefusal, Refusal } from '../core/entry/refusals.js'
import { feedSeqsText, raiseSeq, readFeedSeqs, type FeedSeqs } from '../core/feed-seqs.js'
import { MAX_FEED_SEQS } from '../core/limits.js'
import { MinSeqQuery } from '../interface/feed-seqs.js'
import { clientAddress, clientKey } from '../runtime/http/connections.js'
import type { GatewayContext, GatewayDeps } from './context.js'
import { readQuery } from './read-request.js'
import type { ReadDemand } from './reads.js'
import { refused, type EndpointAnswer, type Route } from './route.js'

/**
 * Every read of what feeds have made says in `X-Feed-Seq` how far of each market it shows, and waits for what its `min_seq` says.
 * An answer to an order or a cancel says it too: reads that name it show at least that.
 */
const HEADER = 'X-Feed-Seq'

/** Statuses of answers that show something, or that it does not exist. */
const SHOWING: readonly string[] = ['200', '304', '404']

/** The route of such a read with what its document says of that. */
export function asOf(route: Route): Route {
  const { query, responses } = route.operation
  const answers: Readonly<Record<number, EndpointAnswer>> = { 400: BAD_MIN_SEQ, ...responses }
  return {
    ...route,
    operation: {
      ...route.operation,
      query: z.object({ ...query?.shape, ...MinSeqQuery.shape }),
      responses: Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [
          status,
          SHOWING.includes(status) ? sayingSeqs(answer) : answer,
        ]),
      ),
    },
  }
}

const BAD_MIN_SEQ = refused('A bad `min_seq`.')

/** The answer with its header. */
export const sayingSeqs = (answer: EndpointAnswer): EndpointAnswer => ({
  ...answer,
  headers: [...(answer.headers ?? []), HEADER],
})

/** Waits until reads of the market, or of all, show what was answered and what the request asks; returns why they do not. */
export async function untilShown(
  ctx: GatewayContext,
  deps: GatewayDeps,
  market?: string,
): Promise<Refusal | undefined> {
  const asked = await shownAsAsked(ctx, deps, market)
  return 'refusal' in asked ? asked.refusal : undefined
}

/** The same of a read that needs to know what the request asks. */
export async function shownAsAsked(
  ctx: GatewayContext,
  deps: GatewayDeps,
  market?: string,
): Promise<OrRefusal<ReadDemand>> {
  const asked = askedSeqs(ctx, deps)
  if ('refusal' in asked) return asked
  const refusal = await deps.ownWrites.shown(market, asked)
  return refusal === undefined ? asked : { refusal }
}

/** What the request asks in `min_seq`, of markets of the venue. */
export function askedSeqs(
  ctx: GatewayContext,
  { markets, trustedProxies }: Pick<GatewayDeps, 'markets' | 'trustedProxies'>,
): OrRefusal<ReadDemand> {
  const { minSeq } = readRefusals
  const query = readQuery(ctx, MinSeqQuery, { min_seq: minSeq })
  if ('refusal' in query) return query
  const { min_seq: text } = query
  if (text === undefined) return { client: '', seqs: NOTHING }
  const seqs = readFeedSeqs(text)
  if (seqs === undefined) return { refusal: minSeq }
  const isListed = (name: string): boolean => markets.some(({ market }) => market === name)
  if (![...seqs.keys()].every(isListed)) return { refusal: minSeq }
  return { client: clientKey(clientAddress(ctx.req, trustedProxies)), seqs }
}

/**
 * What another process has to include in its part of an answer: of each enabled market what the read model shows, and what was
 * answered and asked of any.
 */
export function shownAtLeast(
  { ownWrites, readModel, markets }: Pick<GatewayDeps, 'ownWrites' | 'readModel' | 'markets'>,
  asked: FeedSeqs,
): FeedSeqs {
  const seqs = new Map(enabledOf(markets).map((name) => [name, readModel.projectedSeq(name)]))
  for (const [name, seq] of [...ownWrites.answeredSeqs(), ...asked]) raiseSeq(seqs, name, seq)
  return seqs
}

/** The same as a question carries it. */
export const afterOf = (seqs: FeedSeqs): ShownSeq[] =>
  Array.from(seqs, ([market, seq]) => ({ market, seq }))

const NOTHING: FeedSeqs = new Map()

/** Says what the read model shows of the market, or of every enabled one; belongs into the same `atOnce` as what is read. */
export function sayProjected(
  ctx: Pick<GatewayContext, 'set'>,
  { readModel, markets }: Pick<GatewayDeps, 'readModel' | 'markets'>,
  market?: string,
): void {
  const names = market === undefined ? enabledOf(markets).slice(0, MAX_FEED_SEQS) : [market]
  saySeqs(
    ctx,
    names.map((name) => [name, readModel.projectedSeq(name)]),
  )
}

const enabledOf = (markets: GatewayDeps['markets']): string[] =>
  markets.flatMap(({ enabled, market }) => (enabled ? [market] : []))

/** Says that the answer shows these changes and all before them. */
export function saySeqs(
  ctx: Pick<GatewayContext, 'set'>,
  seqs: Iterable<readonly [market: string, seq: number]>,
): void {
  ctx.set(HEADER, feedSeqsText(seqs))
}

/** Says it of one more market of an answer. */
export function saySeqToo(
  ctx: Pick<GatewayContext, 'set' | 'res'>,
  market: string,
  seq: number,
): void {
  const said = ctx.res.getHeader(HEADER)
  if (typeof said !== 'string') return saySeqs(ctx, [[market, seq]])
  const seqs = new Map(readFeedSeqs(said))
  raiseSeq(seqs, market, seq)
  saySeqs(ctx, seqs)
}
