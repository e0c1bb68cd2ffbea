import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Checkpoint, CheckpointUnusable } from '../../bus-schemas/checkpoint-message.js'
import {
  listCheckpoints,
  loadCheckpoint,
  type StoredCheckpoint,
} from '../../bus-schemas/checkpoint-store.js'
import { type Bus, MessagesGone, type StreamState } from '../../bus-schemas/bus.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import type { Market } from '../../core/market.js'
import { restoreSnapshot, rulesOf } from '../../core/matcher-snapshot.js'
import { emptyMatcherState, type MatcherState } from '../../core/matcher-state.js'
import type { MatcherFacts } from './observe.js'

/**
 * The market's streams and its checkpoints tell different stories: one was restored from an older backup, belongs to
 * another venue, or was trimmed too far. Going on could give a seq a second content, so somebody has to look.
 */
export class StreamsDisagree extends Error {
  override readonly name = 'StreamsDisagree'
}

/** Where a matcher begins: a state and what of the log and the feed it includes. */
export interface Restored {
  readonly state: MatcherState
  readonly commandSeq: number
  /** Last message of the feed, 0 for none, with its bytes where they are at hand. */
  readonly feed: { readonly messageSeq: number; readonly data: Uint8Array }
  readonly term: number
  /** Newest first. */
  readonly checkpoints: readonly StoredCheckpoint[]
}

interface RestoreOptions {
  readonly bus: Bus
  readonly market: Market
  readonly facts: Pick<MatcherFacts, 'checkpointUnusable'>
}

/**
 * The newest checkpoint that can be trusted, or else the beginning of the log. Throws StreamsDisagree when what is
 * stored since cannot follow it.
 */
export async function restoreMatcher(options: RestoreOptions): Promise<Restored> {
  const { bus, market, facts } = options
  const commands = await bus.streamState(commandsStream(market.market))
  const checkpoints = await listCheckpoints(bus, market.market)
  for (const stored of checkpoints) {
    try {
      const checkpoint = await loadCheckpoint(bus, market.market, stored)
      assertSameRules(checkpoint, market)
      assertCovered(checkpoint, commands, market.market)
      const feed = await lastBlockOf(bus, checkpoint)
      const { state, commandSeq, term } = checkpoint
      return { state: restoreSnapshot(state), commandSeq, feed, term, checkpoints }
    } catch (error) {
      if (!(error instanceof CheckpointUnusable)) throw error
      facts.checkpointUnusable(stored, error.message)
    }
  }
  if (commands.firstSeq > 1) {
    throw new StreamsDisagree(
      `${commandsStream(market.market)} begins at ${commands.firstSeq}, and no usable checkpoint reaches it`,
    )
  }
  const feed = { messageSeq: 0, data: new Uint8Array() }
  return { state: emptyMatcherState(market), commandSeq: 0, feed, term: 0, checkpoints }
}

function assertSameRules({ state }: Checkpoint, market: Market): void {
  if (!isDeepStrictEqual(state.rules, rulesOf(market))) {
    throw new CheckpointUnusable('made under other rules of the market')
  }
}

function assertCovered({ commandSeq }: Checkpoint, commands: StreamState, market: string): void {
  const stream = commandsStream(market)
  if (commands.lastSeq < commandSeq) {
    throw new StreamsDisagree(
      `${stream} ends at ${commands.lastSeq}, but a checkpoint includes ${commandSeq}: it was rolled back`,
    )
  }
  if (commands.firstSeq > commandSeq + 1) {
    throw new StreamsDisagree(
      `${stream} begins at ${commands.firstSeq}, but the newest usable checkpoint ends at ${commandSeq}`,
    )
  }
}

/** The feed's message at the checkpoint's place, which must be the one that stood there. */
async function lastBlockOf(bus: Bus, { market, feed }: Checkpoint): Promise<Restored['feed']> {
  const { messageSeq, sha256 } = feed
  if (messageSeq === 0) return { messageSeq, data: new Uint8Array() }
  const stream = feedStream(market)
  const { lastSeq } = await bus.streamState(stream)
  if (lastSeq < messageSeq) {
    throw new StreamsDisagree(
      `${stream} ends at ${lastSeq}, but a checkpoint knows message ${messageSeq}: it was rolled back`,
    )
  }
  const data = await retained(bus, stream, messageSeq)
  if (data !== undefined && sha256Of(data) !== sha256) {
    throw new StreamsDisagree(
      `${stream} holds another message ${messageSeq} than the checkpoint knows`,
    )
  }
  return { messageSeq, data: data ?? new Uint8Array() }
}

async function retained(bus: Bus, stream: string, seq: number): Promise<Uint8Array | undefined> {
  try {
    return (await bus.read(stream, seq, 1))[0]?.data
  } catch (error) {
    if (error instanceof MessagesGone) return undefined
    throw error
  }
}

/** In hex. */
export const sha256Of = (data: Uint8Array): string =>
  createHash('sha256').update(data).digest('hex')
