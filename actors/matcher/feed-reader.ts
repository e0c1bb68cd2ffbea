import type { Bus, BusMessage } from '../../bus-schemas/bus.js'

/** Messages read ahead of whoever takes them. */
const AHEAD_MAX = 512

/** Reads a feed forward, each message once. */
export interface FeedReader {
  /** The next message, which stays the next; undefined when none comes in time. */
  peek(withinMs: number): Promise<BusMessage | undefined>
  /** Takes what peek has shown. */
  take(): void
  stop(): Promise<void>
}

export interface FeedReaderOptions {
  readonly bus: Bus
  readonly stream: string
  readonly fromSeq: number
  readonly onError: (error: Error) => void
}

export async function openFeedReader(options: FeedReaderOptions): Promise<FeedReader> {
  const { bus, stream, fromSeq, onError } = options
  const ahead: BusMessage[] = []
  let arrived = (): void => undefined
  let hasRoom = (): void => undefined
  const subscription = await bus.follow({
    stream,
    fromSeq,
    onMessage: async (message) => {
      ahead.push(message)
      arrived()
      if (ahead.length >= AHEAD_MAX) await new Promise<void>((resolve) => (hasRoom = resolve))
    },
    onError,
  })
  return {
    peek: async (withinMs) => {
      if (ahead.length === 0 && withinMs > 0) {
        await new Promise<void>((resolve) => {
          const timer = withinMs === Infinity ? undefined : setTimeout(resolve, withinMs)
          arrived = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return ahead[0]
    },
    take: () => {
      ahead.shift()
      if (ahead.length < AHEAD_MAX) hasRoom()
    },
    stop: async () => {
      hasRoom()
      await subscription.stop()
    },
  }
}
