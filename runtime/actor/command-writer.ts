import { setTimeout as delay } from 'node:timers/promises'
import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { commandsSubject, type CommandWriter } from '../../bus-schemas/subjects.js'
import type { LoggedCommand, Numbering } from '../../core/model/command.js'
import { AppendRefused, AppendUnknown, type Bus } from '../bus/bus.js'

const RETRY_PAUSE_MS = 200

/** A command before it has its number and its time. */
export type NewCommand = Omit<LoggedCommand, 'sourceNo' | 'atMs'>

export interface LogWriterOptions extends LogMarket {
  readonly bus: Pick<Bus, 'append'>
  /** The process that writes; absent for a restore. */
  readonly writer?: CommandWriter
  /** Of the writer's term; its sources, and the logs that it writes, may share them. */
  readonly numbers: Numbering
  /** Unix milliseconds; stamps commands. */
  readonly nowMs: () => number
  /** Once aborted, no append is repeated. */
  readonly signal: AbortSignal
  /** Told of each append that has to be repeated. */
  readonly onUnknown: (error: unknown) => void
  /**
   * Where the log ends, for a process that must be the only one that writes it: each message is fenced by the one before. What is
   * repeated then fails with WrongLastSequence where the first was stored.
   */
  readonly endSeq?: number
}

/** Writes the commands of one process into a market's log. */
export interface LogWriter {
  /**
   * Numbers the commands and appends them in their order, in as few messages as hold them. Resolves when the log holds all.
   * An append whose outcome is not known is repeated with the same numbers, which the step applies once; one that the server
   * refuses, until it has room. Rejects with the last such error when that is given up. One call at a time.
   */
  append(commands: readonly NewCommand[]): Promise<void>
  /** Why the last append failed, while it is being repeated; undefined when all is well. */
  trouble(): string | undefined
}

export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { bus, market, writer, numbers, nowMs, signal, onUnknown } = options
  const { encodeGroup } = commandMessages(options)
  const subject = commandsSubject(market, writer)
  let expectedLastSeq = options.endSeq
  let trouble: string | undefined
  const store = async (data: Uint8Array): Promise<void> => {
    for (;;) {
      try {
        const fence = expectedLastSeq === undefined ? {} : { expectedLastSeq }
        const seq = await bus.append(subject, data, fence)
        if (expectedLastSeq !== undefined) expectedLastSeq = seq
        trouble = undefined
        return
      } catch (error) {
        const mayClearUp = error instanceof AppendUnknown || error instanceof AppendRefused
        if (signal.aborted || !mayClearUp) throw error
        trouble = error.message
        onUnknown(error)
        await delay(RETRY_PAUSE_MS, undefined, { signal }).catch(() => undefined)
        if (signal.aborted) throw error
      }
    }
  }
  return {
    async append(commands) {
      const atMs = nowMs()
      let left = commands.map((command): LoggedCommand => ({
        ...command,
        sourceNo: numbers.next(),
        atMs,
      }))
      while (left.length > 0) {
        const { data, count } = encodeGroup(left)
        await store(data)
        left = left.slice(count)
      }
    },
    trouble: () => trouble,
  }
}
