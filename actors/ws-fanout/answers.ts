import { setTimeout as delay } from 'node:timers/promises'
import {
  decodeBalancesQuestion,
  decodeOrderFactsQuestion,
  encodeBalancesAnswer,
  encodeOrderFactsAnswer,
  type BalancesAnswer,
  type BalancesQuestion,
  type OrderFactsAnswer,
  type OrderFactsQuestion,
  type ShownSeq,
} from '../../bus-schemas/account-facts.js'
import { askBalances, askOrderFacts } from '../../bus-schemas/subjects.js'
import { pendingMatch, type OrderFacts } from '../../core/records/order-record.js'
import type { BalancesBody } from '../../interface/balances.js'
import type { OwnAccount } from '../../interface/explanation.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import {
  readQuestion,
  warnOfUnreadable,
  type AnswerParts,
} from '../../runtime/bus/read-question.js'
import type { OwnerBalances } from './balances.js'
import type { MarketFeed } from './market-feed.js'

/** How long an answer waits for the feeds to show what the asker has shown. */
const BEHIND_WITHIN_MS = 2_000
const LOOK_EVERY_MS = 5
/** Questions of one subject in hand; further ones are answered as behind. */
const IN_HAND_MAX = 256

interface FanOutParts extends AnswerParts {
  readonly balances: OwnerBalances
  readonly listedFeeds: () => readonly MarketFeed[]
  readonly isReady: () => boolean
}

/** How questions of one subject are answered. */
interface ShownAnswers<Question extends { readonly after: readonly ShownSeq[] }, Answer> {
  readonly subject: string
  readonly decode: (data: Uint8Array) => Question
  readonly encode: (answer: Answer) => Uint8Array
  /** When the feeds do not show in time what the asker has shown. */
  readonly behind: Answer
  readonly answer: (question: Question) => Promise<Answer>
}

/** Answers questions from the feeds, each once they show what its asker has shown; of several fan-outs one answers. */
async function answersShown<Question extends { readonly after: readonly ShownSeq[] }, Answer>(
  parts: FanOutParts,
  { subject, decode, encode, behind, answer }: ShownAnswers<Question, Answer>,
): Promise<Subscription> {
  const { bus, log } = parts
  let inHand = 0
  const answerOne = async (question: Question): Promise<Answer> =>
    (await isShown(parts, question.after)) ? answer(question) : behind
  return bus.answer(subject, 'ws-fanout', (data, replyTo) => {
    const reply = (given: Answer) => bus.reply(replyTo, encode(given))
    if (inHand === IN_HAND_MAX) return reply(behind)
    const question = readQuestion(decode, data, warnOfUnreadable(log))
    if (question === undefined) return
    inHand += 1
    void answerOne(question)
      .then(reply)
      .finally(() => (inHand -= 1))
  })
}

/** Waits until the feeds have reached these changes; false when they do not in time. */
async function isShown(
  { listedFeeds, isReady }: FanOutParts,
  after: readonly ShownSeq[],
): Promise<boolean> {
  const deadline = performance.now() + BEHIND_WITHIN_MS
  const isReached = (): boolean => {
    const heads = new Map(listedFeeds().map((feed) => [feed.market.market, feed.headSeq()]))
    return isReady() && after.every(({ market, seq }) => (heads.get(market) ?? seq) >= seq)
  }
  while (!isReached()) {
    if (performance.now() >= deadline) return false
    await delay(LOOK_EVERY_MS)
  }
  return true
}

/** Answers what owners' accounts hold. */
export function answerBalances(parts: FanOutParts): Promise<Subscription> {
  return answersShown(parts, {
    subject: askBalances,
    decode: decodeBalancesQuestion,
    encode: encodeBalancesAnswer,
    behind: { failed: 'behind' },
    answer: (question: BalancesQuestion) => balancesFor(parts, question),
  })
}

async function balancesFor(
  { balances }: FanOutParts,
  { owner, accounts }: BalancesQuestion,
): Promise<BalancesAnswer> {
  const asked = accounts ?? balances.knownAccounts(owner)
  const seen = await balances.read(asked)
  if (seen === undefined) return { failed: 'unreadable' }
  const shown = balances.show(owner, seen)
  if (accounts !== undefined && shown.length < asked.length) return { failed: 'not_owned' }
  const body: BalancesBody = { owner_address: owner, accounts: shown }
  return { body: JSON.stringify(body) }
}

/** Most matches of one answer, the oldest first. */
const MATCHES_MAX = 101

/** Answers what the read model does not know of an order; of several fan-outs one answers. */
export function answerOrderFacts(parts: FanOutParts): Promise<Subscription> {
  return answersShown(parts, {
    subject: askOrderFacts,
    decode: decodeOrderFactsQuestion,
    encode: encodeOrderFactsAnswer,
    behind: {},
    answer: (question: OrderFactsQuestion) => factsFor(parts, question),
  })
}

async function factsFor(
  { balances, listedFeeds }: FanOutParts,
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
  balances: OwnerBalances,
  { market, owner, rest }: Required<Pick<OrderFactsQuestion, 'market' | 'owner' | 'rest'>>,
): Promise<OwnAccount> {
  const [seen] = (await balances.read([rest.subaccountId])) ?? []
  const shown = seen && balances.showOrder(owner, seen, { market, rest })
  return shown ?? { subaccount_id: rest.subaccountId.toString(), needs: [] }
}
