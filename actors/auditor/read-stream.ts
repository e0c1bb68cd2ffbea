import { StreamMissing, type Bus, type BusMessage } from '../../bus-schemas/bus.js'

const PAGE = 256

/** The messages of a stream from one sequence to another, both included, page by page. Throws MessagesGone. */
export async function* readStream(
  bus: Pick<Bus, 'read'>,
  stream: string,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<BusMessage> {
  for (let next = from; next <= to;) {
    const messages = await bus.read(stream, next, Math.min(PAGE, to - next + 1))
    if (messages.length === 0) throw new Error(`${stream} ends before message ${next}`)
    yield* messages
    next += messages.length
  }
}

/** Where a stream begins and ends; as an empty one while nobody has made it. */
export async function extentOf(bus: Pick<Bus, 'streamState'>, stream: string) {
  try {
    return await bus.streamState(stream)
  } catch (error) {
    if (error instanceof StreamMissing) return { firstSeq: 1, lastSeq: 0 }
    throw error
  }
}
