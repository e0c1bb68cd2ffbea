import { setTimeout as delay } from 'node:timers/promises'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { commandMessages } from '../../bus-schemas/commands.js'
import {
  commandsStream,
  commandsSubject,
  commandsSubjects,
  feedStream,
  OPENER_SOURCE,
  type CommandWriter,
} from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import type { Command } from '../../core/model/command.js'
import { openingOf, withIdentity, type MarketOpening } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import {
  AppendUnknown,
  mayBeReadLater,
  NotPermitted,
  StreamMissing,
  WrongLastSequence,
  type Bus,
} from './bus.js'
import { recordVersions } from './stream-versions.js'

/** Writer of the command that opens a market; it writes nothing else. */
const OPENER = { source: OPENER_SOURCE, sourceNo: 1 } as const

type OpeningBus = Pick<
  Bus,
  'declareStream' | 'streamState' | 'append' | 'streamVersion' | 'raiseStreamVersion'
>

interface OpeningOptions {
  /** The process that opens the log. */
  readonly writer: CommandWriter
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Told when the log gets messages of a newer version than before. */
  readonly onRaised: (message: string) => void
}

/** A market has a feed and no log: opening it anew would publish a second beginning. Or its matcher has not opened it yet. */
export class LogMissing extends Error {
  override readonly name = 'LogMissing'
}

/**
 * Declares the command log of a market and, when it is empty, opens the market as the register states it.
 * Each process that writes to the log calls it first, so that every log begins with MarketOpened; one of them writes it.
 * Throws LogMissing when the market has published before, and as recordVersions.
 */
export async function openMarketLog(
  bus: OpeningBus,
  row: Market,
  { writer, nowMs, onRaised }: OpeningOptions,
): Promise<void> {
  const { market } = row
  const stream = commandsStream(market)
  await bus.declareStream({
    stream,
    subject: commandsSubjects(market),
    description: `Everything that changes ${market}, in order`,
  })
  const { version, encode } = commandMessages(row)
  const command = { kind: 'MarketOpened', opening: openingOf(row) } as const
  for (;;) {
    if ((await bus.streamState(stream)).lastSeq > 0) return
    await assertNeverPublished(bus, market)
    await recordVersions(bus, new Map([[stream, version]]), onRaised)
    const data = encode([{ ...OPENER, atMs: nowMs(), command }])
    try {
      await bus.append(commandsSubject(market, writer), data, { expectedLastSeq: 0 })
      return
    } catch (error) {
      // Another process was faster, or this append was stored without its acknowledgement: the stream shows which.
      if (!(error instanceof WrongLastSequence || error instanceof AppendUnknown)) throw error
    }
  }
}

const JOIN_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 250

/**
 * openMarketLog and recordVersions for a writer other than the matcher. Where the bus lets the matcher alone create and change
 * streams, it waits until the matcher has done so, and throws LogMissing when that takes too long. Resolves as asLogged.
 */
export async function joinMarketLog(
  bus: OpeningBus & Pick<Bus, 'read'>,
  row: Market,
  options: OpeningOptions & { readonly withinMs?: number },
): Promise<Market> {
  const { withinMs = JOIN_WITHIN_MS, onRaised } = options
  const giveUpAtMs = performance.now() + withinMs
  const stream = commandsStream(row.market)
  const { version } = commandMessages(row)
  for (;;) {
    try {
      await openMarketLog(bus, row, options)
      await recordVersions(bus, new Map([[stream, version]]), onRaised)
      return await asLogged(bus, row)
    } catch (cause) {
      if (!(cause instanceof NotPermitted)) throw cause
      if (performance.now() > giveUpAtMs) {
        throw new LogMissing(`${stream} waits for the matcher of ${row.market}`, { cause })
      }
    }
    await delay(LOOK_EVERY_MS)
  }
}

async function assertNeverPublished(bus: Pick<Bus, 'streamState'>, market: string): Promise<void> {
  const stream = feedStream(market)
  try {
    const { lastSeq } = await bus.streamState(stream)
    if (lastSeq === 0) return
    throw new LogMissing(
      `${commandsStream(market)} is empty, but ${stream} ends at ${lastSeq}: restore the log`,
    )
  } catch (error) {
    if (!(error instanceof StreamMissing)) throw error
  }
}

/** What the market's log begins with; undefined when its beginning is trimmed or not there yet. */
export async function readOpening(
  bus: Pick<Bus, 'read' | 'streamState'>,
  market: Market,
): Promise<MarketOpening | undefined> {
  const first = await firstCommand(bus, market)
  if (first === undefined) return undefined
  const isOpened = first.kind === 'MarketOpened'
  const stream = commandsStream(market.market)
  assert(isOpened, `${stream} does not begin with MarketOpened: it belongs to an earlier release`)
  return first.opening
}

/**
 * The row with the identity that the market's log states, which governs; the row itself
 * where the beginning of the log is trimmed.
 */
export async function asLogged(
  bus: Pick<Bus, 'read' | 'streamState'>,
  row: Market,
): Promise<Market> {
  const first = await firstCommand(bus, row)
  return first?.kind === 'MarketOpened' ? withIdentity(row, first.opening) : row
}

async function firstCommand(
  bus: Pick<Bus, 'read' | 'streamState'>,
  market: Market,
): Promise<Command | undefined> {
  const stream = commandsStream(market.market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  if (firstSeq > 1 || lastSeq === 0) return undefined
  const [first] = await bus.read(stream, 1, 1)
  const [logged] = first === undefined ? [] : commandMessages(market).take(first)
  return logged?.command
}

const MISSING_LOOK_EVERY_MS = 1_000

interface MissingLogsOptions {
  readonly bus: Pick<Bus, 'streamState' | 'lastMessage'>
  /** A log was restored and its market could not be opened, or a feed cannot be read. */
  readonly onError: (error: unknown) => void
  /** Pause between two looks at a log. */
  readonly everyMs?: number
}

/** Looks for logs that are missing until an operator has restored them. */
interface MissingLogs {
  /** Calls back once the market's log is there as far as its feed has read it. Nothing is declared meanwhile. */
  await(market: string, onRestored: () => Promise<void>): void
  /** No callback begins after this resolves. */
  stop(): Promise<void>
}

export function createMissingLogs(options: MissingLogsOptions): MissingLogs {
  const { bus, onError, everyMs = MISSING_LOOK_EVERY_MS } = options
  const timers = new Map<string, NodeJS.Timeout>()
  const looking = new Set<Promise<void>>()
  let stopped = false

  const look = async (market: string, onRestored: () => Promise<void>): Promise<void> => {
    const restored = await isRestored(bus, market)
    if (stopped) return
    if (restored) await onRestored()
    else schedule(market, onRestored)
  }
  const schedule = (market: string, onRestored: () => Promise<void>): void => {
    const timer = setTimeout(() => {
      timers.delete(market)
      const running = look(market, onRestored)
        .catch(onError)
        .finally(() => looking.delete(running))
      looking.add(running)
    }, everyMs)
    timers.set(market, timer)
  }
  return {
    await: schedule,
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(looking)
    },
  }
}

/** A log that ends before what its feed has read is still being restored. */
async function isRestored(bus: MissingLogsOptions['bus'], market: string): Promise<boolean> {
  try {
    const newest = await bus.lastMessage(feedStream(market))
    const readTo = newest === undefined ? 0 : decodeBlock(newest.data).commandSeq
    const { lastSeq } = await bus.streamState(commandsStream(market))
    return lastSeq > 0 && lastSeq >= readTo
  } catch (error) {
    if (mayBeReadLater(error)) return false
    throw error
  }
}
