import {
  MessagesGone,
  StreamMissing,
  type Bus,
  type FollowOptions,
  type Subscription,
} from '../runtime/bus/bus.js'
import { connectVenueBus } from '../runtime/bus/stream-versions.js'
import { openFeedArchive, type FeedArchive } from './feed-archive.js'

/** Messages of the archive per read. */
const READ_CHUNK = 256

type ConnectOptions = Parameters<typeof connectVenueBus>[0]

/** connectVenueBus for a process that reads feeds from their first message; `archiveDir` is FEED_ARCHIVE_DIR. */
export async function connectArchivedBus(
  options: ConnectOptions & { readonly archiveDir: string | undefined },
): Promise<Bus> {
  const { archiveDir, ...rest } = options
  return withArchive(await connectVenueBus(rest), archiveDir)
}

/**
 * The bus with the archive and the stream of each feed as one: what is trimmed is read from the archive. Everything else
 * is the bus's. Without a directory it is the bus itself.
 */
export function withArchive(bus: Bus, archiveDir: string | undefined): Bus {
  if (archiveDir === undefined) return bus
  const archive = openFeedArchive(archiveDir)
  return {
    ...bus,
    async streamState(stream) {
      const state = await bus.streamState(stream)
      const last = (await archive.segments(stream)).at(-1)?.last_seq ?? 0
      const reaches = last > 0 && last + 1 >= state.firstSeq
      return reaches ? { ...state, firstSeq: 1 } : state
    },
    async read(stream, fromSeq, limit) {
      try {
        return await bus.read(stream, fromSeq, limit)
      } catch (error) {
        if (!(error instanceof MessagesGone)) throw error
        const archived = await archive.read(stream, fromSeq, limit)
        if (archived.length === 0) throw error
        return [...archived]
      }
    },
    follow: (options) => followArchived(bus, archive, options),
  }
}

/** Passes the trimmed messages from the archive to the handler, then follows the stream; again when that is trimmed meanwhile. */
async function followArchived(
  bus: Bus,
  archive: FeedArchive,
  options: FollowOptions,
): Promise<Subscription> {
  const { stream } = options
  let next = options.fromSeq
  let stopped = false
  let live: Subscription | undefined

  const fail = (error: unknown): void => {
    if (!stopped) options.onError(error instanceof Error ? error : new Error(String(error)))
  }
  const readArchive = async (): Promise<void> => {
    while (!stopped && next < (await firstSeqOf(bus, stream))) {
      const messages = await archive.read(stream, next, READ_CHUNK)
      if (messages.length === 0) return
      for (const message of messages) {
        if (stopped) return
        await options.onMessage(message)
        next = message.seq + 1
      }
    }
  }
  const run = async (): Promise<void> => {
    await readArchive()
    if (stopped) return
    const begun = next
    live = await bus.follow({
      ...{ stream, fromSeq: next },
      onMessage(message) {
        next = message.seq + 1
        return options.onMessage(message)
      },
      onError(error) {
        const isTrimmed = error instanceof MessagesGone
        const resume = async (): Promise<void> => {
          const [archived] = isTrimmed ? await archive.read(stream, next, 1) : []
          if (archived === undefined || (next === begun && archived.seq !== next)) throw error
          await run()
        }
        running = resume().catch(fail)
      },
    })
  }
  const isTrimmed = next < (await firstSeqOf(bus, stream))
  let running = Promise.resolve()
  if (isTrimmed) running = run().catch(fail)
  else await run()
  return {
    async stop() {
      stopped = true
      await running
      await live?.stop()
    },
  }
}

/** 1 while the stream does not exist: `follow` waits for it. */
async function firstSeqOf(bus: Bus, stream: string): Promise<number> {
  try {
    return (await bus.streamState(stream)).firstSeq
  } catch (error) {
    if (error instanceof StreamMissing) return 1
    throw error
  }
}
