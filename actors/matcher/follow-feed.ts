import { assert } from '../../core/assert.js'
import type { Block } from '../../core/change.js'
import { decodeBlock, encodeBlock } from '../../bus-schemas/block-message.js'
import type { Bus, BusMessage } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import type { Restored } from './restore.js'
import { StreamsDisagree } from './restore.js'
import type { FeedPlace, Run } from './run.js'

/** How long a standby waits for one message of the feed before it looks at the leader again. */
const LOOK_MS = 100

/** Where comparing begins, given what was restored. Throws StreamsDisagree when the feed holds nothing to go by. */
export async function findFeedPlace(
  bus: Bus,
  market: string,
  restored: Restored,
): Promise<FeedPlace> {
  const stream = feedStream(market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  const { messageSeq, data } = restored.feed
  const changeSeq = restored.state.seq
  const last = await bus.lastMessage(stream)
  if (last === undefined && lastSeq > messageSeq) {
    throw new StreamsDisagree(
      `${stream} was emptied at ${lastSeq}, so nobody can tell where it was`,
    )
  }
  const endAtStart = last === undefined ? { messageSeq, changeSeq } : endOf(last)
  const place = { changeSeq, data, endAtStart }
  if (firstSeq <= messageSeq + 1) return { ...place, messageSeq, trimmedUpTo: 0 }
  const [first] = await bus.read(stream, firstSeq, 1)
  assert(first !== undefined, `${stream} does not give message ${firstSeq}`)
  const trimmedUpTo = decodeBlock(first.data).firstSeq - 1
  return { ...place, messageSeq: firstSeq - 1, trimmedUpTo }
}

function endOf({ seq, data }: BusMessage): FeedPlace['endAtStart'] {
  const { firstSeq, changes } = decodeBlock(data)
  return { messageSeq: seq, changeSeq: firstSeq + changes.length - 1 }
}

/**
 * Compares a block with what the feed holds in its place, to the byte. False when the feed does not hold it: as yet, for
 * a standby. A feed that holds something else breaks an invariant.
 */
export async function isInFeed(run: Run, block: Block): Promise<boolean> {
  const { feed } = run
  assert(block.firstSeq === feed.changeSeq + 1, `block ${block.firstSeq} after ${feed.changeSeq}`)
  if (block.firstSeq <= feed.trimmedUpTo) {
    feed.changeSeq += block.changes.length
    return true
  }
  const data = encodeBlock(block)
  for (;;) {
    const stored = await nextStored(run)
    if (stored === undefined) return false
    if (Buffer.compare(data, stored.data) === 0) {
      advance(run, stored)
      feed.changeSeq += block.changes.length
      return true
    }
    assert(
      isPassedOver(run, stored),
      `replay gives another block at seq ${block.firstSeq} than the feed holds`,
    )
  }
}

/** Passes over the blocks by which others took over; true when the feed, as far as it is known, ends there. */
export async function passTakeOvers(run: Run): Promise<boolean> {
  for (;;) {
    const stored = await nextStored(run)
    if (stored === undefined) return true
    if (!isPassedOver(run, stored)) return false
  }
}

/** Takes a block by which somebody took over, and notes the term; false of any other. */
function isPassedOver(run: Run, stored: BusMessage): boolean {
  const { leader } = decodeBlock(stored.data)
  if (leader === undefined) return false
  run.term = Math.max(run.term, leader.term)
  advance(run, stored)
  return true
}

function nextStored({ options, feed, reader }: Run): Promise<BusMessage | undefined> {
  if (options.standby) return reader.peek(LOOK_MS)
  if (feed.messageSeq >= feed.endAtStart.messageSeq) return Promise.resolve(undefined)
  return reader.peek(Infinity)
}

function advance(run: Run, { seq, data }: BusMessage): void {
  run.reader.take()
  run.feed.messageSeq = seq
  run.feed.data = data
  run.silentLooks = 0
}
