import {
  decodeMarketRequest,
  encodeMarketAnswer,
  type MarketRequest,
} from '../../bus-schemas/markets.js'
import { askMarket } from '../../bus-schemas/subjects.js'
import { termsOf } from '../../core/engine/apply-market.js'
import type { MarketCommand } from '../../core/engine/command.js'
import type { MatcherState } from '../../core/engine/state.js'
import { readRules } from '../../core/entry/read-rules.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import type { Leading } from './lead.js'
import type { OwnCommands } from './own-commands.js'

const MAX_TEXT_LENGTH = 200
/** Texts of one line. */
const PLAIN = /^[^\p{Cc}\p{Cs}]+$/u

/**
 * Answers an operator's questions about the market while this matcher leads it. A change goes into the log first; its
 * answer follows the block that it made.
 */
export function answerOperator(
  { settings, leader, log, feed }: Leading,
  own: OwnCommands,
): Promise<Subscription> {
  const { bus, market, onFatal, facts } = settings
  return bus.answer(askMarket(market.market), leader.id, (data, replyTo) => {
    const request = decodeMarketRequest(data)
    const read = readChange(log.state, request)
    if (read === 'show') {
      const { changeSeq } = feed.end
      const terms = termsOf(log.state)
      bus.reply(replyTo, encodeMarketAnswer({ kind: 'terms', feed_seq: changeSeq, terms }))
    } else if ('problem' in read) {
      bus.reply(replyTo, encodeMarketAnswer({ kind: 'refused', message: read.problem }))
    } else {
      facts.operatorAsks(read)
      own.submit(read, { replyTo, requestId: request.request_id }).catch(onFatal)
    }
  })
}

/** The command that carries out the request, or why there is none. */
function readChange(
  state: MatcherState,
  { by, reason, change }: MarketRequest,
): MarketCommand | { readonly problem: string } | 'show' {
  if (change.kind === 'show') return 'show'
  for (const [name, text] of Object.entries({ by, reason })) {
    if (text.length > MAX_TEXT_LENGTH || !PLAIN.test(text)) {
      return { problem: `${name} must be one line of 1 to ${MAX_TEXT_LENGTH} characters` }
    }
  }
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
