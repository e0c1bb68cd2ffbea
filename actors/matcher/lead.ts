import { assert } from '../../core/assert.js'
import type { Leader } from '../../core/change.js'
import { encodeBlock } from '../../bus-schemas/block-message.js'
import { NoAnswer } from '../../bus-schemas/bus.js'
import type { LoggedCommand } from '../../core/command.js'
import { askLeader, commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { goLive } from './go-live.js'
import { passTakeOvers } from './follow-feed.js'
import { Fenced, publishBlock } from './publish-block.js'
import type { MatcherOptions, Run } from './run.js'
import { MATCHER_SOURCE, termOf } from './terms.js'

/** How long a leader may be silent, in its ticks or to whoever asks for it, until it counts as gone. */
export const LEADER_SILENCE_MS = 3_000
const LOOK_EVERY_MS = 250

/** Throws Fenced when somebody leads the market; a leader that does not answer for LEADER_SILENCE_MS counts as gone. */
export async function assertUnled({ bus, market }: MatcherOptions): Promise<void> {
  let leader: Uint8Array
  try {
    leader = await bus.ask(askLeader(market.market), new Uint8Array(), LEADER_SILENCE_MS)
  } catch (error) {
    if (error instanceof NoAnswer) return
    throw error
  }
  const name = Buffer.from(leader).toString('utf8')
  throw new Fenced(`matcher ${name} runs ${market.market} already; STANDBY=1 would follow it`)
}

/**
 * Takes the market: a block without changes is put right behind everything that was compared, which fences out whoever
 * wrote before. Throws Fenced when the feed has gone on meanwhile, because then somebody else leads.
 */
export async function lead(run: Run): Promise<void> {
  const { options, state, feed } = run
  const { bus, facts } = options
  const { market } = options.market
  if (!options.standby) {
    const { changeSeq } = feed.endAtStart
    assert(feed.changeSeq >= changeSeq, `log gives seq ${state.seq}, feed holds ${changeSeq}`)
    await passTakeOvers(run)
  }
  const leader: Leader = { term: nextTerm(run), id: options.leaderId }
  const data = encodeBlock({
    market,
    commandSeq: run.commandSeq,
    commandIndex: 0,
    firstSeq: feed.changeSeq + 1,
    changes: [],
    leader,
  })
  // Whoever comes while this is under way is told, rather than left to take the market in turn. Each answers for itself:
  // a leader of old that is paused must not be the one of several that gets the question.
  const asked = await bus.answer(askLeader(market), leader.id, (_, replyTo) => {
    bus.reply(replyTo, Buffer.from(`${leader.id} of term ${leader.term}`))
  })
  try {
    const { lastSeq } = await bus.streamState(commandsStream(market))
    run.liveFrom = Math.max(run.commandSeq, lastSeq)
    run.provedAtMs = options.elapsedMs()
    const onUnknown = (error: unknown) => facts.appendUnknown('take-over', error)
    feed.messageSeq = await publishBlock({ bus, market, onUnknown }, data, feed.messageSeq)
  } catch (error) {
    await asked.stop()
    throw error
  }
  Object.assign(run, { term: leader.term, leader, asked })
  feed.data = data
  facts.leads(leader, { command_seq: run.commandSeq, feed_seq: feed.changeSeq })
  await run.reader.stop()
  run.onLeading()
}

/** Above every term that the feed or the log tells of. */
function nextTerm({ term, state }: Run): number {
  return Math.max(term, termOf(state.lastSourceNo.get(MATCHER_SOURCE) ?? 0)) + 1
}

/** Takes note of what the log says about who leads. Throws Fenced when somebody has taken over since. */
export function heedLeader(run: Run, commands: readonly LoggedCommand[]): void {
  for (const { source, sourceNo } of commands) {
    if (source !== MATCHER_SOURCE) continue
    run.silentLooks = 0
    const term = termOf(sourceNo)
    if (run.leader !== undefined && term > run.leader.term) {
      throw new Fenced(`another matcher has led ${run.options.market.market} since term ${term}`)
    }
  }
}

/**
 * Throws Fenced unless this matcher leads still. Who has proved it within half of the silence that taking over asks for
 * cannot have been replaced meanwhile. Only what leaves no block behind has to ask: a block is fenced itself.
 */
export async function assertLeads(run: Run): Promise<void> {
  const { bus, market, elapsedMs, silenceMs } = run.options
  const nowMs = elapsedMs()
  if (2 * (nowMs - run.provedAtMs) < silenceMs) return
  const last = await bus.lastMessage(feedStream(market.market))
  if ((last?.seq ?? 0) !== run.feed.messageSeq) {
    throw new Fenced(`feed of ${market.market} ends with message ${last?.seq}, which is not ours`)
  }
  run.provedAtMs = nowMs
}

/** Whether a standby has heard nothing of the leader for long enough. Its own pauses and a dead bus do not count. */
export const isLeaderSilent = ({ options, silentLooks }: Run): boolean =>
  silentLooks * LOOK_EVERY_MS >= options.silenceMs

/** Lets a standby look for the leader at regular times, and take over when there is none. */
export function watchLeader(run: Run): NodeJS.Timeout {
  let looking = false
  return setInterval(() => {
    if (run.leader !== undefined || looking) return
    run.silentLooks = run.options.bus.isConnected() ? run.silentLooks + 1 : 0
    if (!isLeaderSilent(run)) return
    looking = true
    run
      .inTurn(() => takeOver(run))
      .catch(run.options.onFatal)
      .finally(() => (looking = false))
  }, LOOK_EVERY_MS)
}

/** Leads if the leader is silent still and all that it published is known; otherwise leaves everything as it is. */
export async function takeOver(run: Run): Promise<void> {
  if (run.leader !== undefined || !isLeaderSilent(run)) return
  if (!(await passTakeOvers(run)) || !isLeaderSilent(run)) return
  run.options.facts.leaderSilent()
  try {
    await lead(run)
  } catch (error) {
    if (!(error instanceof Fenced)) throw error
    // Somebody else was faster, or the leader is back.
    run.silentLooks = 0
    return
  }
  if (run.commandSeq >= run.liveFrom) goLive(run)
}
