import { decodeBlock } from '../../bus-schemas/blocks.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { BusUnavailable, StreamMissing, type Bus } from './bus.js'

const LOOK_EVERY_MS = 1_000

export interface MissingLogsOptions {
  readonly bus: Pick<Bus, 'streamState' | 'lastMessage'>
  /** A log was restored and its market could not be opened, or a feed cannot be read. */
  readonly onError: (error: unknown) => void
  /** Pause between two looks at a log. */
  readonly everyMs?: number
}

/** Looks for logs that are missing until an operator has restored them. */
export interface MissingLogs {
  /** Calls back once the market's log is there as far as its feed has read it. Nothing is declared meanwhile. */
  await(market: string, onRestored: () => Promise<void>): void
  /** No callback begins after this resolves. */
  stop(): Promise<void>
}

export function createMissingLogs(options: MissingLogsOptions): MissingLogs {
  const { bus, onError, everyMs = LOOK_EVERY_MS } = options
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
    if (error instanceof StreamMissing || error instanceof BusUnavailable) return false
    throw error
  }
}
