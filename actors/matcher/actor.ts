import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream, feedSubject, matcherOf } from '../../bus-schemas/subjects.js'
import type { Actor } from '../../runtime/actor/leadership.js'
import type { MatcherSettings } from './settings.js'

/** The matchers of a market, of which one leads: its log is the feed, which follows from the command log. */
export function matcherActor(settings: MatcherSettings): Actor {
  const { bus, market: row, leaderId, silenceMs, facts } = settings
  const { market } = row
  return {
    bus,
    name: matcherOf(market),
    id: leaderId,
    silenceMs,
    stream: feedStream(market),
    subject: feedSubject(market),
    termOf: (data) => decodeBlock(data).leader?.term,
    onUnknown: (error) => facts.appendUnknown('take-over', error),
  }
}
