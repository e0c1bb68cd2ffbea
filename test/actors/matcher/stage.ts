import { setMaxListeners } from 'node:events'
import type { AskExecutor } from '../../../actors/matcher/ask-executor.js'
import { startMatcher, type Matcher } from '../../../actors/matcher/matcher.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import type { MatcherOptions } from '../../../actors/matcher/settings.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import {
  checkpointsStream,
  checkpointsSubject,
  commandsStream,
  commandsSubject,
  feedStream,
  feedSubject,
} from '../../../bus-schemas/subjects.js'
import type { MessageResult } from '../../../core/engine/apply-message.js'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import type { Command, LoggedCommand } from '../../../core/model/command.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { aMarket, anOrder } from '../../support/builders.js'
import { aChange, CHANGES_START_MS } from '../../support/changes.js'
import { eventually } from '../../support/eventually.js'
import { matcherOrder, type OrderFields } from '../../support/matching.js'
import { encodeCommands } from '../../support/spot-log.js'

export const stageMarket = aMarket()
const { market: name } = stageMarket

/**
 * A clock so far ahead that the bus does not believe it, so that for a matcher that has it a tick is always due: a log that fills by
 * itself.
 */
export const aheadOfTicks = (): number => Date.now() + 3_600_000

/** An executor that never comes to an answer. */
export const neverDecides: AskExecutor = (_, __, signal) =>
  new Promise((resolve) => {
    setMaxListeners(0, signal)
    signal.addEventListener('abort', () => resolve({ kind: 'undecided', why: 'stopped' }))
  })

export interface StartedMatcher {
  readonly matcher: Matcher
  /** What it gave up for. */
  readonly fatal: unknown[]
  /** Checkpoints that it could not use. */
  readonly unusable: string[]
}

/** Starts a matcher of the stage's market that writes no log; resolves when it leads and has caught up, unless it is a standby. */
export async function startOn(
  bus: Bus,
  options: Partial<MatcherOptions> = {},
): Promise<StartedMatcher> {
  const fatal: unknown[] = []
  const unusable: string[] = []
  const matcher = await startMatcher({
    bus,
    market: stageMarket,
    ask: neverDecides,
    facts: {
      ...observeMatcher(createLog('matcher', 'silent')),
      checkpointUnusable: (_, why) => unusable.push(why),
    },
    nowMs: Date.now,
    tickMs: 50,
    onFatal: (error) => fatal.push(error),
    ...options,
  })
  if (options.standby !== true)
    await eventually(() => matcher.isLive() || fatal.length > 0, 120_000)
  return { matcher, fatal, unusable }
}

let sourceNo = 0

/** Puts commands into the log as the intake would, in one message. */
export function appendCommands(
  bus: Bus,
  commands: readonly Command[],
  envelope: { readonly replyTo?: string; readonly atMs?: number } = {},
): Promise<number> {
  const logged = commands.map((command) => {
    sourceNo += 1
    return { source: 'intake', sourceNo, atMs: Date.now(), command, ...envelope }
  })
  return bus.append(commandsSubject(name), encodeCommands(logged))
}

/** A valid order of the stage's market that lives long. */
export const placeOrder = (fields: OrderFields): Command => ({
  kind: 'PlaceOrder',
  order: matcherOrder({ goodUntilSec: 4_000_000_000, market: name, ...fields }),
})

/** Every change that the feed holds, in order. */
export async function changesOf(bus: Bus): Promise<Change[]> {
  const messages = await bus.read(feedStream(name), 1, 100_000)
  return messages.flatMap(({ data }) => [...decodeBlock(data).changes])
}

/** A placement as the log has it. */
export const loggedPlacement: LoggedCommand = {
  source: 'intake',
  sourceNo: 1,
  atMs: CHANGES_START_MS,
  requestId: 'r1',
  command: { kind: 'PlaceOrder', order: anOrder() },
}

/** That command with these changes, from seq 1 on. */
export const resultOf = (...facts: readonly ChangeFacts[]): MessageResult => ({
  logged: loggedPlacement,
  applied: {
    moreIsDue: false,
    continueOrderIds: [],
    changes: facts.map((each, i) => aChange(i + 1, anOrder(), each, { open: 5n })),
  },
})

const SUBJECT_OF = new Map([
  [commandsStream(name), commandsSubject(name)],
  [feedStream(name), feedSubject(name)],
  [checkpointsStream(name), checkpointsSubject(name)],
])

/** What a message of a stream becomes in a copy; undefined leaves it and everything after it out. */
export type Copying = (stream: string, seq: number, data: Uint8Array) => Uint8Array | undefined

/** Another server with the same messages, except as told: a backup, or a disk that lies. */
export async function copyOf(bus: MemoryBus, copying: Copying = (_, __, data) => data) {
  const copy = createMemoryBus()
  for (const [stream, subject] of SUBJECT_OF) {
    await copy.declareStream({ stream, subject, description: '' })
    const { firstSeq, lastSeq } = await bus.streamState(stream)
    for (let seq = 1; seq < firstSeq; seq += 1) await copy.append(subject, new Uint8Array())
    await copy.trim(stream, firstSeq)
    for (const message of await bus.read(stream, firstSeq, lastSeq)) {
      const data = copying(stream, message.seq, message.data)
      if (data === undefined) break
      await copy.append(subject, data)
    }
  }
  return copy
}
