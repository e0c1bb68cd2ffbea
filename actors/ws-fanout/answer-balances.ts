import {
  decodeBalancesQuestion,
  encodeBalancesAnswer,
  type BalancesAnswer,
  type BalancesQuestion,
} from '../../bus-schemas/account-facts.js'
import { askBalances } from '../../bus-schemas/subjects.js'
import type { BalancesBody } from '../../interface/balances.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import { answersShown, type AnswerParts } from './answer-shown.js'

/** Answers what owners' accounts hold. */
export function answerBalances(parts: AnswerParts): Promise<Subscription> {
  return answersShown(parts, {
    subject: askBalances,
    decode: decodeBalancesQuestion,
    encode: encodeBalancesAnswer,
    behind: { failed: 'behind' },
    answer: (question: BalancesQuestion) => answerOne(parts, question),
  })
}

async function answerOne(
  { balances }: AnswerParts,
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
