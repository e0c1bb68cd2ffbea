import {
  MessagesGone,
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
 * The bus with the archive and the stream of each feed as one. What the archive holds is read from there, also where the stream
 * still has it: an order that the archive has forgotten is then forgotten with all its changes. Everything else is the bus's.
 * Without a directory it is the bus itself.
 */
export function withArchive(bus: Bus, archiveDir: string | undefined): Bus {
  if (archiveDir === undefined) return bus
  const archive = openFeedArchive(archiveDir)
  /** By stream, as it was when it was last looked at. */
  const ends = new Map<string, number>()
  const endOf = async (stream: string): Promise<number> => {
    const end = (await archive.segments(stream)).at(-1)?.last_seq ?? 0
    ends.set(stream, end)
    return end
  }
  const readArchive = async (stream: string, fromSeq: number, limit: number) =>
    fromSeq > (await endOf(stream)) ? [] : [...(await archive.read(stream, fromSeq, limit))]
  return {
    ...bus,
    async streamState(stream) {
      const state = await bus.streamState(stream)
      const last = await endOf(stream)
      const reaches = last > 0 && last + 1 >= state.firstSeq
      return reaches ? { ...state, firstSeq: 1 } : state
    },
    async read(stream, fromSeq, limit) {
      // A reader beyond the end that it has seen goes on in the stream, without a look at the files for each read.
      const isBeyond = fromSeq > (ends.get(stream) ?? Infinity)
      const archived = isBeyond ? [] : await readArchive(stream, fromSeq, limit)
      if (archived.length > 0) return archived
      try {
        return await bus.read(stream, fromSeq, limit)
      } catch (error) {
        const found = error instanceof MessagesGone && (await readArchive(stream, fromSeq, limit))
        if (found === false || found.length === 0) throw error
        return found
      }
    },
    follow: (options) => followArchived(bus, archive, options),
  }
}

/** Passes what the archive holds to the handler, then follows the stream; again when that is trimmed meanwhile. */
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
    while (!stopped) {
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
      stream,
      fromSeq: next,
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
  const isArchived = (await archive.read(stream, next, 1)).length > 0
  let running = Promise.resolve()
  if (isArchived) running = run().catch(fail)
  else await run()
  return {
    async stop() {
      stopped = true
      await running
      await live?.stop()
    },
  }
}
