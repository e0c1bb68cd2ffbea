import type { Address } from '../../core/action.js'
import type { Refusal } from '../../core/entry/refusals.js'
import { refusals } from '../../core/entry/refusals.js'
import { asJsonObject, sentField, type JsonFields } from '../../core/json.js'
import { cancelledOrder, refusalOfMarkets } from '../../core/records/cancels-record.js'
import type { CancelsAnswer } from '../../interface/cancels.js'
import { askOneMarket } from '../../runtime/bus/ask-intake.js'
import type { Bus } from '../../runtime/bus/bus.js'

/** The markets that a frame of a socket may mean. */
export interface AskedMarkets {
  /** The canonical name of a market, by any of its names. */
  readonly findMarket: (identifier: string) => string | undefined
  readonly listedMarkets: () => readonly string[]
}

interface CancelAllRequest {
  /** The frame, unchecked. */
  readonly fields: unknown
  /** Who has authenticated the socket. */
  readonly owner: Address
  readonly requestId: string
}

/** What every market has done. */
interface CancelledInAll extends CancelsAnswer {
  readonly feed_seqs: Readonly<Record<string, number>>
}

type CancelAllOutcome =
  CancelledInAll | { readonly refusal: Refusal; readonly beside: object } | 'unknown_market'

/** The market of the frame, undefined for all, and the body of its request as REST takes it; what else the intake refuses is left to it. */
export function readCancelAllFrame(
  { findMarket }: Pick<AskedMarkets, 'findMarket'>,
  frame: unknown,
  owner: Address,
): { readonly market: string | undefined; readonly body: JsonFields } | 'unknown_market' {
  const sent = Object.entries(asJsonObject(frame) ?? {})
  const fields = Object.fromEntries(sent.filter(([name]) => name !== 'op' && name !== 'req_id'))
  const body = { owner_address: owner, ...fields }
  const named = sentField(fields, 'market')
  if (named === undefined) return { market: undefined, body }
  const market = typeof named === 'string' ? findMarket(named) : undefined
  return market === undefined ? 'unknown_market' : { market, body: { ...body, market } }
}

/** Cancels all orders of the owner in every market that is meant, and resolves with what the markets have answered. */
export async function cancelAll(
  { bus, ...markets }: AskedMarkets & { readonly bus: Pick<Bus, 'ask' | 'isConnected'> },
  { fields, owner, requestId: request_id }: CancelAllRequest,
): Promise<CancelAllOutcome> {
  const read = readCancelAllFrame(markets, fields, owner)
  if (read === 'unknown_market') return read
  const body = JSON.stringify(read.body)
  const names = read.market === undefined ? markets.listedMarkets() : [read.market]
  const answers = await Promise.all(
    names.map(async (market) => {
      const kind = 'cancel_all' as const
      const sent = { request_id, kind, market, body, authenticated: owner }
      return { market, answer: await askOneMarket(bus, sent) }
    }),
  )
  const done = answers.flatMap(({ market, answer }) =>
    answer?.kind === 'cancels' ? [{ market, ...answer }] : [],
  )
  const refused = answers.flatMap(({ market, answer }) => {
    if (answer?.kind === 'cancels') return []
    const refusal = answer?.kind === 'refused' ? answer.refusal : refusals.cancelTarget
    return [{ market, refusal }]
  })
  const shown: CancelsAnswer = {
    orders: done.flatMap(({ market, outcomes }) =>
      outcomes.map((outcome) => cancelledOrder(market, outcome)),
    ),
    left: done.reduce((sum, { left }) => sum + left, 0),
  }
  const failure = refusalOfMarkets(refused, done.length)
  if (failure === undefined) {
    const feed_seqs = Object.fromEntries(done.map(({ market, feed_seq }) => [market, feed_seq]))
    return { ...shown, feed_seqs }
  }
  const { refusal, failedMarkets } = failure
  const beside = failedMarkets === undefined ? {} : { ...shown, failed_markets: failedMarkets }
  return { refusal, beside }
}
