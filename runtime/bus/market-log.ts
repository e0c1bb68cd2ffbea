import { commandMessages } from '../../bus-schemas/commands.js'
import { commandsStream, commandsSubject, feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/contracts/market.js'
import { openingOf, type MarketOpening } from '../../core/contracts/market-terms.js'
import { AppendUnknown, StreamMissing, WrongLastSequence, type Bus } from './bus.js'
import { recordVersions } from './stream-versions.js'

/** Writer of the command that opens a market; it writes nothing else. */
const OPENER = { source: 'market-file', sourceNo: 1 } as const

type OpeningBus = Pick<
  Bus,
  'declareStream' | 'streamState' | 'append' | 'streamVersion' | 'raiseStreamVersion'
>

export interface OpeningOptions {
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Told when the log gets messages of a newer version than before. */
  readonly onRaised: (message: string) => void
}

/** A market has a feed and no log: opening it anew would publish a second beginning. */
export class LogMissing extends Error {
  override readonly name = 'LogMissing'
}

/**
 * Declares the command log of a market and, when it is empty, opens the market as its row of the market file states it.
 * Each process that writes to the log calls it first, so that every log begins with MarketOpened; one of them writes it.
 * Throws LogMissing when the market has published before, and as recordVersions.
 */
export async function openMarketLog(
  bus: OpeningBus,
  row: Market,
  { nowMs, onRaised }: OpeningOptions,
): Promise<void> {
  const { market } = row
  const stream = commandsStream(market)
  await bus.declareStream({
    stream,
    subject: commandsSubject(market),
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
      await bus.append(commandsSubject(market), data, { expectedLastSeq: 0 })
      return
    } catch (error) {
      // Another process was faster, or this append was stored without its acknowledgement: the stream shows which.
      if (!(error instanceof WrongLastSequence || error instanceof AppendUnknown)) throw error
    }
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
  const stream = commandsStream(market.market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  if (firstSeq > 1 || lastSeq === 0) return undefined
  const [first] = await bus.read(stream, 1, 1)
  const [logged] = first === undefined ? [] : commandMessages(market).decode(first.data)
  const isOpened = logged?.command.kind === 'MarketOpened'
  assert(isOpened, `${stream} does not begin with MarketOpened: it belongs to an earlier release`)
  return logged.command.opening
}
