import {
  decodeOrderFactsQuestion,
  encodeOrderFactsAnswer,
  type OrderFactsAnswer,
  type OrderFactsQuestion,
} from '../../bus-schemas/account-facts.js'
import { askOrderFacts } from '../../bus-schemas/subjects.js'
import { pendingMatch, type OrderFacts } from '../../core/records/order-record.js'
import type { OwnAccount } from '../../interface/explanation.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import { answersShown, type AnswerParts } from './answer-shown.js'
import type { Balances } from './balances.js'

/** Most matches of one answer, the oldest first. */
const MATCHES_MAX = 101

/** Answers what the read model does not know of an order; of several fan-outs one answers. */
export function answerOrderFacts(parts: AnswerParts): Promise<Subscription> {
  return answersShown(parts, {
    subject: askOrderFacts,
    decode: decodeOrderFactsQuestion,
    encode: encodeOrderFactsAnswer,
    behind: {},
    answer: (question: OrderFactsQuestion) => answerOne(parts, question),
  })
}

async function answerOne(
  { balances, listedFeeds }: AnswerParts,
  { market, orderId, owner, rest }: OrderFactsQuestion,
): Promise<OrderFactsAnswer> {
  const account = rest && (await accountOf(balances, { market, owner, rest }))
  // Read last: the chain has taken its time.
  const feed = listedFeeds().find((candidate) => candidate.market.market === market)
  const pending = [...(feed?.channels.fills.pendingOf(owner) ?? [])]
  const legs = pending.filter((leg) => leg.orderId === orderId)
  const facts: OrderFacts = {
    matches: legs.slice(0, MATCHES_MAX).map(pendingMatch),
    ...(account !== undefined && { account }),
  }
  return { body: JSON.stringify(facts) }
}

/** Without balances while nothing is known of the account, or when it is not in custody for the owner. */
async function accountOf(
  balances: Balances,
  { market, owner, rest }: Required<Pick<OrderFactsQuestion, 'market' | 'owner' | 'rest'>>,
): Promise<OwnAccount> {
  const [seen] = (await balances.read([rest.subaccountId])) ?? []
  const shown = seen && balances.showOrder(owner, seen, { market, rest })
  return shown ?? { subaccount_id: rest.subaccountId.toString(), needs: [] }
}
