import { decodeBlock } from '../../bus-schemas/blocks.js'
import { decodeTrimQuestion, encodeTrimAnswer } from '../../bus-schemas/operations.js'
import { askTrim, feedStream } from '../../bus-schemas/subjects.js'
import { changeOfSettlement } from '../../core/engine/match-id.js'
import { claimsStoredTo } from '../../runtime/bus/ask-intake.js'
import { mayBeReadLater, MessagesGone, type Subscription } from '../../runtime/bus/bus.js'
import { CHECKPOINTS_KEPT, listCheckpoints } from '../../runtime/bus/checkpoint-store.js'
import { readQuestion } from '../../runtime/bus/read-question.js'
import type { LeadingPhase } from './lead.js'

/**
 * Trims the feed of a market for the process that archives it. The right to trim cannot be narrowed on the bus, so it is the
 * feed's own writer that has it, and judges each request: what a replay may need, a checkpoint, a match without an outcome
 * or the intake's claims stays, whatever the asker says that it has archived. One request at a time.
 */
export function answerTrims(leading: LeadingPhase): Promise<Subscription> {
  const { bus, market, onFatal, facts } = leading.settings
  let underWay = false
  const carryOut = async (belowSeq: number): Promise<string | undefined> => {
    const why = await judge(leading, belowSeq)
    if (why !== undefined) return why
    await bus.trim(feedStream(market.market), belowSeq)
    facts.feedTrimmed(belowSeq)
    return undefined
  }
  return bus.answer(askTrim(market.market), leading.leader.id, (data, replyTo) => {
    const answer = (why: string | undefined): void =>
      bus.reply(
        replyTo,
        encodeTrimAnswer(why === undefined ? { kind: 'trimmed' } : { kind: 'refused', why }),
      )
    const question = readQuestion(decodeTrimQuestion, data, facts.questionUnreadable)
    if (question === undefined) return answer('the request cannot be read')
    if (underWay) return answer('the feed is being trimmed already')
    underWay = true
    carryOut(question.below_seq)
      .catch((error: unknown) => {
        if (mayBeReadLater(error) || error instanceof MessagesGone) return error.message
        throw error
      })
      .then(answer)
      .finally(() => (underWay = false))
      .catch(onFatal)
  })
}

/** Why the feed may not begin with this message; undefined when it may. */
async function judge(
  { settings, log: { state }, feed }: LeadingPhase,
  belowSeq: number,
): Promise<string | undefined> {
  const { bus, market, feedKeeping, nowMs } = settings
  if (feedKeeping === undefined) return 'the matcher has no FEED_KEEP_DAYS'
  const stream = feedStream(market.market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  if (belowSeq <= firstSeq || belowSeq > lastSeq) {
    return `the feed holds the messages ${firstSeq} to ${lastSeq}`
  }
  const [last, first] = await bus.read(stream, belowSeq - 1, 2)
  if (last === undefined || first === undefined) return 'the feed cannot be read there'
  const { firstSeq: firstChange, changes, commandSeq } = decodeBlock(last.data)
  const lastChange = firstChange + changes.length - 1
  if (last.storedAtMs > nowMs() - feedKeeping.keepMs) return 'what was stored there is too young'
  if (lastChange > feed.end.changeSeq - feedKeeping.keepChanges) return 'too few changes would stay'
  for (const { settlementId } of state.matches.values()) {
    if (changeOfSettlement(settlementId) <= lastChange) return `${settlementId} has no outcome`
  }
  const oldest = (await listCheckpoints(bus, market.market))[CHECKPOINTS_KEPT - 1]
  // The checkpoint is read with its block.
  if (oldest === undefined || decodeBlock(first.data).commandSeq > oldest.commandSeq) {
    return 'the oldest checkpoint needs more'
  }
  const isStored = commandSeq <= (await claimsStoredTo(bus, market.market))
  return isStored ? undefined : 'the order intake has not stored the claims'
}
