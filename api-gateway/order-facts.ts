import { decodeOrderFactsAnswer, encodeOrderFactsQuestion } from '../bus-schemas/account-facts.js'
import { askOrderFacts } from '../bus-schemas/subjects.js'
import { amountE18 } from '../core/money.js'
import type { OrderFacts } from '../core/records/order-record.js'
import type { StoredOrder } from '../data/history/read-model.js'
import { NoAnswer } from '../runtime/bus/bus.js'
import type { GatewayDeps } from './context.js'

/** Longer than the fan-out waits for its feeds; an explanation without these facts is better than none. */
const ASK_TIMEOUT_MS = 4_000

/**
 * What the fan-out knows of an order: its pending matches and, where `isOwn`, what its account holds. Undefined while no
 * fan-out answers.
 */
export async function orderFacts(
  { bus, ownWrites }: Pick<GatewayDeps, 'bus' | 'ownWrites'>,
  { order, progress }: StoredOrder,
  isOwn: boolean,
): Promise<OrderFacts | undefined> {
  if (progress.pending === 0n && !isOwn) return undefined
  const { market, orderId, owner, subaccountId, side, limitPrice: price } = order
  const isLive = progress.status === 'active' || progress.status === 'matching'
  const unmatched = isLive ? order.desiredAmount - progress.filled - progress.pending : 0n
  const rest = { subaccountId, side, price, amount: amountE18(unmatched) }
  const after = ownWrites.answeredSeqs()
  const question = { market, orderId, owner, after, ...(isOwn && { rest }) }
  try {
    const data = await bus.ask(askOrderFacts, encodeOrderFactsQuestion(question), ASK_TIMEOUT_MS)
    const { body } = decodeOrderFactsAnswer(data)
    return body === undefined ? undefined : (JSON.parse(body) as OrderFacts)
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
