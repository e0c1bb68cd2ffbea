import {
  decodeMarketRequest,
  encodeMarketAnswer,
  operatorText,
  type MarketChange,
  type MarketRequest,
} from '../../bus-schemas/markets.js'
import { askMarket } from '../../bus-schemas/subjects.js'
import { termsOf } from '../../core/engine/apply-market.js'
import type { MatcherState } from '../../core/engine/state.js'
import { whyNotPlain } from '../../core/entry/operator-words.js'
import { readRules } from '../../core/entry/read-rules.js'
import type { MarketCommand } from '../../core/model/command.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import { readQuestion } from '../../runtime/bus/read-question.js'
import type { LeadingPhase } from './lead.js'
import type { OwnCommands } from './own-commands.js'

/** A request that changes the market. */
interface ChangeRequest extends MarketRequest {
  readonly change: Exclude<MarketChange, { kind: 'show' }>
}

/**
 * Answers questions about the market while this matcher leads it, and carries out the commands of its operators. A change goes
 * into the log first, with who gave it; its answer follows the block that it made.
 */
export async function answerOperator(
  { settings, leader, log, feed }: LeadingPhase,
  own: OwnCommands,
): Promise<Subscription> {
  const { bus, market, onFatal, facts, operators } = settings
  const refuse = (replyTo: string, message: string): void =>
    bus.reply(replyTo, encodeMarketAnswer({ kind: 'refused', message }))
  const carryOut = async (request: ChangeRequest, replyTo: string): Promise<void> => {
    const verdict = await operators.verdict(bus, request, (proof) =>
      operatorText(market.market, request, proof),
    )
    if ('problem' in verdict) {
      facts.operatorRefused(request, verdict.problem)
      return refuse(replyTo, verdict.problem)
    }
    const read = readChange(log.state, { ...request, by: verdict.by })
    if ('problem' in read) return refuse(replyTo, read.problem)
    facts.operatorAsks(read)
    await own.submit(read, { replyTo, requestId: request.request_id })
  }
  await operators.open(bus)
  return bus.answer(askMarket(market.market), leader.id, (data, replyTo) => {
    const asked = readQuestion(decodeMarketRequest, data, facts.questionUnreadable)
    if (asked === undefined) return refuse(replyTo, 'the request cannot be read')
    const { change, ...request } = asked
    if (change.kind !== 'show') {
      carryOut({ ...request, change }, replyTo).catch(onFatal)
      return
    }
    const { changeSeq } = feed.end
    const terms = termsOf(log.state)
    bus.reply(replyTo, encodeMarketAnswer({ kind: 'terms', feed_seq: changeSeq, terms }))
  })
}

/** The command that carries out the request, or why there is none. */
function readChange(
  state: MatcherState,
  { by, reason, change }: ChangeRequest,
): MarketCommand | { readonly problem: string } {
  const problem = whyNotPlain({ by, reason })
  if (problem !== undefined) return { problem }
  const who = { by, reason }
  const { identity, holds, enabled, cancelUpToRank } = state
  const { market } = identity
  switch (change.kind) {
    case 'set': {
      const read = readRules(state, change.fields)
      return 'problem' in read ? read : { kind: 'MarketRulesSet', rules: read.rules, ...who }
    }
    case 'pause':
      return { kind: 'MarketPaused', ...who }
    case 'resume':
      if (!holds.has('operator')) return { problem: `${market} is not paused` }
      return { kind: 'MarketResumed', ...who }
    case 'accept-gap':
      if (!holds.has('restored')) return { problem: `${market} has no gap to accept` }
      return { kind: 'GapAccepted', ...who }
    case 'disable':
      if (!enabled) return { problem: `${market} is disabled already` }
      return { kind: 'MarketDisabled', ...who }
    case 'enable':
      if (enabled) return { problem: `${market} is enabled already` }
      if (cancelUpToRank > 0) return { problem: `${market} is still cancelling its orders` }
      return { kind: 'MarketEnabled', ...who }
  }
}
