import { setTimeout as delay } from 'node:timers/promises'
import { decodeJournal } from '../../bus-schemas/journal.js'
import { BusUnavailable, type Bus } from '../../runtime/bus/bus.js'
import { Deposed } from './append-entries.js'

/** Short against WRITER_SILENCE_MS: two processes answer the same requests until the older one knows. */
const LOOK_EVERY_MS = 1_000

export interface WatchTermOptions {
  readonly bus: Pick<Bus, 'streamState' | 'lastMessage'>
  readonly stream: string
  /** Of this writer. */
  readonly term: number
  /** The end of the stream as this writer knows it. */
  readonly lastSeq: () => number
  /** Called once, with Deposed when a writer of a greater term has appended to the stream. */
  readonly onFatal: (error: unknown) => void
  /** LOOK_EVERY_MS by default. */
  readonly everyMs?: number | undefined
}

/**
 * Looks at the stream's end until it is stopped. Another process takes over while this one is cut off from the bus; a
 * writer that has nothing to append would not find out.
 */
export function watchTerm(options: WatchTermOptions): { stop(): void } {
  const { everyMs = LOOK_EVERY_MS, onFatal } = options
  const stopping = new AbortController()
  const { signal } = stopping
  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (!signal.aborted) await look(options)
    }
  }
  watch().catch((error: unknown) => {
    if (!signal.aborted) onFatal(error)
  })
  return { stop: () => stopping.abort() }
}

async function look({ bus, stream, term, lastSeq }: WatchTermOptions): Promise<void> {
  try {
    const state = await bus.streamState(stream)
    if (state.lastSeq <= lastSeq()) return
    const last = await bus.lastMessage(stream)
    const found = last === undefined ? 0 : decodeJournal(last.data).term
    if (found > term)
      throw new Deposed(
        `another process has taken over: ${stream} ends in term ${found}, not ${term}`,
      )
  } catch (error) {
    if (!(error instanceof BusUnavailable)) throw error
  }
}
