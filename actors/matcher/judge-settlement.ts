import {
  decodeSettlementQuestion,
  encodeSettlementVerdict,
  type SettlementQuestion,
  type SettlementVerdict,
} from '../../bus-schemas/settlements.js'
import { askSettlement } from '../../bus-schemas/subjects.js'
import type { Action } from '../../core/action.js'
import { knownOrder, type MatcherState } from '../../core/engine/state.js'
import { signedAmount, sizeOfSigned } from '../../core/entry/order-terms.js'
import { actionOf } from '../../core/entry/signed-action.js'
import type { LiveOrder } from '../../core/model/live-order.js'
import { withIdentity } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import { amountE18 } from '../../core/money.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import { readQuestion } from '../../runtime/bus/read-question.js'
import type { LeadingPhase } from './lead.js'
import { proposedBy } from './reversals.js'

/** Answers the executor, which settles nothing that this market's log does not allow, while this matcher leads. */
export function answerSettlements({ settings, leader, log }: LeadingPhase): Promise<Subscription> {
  const { bus, market, facts } = settings
  // The log governs.
  const logged = withIdentity(market, log.state)
  // The queue has a name of its own, as for the question who leads.
  return bus.answer(askSettlement(market.market), leader.id, (data, replyTo) => {
    const question = readQuestion(decodeSettlementQuestion, data, facts.questionUnreadable)
    if (question === undefined) return
    const verdict = judgeSettlement(log.state, logged, question)
    bus.reply(replyTo, encodeSettlementVerdict(verdict))
  })
}

/**
 * Whether a match may be settled (SET-055, SET-056): one that the log holds as pending, whatever became of its orders since;
 * another matcher's at the market's fee, where what is neither filled nor pending of each order covers its fills.
 */
export function judgeSettlement(
  state: MatcherState,
  market: Market,
  question: SettlementQuestion,
): SettlementVerdict {
  const { settlementId } = question
  return settlementId === undefined
    ? judgeOutside(state, market, question)
    : judgePending(state, market, { ...question, settlementId })
}

const refused = (field: string, message: string): SettlementVerdict => {
  return { kind: 'refused', field, message }
}

function judgePending(
  state: MatcherState,
  market: Market,
  { settlementId, actions, takerFee, fills }: SettlementQuestion & { settlementId: string },
): SettlementVerdict {
  const match = state.matches.get(settlementId)
  if (match === undefined) {
    const seq = proposedBy(market.market, settlementId)
    if (seq !== undefined && seq > state.seq) return { kind: 'later' }
    return refused('Idempotency-Key', 'names no match that awaits its settlement')
  }
  const orders = [match.takerOrderId, match.makerOrderId].map((id) => knownOrder(state, id).order)
  const other = orders.findIndex((order, i) => !isSame(actionOf(market, order), actions[i]))
  if (other !== -1 || actions.length !== orders.length) {
    return refused(
      `actions.${Math.max(other, 0)}`,
      'is not an order of the match that the key names',
    )
  }
  const [fill] = fills
  if (fills.length !== 1 || fill?.amount !== signedAmount(market, match.amount)) {
    return refused('order_data.fill_details.0.amount_filled', 'is not that of the match')
  }
  if (fill.price !== match.price) {
    return refused('order_data.fill_details.0.price', 'is not that of the match')
  }
  if (takerFee !== match.takerFee)
    return refused('order_data.taker_fee', 'is not that of the match')
  return { kind: 'pending' }
}

function judgeOutside(
  state: MatcherState,
  market: Market,
  { actions, takerFee, fills }: SettlementQuestion,
): SettlementVerdict {
  const feeOf = (price: (typeof fills)[number]['price'], word: bigint): bigint =>
    state.trading.takerFee(state.rules, price, sizeOfSigned(market, word))
  const fee = fills.reduce((sum, { price, amount }) => sum + feeOf(price, amount), 0n)
  if (takerFee !== fee) return refused('order_data.taker_fee', `must be ${fee}`)
  const taken = new Map<LiveOrder, bigint>()
  const unknown: number[] = []
  for (const [i, action] of actions.entries()) {
    const live = state.owners.get(action.owner)?.get(action.nonce)
    if (live === undefined) {
      unknown.push(i)
      continue
    }
    if (!isSame(actionOf(market, live.order), action)) {
      return refused(`actions.${i}`, 'is not the order that was placed with its nonce')
    }
    const wanted =
      i === 0 ? fills.reduce((sum, { amount }) => sum + amount, 0n) : amountAt(fills, i)
    const sum = (taken.get(live) ?? 0n) + wanted
    taken.set(live, sum)
    const left = live.gone === undefined ? live.unmatched : amountE18(0n)
    if (sum > signedAmount(market, left)) {
      return refused(`actions.${i}`, `has ${signedAmount(market, left)} left`)
    }
  }
  return { kind: 'left', unknown }
}

/** Of the fill that belongs to an action. */
const amountAt = (fills: SettlementQuestion['fills'], i: number): bigint =>
  fills[i - 1]?.amount ?? 0n

const isSame = (order: Action, asked: Action | undefined): boolean =>
  asked !== undefined &&
  order.nonce === asked.nonce &&
  order.owner === asked.owner &&
  order.subaccountId === asked.subaccountId &&
  order.expiry === asked.expiry &&
  order.signer === asked.signer &&
  order.module === asked.module &&
  order.data === asked.data
