import { setTimeout as delay } from 'node:timers/promises'
import type { ShownSeq } from '../../bus-schemas/account-facts.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import type { Balances } from './balances.js'
import type { MarketFeed } from './market-feed.js'

/** How long an answer waits for the feeds to show what the asker has shown. */
const BEHIND_WITHIN_MS = 2_000
const LOOK_EVERY_MS = 5
/** Questions of one subject in hand; further ones are answered as behind. */
const IN_HAND_MAX = 256

export interface AnswerParts {
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  readonly balances: Balances
  readonly listedFeeds: () => readonly MarketFeed[]
  readonly isReady: () => boolean
}

/** How questions of one subject are answered. */
export interface ShownAnswers<Question extends { readonly after: readonly ShownSeq[] }, Answer> {
  readonly subject: string
  readonly decode: (data: Uint8Array) => Question
  readonly encode: (answer: Answer) => Uint8Array
  /** When the feeds do not show in time what the asker has shown. */
  readonly behind: Answer
  readonly answer: (question: Question) => Promise<Answer>
}

/** Answers questions from the feeds, each once they show what its asker has shown; of several fan-outs one answers. */
export async function answersShown<
  Question extends { readonly after: readonly ShownSeq[] },
  Answer,
>(
  parts: AnswerParts,
  { subject, decode, encode, behind, answer }: ShownAnswers<Question, Answer>,
): Promise<Subscription> {
  const { bus } = parts
  let inHand = 0
  const answerOne = async (question: Question): Promise<Answer> =>
    (await isShown(parts, question.after)) ? answer(question) : behind
  return bus.answer(subject, 'ws-fanout', (data, replyTo) => {
    const reply = (given: Answer) => bus.reply(replyTo, encode(given))
    if (inHand === IN_HAND_MAX) return reply(behind)
    inHand += 1
    void answerOne(decode(data))
      .then(reply)
      .finally(() => (inHand -= 1))
  })
}

/** Waits until the feeds have reached these changes; false when they do not in time. */
async function isShown(
  { listedFeeds, isReady }: AnswerParts,
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
