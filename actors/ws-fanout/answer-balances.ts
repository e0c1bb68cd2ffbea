import { setTimeout as delay } from 'node:timers/promises'
import {
  decodeBalancesQuestion,
  encodeBalancesAnswer,
  type BalancesAnswer,
  type BalancesQuestion,
} from '../../bus-schemas/balances.js'
import { askBalances } from '../../bus-schemas/subjects.js'
import type { BalancesBody } from '../../interface/balances.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import type { Balances } from './balances.js'
import type { MarketFeed } from './market-feed.js'

/** How long an answer waits for the feeds to show what the asker has shown. */
const BEHIND_WITHIN_MS = 2_000
const LOOK_EVERY_MS = 5
/** Questions in hand; further ones are answered as behind. */
const IN_HAND_MAX = 256

export interface AnswerBalancesParts {
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  readonly balances: Balances
  readonly listedFeeds: () => readonly MarketFeed[]
  readonly isReady: () => boolean
}

/** Answers what owners' accounts hold; of several fan-outs one answers. */
export async function answerBalances(parts: AnswerBalancesParts): Promise<Subscription> {
  const { bus } = parts
  let inHand = 0
  return bus.answer(askBalances, 'ws-fanout', (data, replyTo) => {
    const reply = (answer: BalancesAnswer) => bus.reply(replyTo, encodeBalancesAnswer(answer))
    if (inHand === IN_HAND_MAX) return reply({ failed: 'behind' })
    inHand += 1
    void answerOne(parts, decodeBalancesQuestion(data))
      .then(reply)
      .finally(() => (inHand -= 1))
  })
}

async function answerOne(
  parts: AnswerBalancesParts,
  { owner, accounts, after }: BalancesQuestion,
): Promise<BalancesAnswer> {
  const { balances } = parts
  if (!(await isShown(parts, after))) return { failed: 'behind' }
  const asked = accounts ?? balances.knownAccounts(owner)
  const seen = await balances.read(asked)
  if (seen === undefined) return { failed: 'unreadable' }
  const shown = balances.show(owner, seen)
  if (accounts !== undefined && shown.length < asked.length) return { failed: 'not_owned' }
  const body: BalancesBody = { owner_address: owner, accounts: shown }
  return { body: JSON.stringify(body) }
}

/** Waits until the feeds have reached these changes; false when they do not in time. */
async function isShown(
  { listedFeeds, isReady }: AnswerBalancesParts,
  after: BalancesQuestion['after'],
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
