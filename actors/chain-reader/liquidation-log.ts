import {
  decodeLiquidations,
  encodeLiquidations,
  LIQUIDATIONS_VERSION,
  MAX_LIQUIDATIONS,
} from '../../bus-schemas/liquidations.js'
import { liquidationsStream, liquidationsSubject } from '../../bus-schemas/subjects.js'
import {
  holdLiquidations,
  isNews,
  type HeldLiquidations,
  type LiquidationNews,
} from '../../core/contracts/liquidation.js'
import { AnotherWriter, appendFenced } from '../../runtime/bus/append-fenced.js'
import { mayBeReadLater, stateOrEmpty, type Bus } from '../../runtime/bus/bus.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import type { Logger } from '../../runtime/process/log.js'

/** The newest messages that stay in the stream: readers that store liquidations have read them long before. */
export const KEPT_MESSAGES = 10_000
/** How often the stream is trimmed, in messages. */
const TRIM_EVERY = 1_000
/** Liquidations that are held, of which those of the blocks that are read again count. */
const HELD_MAX = 100_000
const READ_CHUNK = 500

/** The stream of liquidations as its writer knows it. */
export interface LiquidationLog {
  readonly held: HeldLiquidations
  /** The highest block of an event in the stream; undefined while there is none. */
  lastBlock(): bigint | undefined
  /**
   * Appends news; resolves when they are durable and held. False when another reader of the chain has appended meanwhile: its
   * messages are held then, and the news have to be compared anew.
   */
  publish(news: LiquidationNews): Promise<boolean>
}

/** Declares the stream and folds what it keeps. Throws as declareStream and recordVersions do. */
export async function openLiquidationLog(
  bus: Pick<
    Bus,
    | 'append'
    | 'declareStream'
    | 'lastMessage'
    | 'raiseStreamVersion'
    | 'read'
    | 'streamState'
    | 'streamVersion'
    | 'trim'
  >,
  log: Pick<Logger, 'warn'>,
): Promise<LiquidationLog> {
  await bus.declareStream({
    stream: liquidationsStream,
    subject: liquidationsSubject,
    description: 'What the chain reader has seen of liquidations in all markets',
  })
  const versions = new Map([[liquidationsStream, LIQUIDATIONS_VERSION]])
  await recordVersions(bus, versions, (what) => log.warn(what))
  const held = holdLiquidations(HELD_MAX)
  const { firstSeq } = await stateOrEmpty(bus, liquidationsStream)
  let lastSeq = firstSeq - 1
  let lastBlock: bigint | undefined
  const take = (news: LiquidationNews): void => {
    held.apply(news)
    for (const { blockNumber } of news.added)
      if (lastBlock === undefined || blockNumber > lastBlock) lastBlock = blockNumber
  }
  const catchUp = async (): Promise<void> => {
    const { lastSeq: end } = await stateOrEmpty(bus, liquidationsStream)
    while (lastSeq < end)
      for (const { seq, data } of await bus.read(liquidationsStream, lastSeq + 1, READ_CHUNK)) {
        take(decodeLiquidations(data))
        lastSeq = seq
      }
  }
  await catchUp()
  const orLater = logUnreadable(log)
  const trimTo = (belowSeq: number) => bus.trim(liquidationsStream, belowSeq)
  const target = {
    bus,
    stream: liquidationsStream,
    subject: liquidationsSubject,
    onUnknown: (err: unknown) => log.warn({ err }, 'append of liquidations not acknowledged'),
  }
  return {
    held,
    lastBlock: () => lastBlock,
    async publish(news) {
      for (const part of partsOf(news)) {
        try {
          lastSeq = await appendFenced(target, encodeLiquidations(part), lastSeq)
        } catch (error) {
          if (!(error instanceof AnotherWriter)) throw error
          // What is not read now, the next try to append meets again.
          await orLater(catchUp(), 'liquidations of another reader were not read')
          return false
        }
        take(part)
        if (lastSeq % TRIM_EVERY === 0 && lastSeq > KEPT_MESSAGES)
          await orLater(trimTo(lastSeq - KEPT_MESSAGES), 'liquidations were not trimmed')
      }
      return true
    },
  }
}

/** Awaits work on the stream that a later call does again where the bus does not answer for a moment. */
const logUnreadable =
  (log: Pick<Logger, 'warn'>) =>
  async (work: Promise<void>, what: string): Promise<void> => {
    try {
      await work
    } catch (err) {
      if (!mayBeReadLater(err)) throw err
      log.warn({ err }, what)
    }
  }

/** In parts that a message takes, in order. */
function partsOf({ takenBack, added }: LiquidationNews): LiquidationNews[] {
  const parts = Math.ceil(Math.max(takenBack.length, added.length) / MAX_LIQUIDATIONS)
  return Array.from({ length: parts }, (_, i) => {
    const from = i * MAX_LIQUIDATIONS
    const to = (i + 1) * MAX_LIQUIDATIONS
    return { takenBack: takenBack.slice(from, to), added: added.slice(from, to) }
  }).filter(isNews)
}
