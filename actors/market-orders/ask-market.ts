import { randomBytes, randomUUID } from 'node:crypto'
import {
  decodeMarketAnswer,
  encodeMarketRequest,
  type MarketChange,
  type MarketRequest,
} from '../../bus-schemas/markets.js'
import { askMarket } from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'
import { isSeries } from '../../core/contracts/future.js'
import { withTerms, type MarketTerms } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import { rowOf } from '../../data/market-row.js'
import { rowOfNextSeries } from '../../data/series-row.js'
import { NoAnswer } from '../../runtime/bus/bus.js'
import { OperatorOrderRefused } from './order-refused.js'
import type { RegisterDeps } from './register-markets.js'

/** How the matcher of a market is asked for its terms, and for a change of them. */

export interface MarketAsking {
  readonly change: MarketChange
  readonly reason: string
  readonly withinMs: number
}

/** Who asks. */
export type MarketAsker = Pick<RegisterDeps, 'bus' | 'user' | 'operatorKey' | 'nowMs'>

const SHOW_WITHIN_MS = 5_000
const NONCE_BYTES = 16

/** Asks for the terms alone. */
export const SHOW: MarketAsking = {
  change: { kind: 'show' },
  reason: '',
  withinMs: SHOW_WITHIN_MS,
}

/**
 * The market's terms, with the change where one is asked for; a change is durable in the market's log. Throws OperatorOrderRefused, also
 * when no matcher answers.
 */
export async function askTerms(
  { bus, user, operatorKey, nowMs }: MarketAsker,
  market: string,
  { change, reason, withinMs }: MarketAsking,
): Promise<MarketTerms> {
  const unsigned: MarketRequest = { request_id: randomUUID(), by: user, reason, change }
  const issued = { issuedAtMs: nowMs(), nonce: randomBytes(NONCE_BYTES).toString('hex') }
  const request =
    change.kind === 'show' ? unsigned : (operatorKey?.sign(market, unsigned, issued) ?? unsigned)
  try {
    const asked = bus.ask(askMarket(market), encodeMarketRequest(request), withinMs)
    if (change.kind !== 'show') crash('market_order.change_in_flight')
    const answer = decodeMarketAnswer(await asked)
    if (answer.kind === 'refused') throw new OperatorOrderRefused(answer.message)
    return answer.terms
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const message = `the matcher of ${market} does not answer: look at ./venue market list, then try again`
    throw new OperatorOrderRefused(message, { cause: error })
  }
}

/**
 * The row of a series with this expiry (unix seconds), like the newest series of the markets with the rules that it has by now.
 * Throws OperatorOrderRefused when its matcher does not say them, and MarketFileError for an expiry that no identifier spells.
 */
export async function rowOfSeriesAfter(
  asker: MarketAsker,
  markets: readonly Market[],
  expirySec: number,
): Promise<Readonly<Record<string, unknown>>> {
  const last = markets.findLast(isSeries)
  if (last === undefined) return rowOfNextSeries([], expirySec)
  const terms = await askTerms(asker, last.market, SHOW)
  return rowOfNextSeries([rowOf(withTerms(last, terms))], expirySec)
}
