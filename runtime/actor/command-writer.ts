import { setTimeout as delay } from 'node:timers/promises'
import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { commandsSubject, type CommandWriter } from '../../bus-schemas/subjects.js'
import type { LoggedCommand, Numbering } from '../../core/model/command.js'
import { AppendRefused, AppendUnknown, type Bus } from '../bus/bus.js'

const RETRY_PAUSE_MS = 200

/** A command before it has its number and its time; without a source it is of the writer's own. */
export interface NewCommand
  extends
    Pick<LoggedCommand, 'command' | 'replyTo' | 'requestId'>,
    Partial<Pick<LoggedCommand, 'source'>> {}

export interface LogWriterOptions extends LogMarket {
  readonly bus: Pick<Bus, 'append'>
  /** The process that writes; absent for a restore. */
  readonly writer?: CommandWriter
  /** Of the commands that name none. */
  readonly source: string
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
  /** Unique to the process that writes in this term: by it and its last number the server knows a message that comes twice. */
  readonly id?: string
  /**
   * Called before an append is repeated; resolves with the message's sequence where the log holds it, and waits for as long as that cannot
   * be told. What it rejects with ends the append.
   */
  readonly lookUp?: (message: LogMessage) => Promise<number | undefined>
  /** Called each time a message was sent and is not acknowledged yet. */
  readonly onSent?: () => void
}

/** Numbered commands, encoded. */
export interface LogMessage {
  /** Number of its last command. */
  readonly lastNo: number
  readonly data: Uint8Array
}

/** Writes the commands of one process into a market's log. */
export interface LogWriter {
  /** Numbers the commands in their order, in as few messages as hold them. Throws InvariantBroken where one fits no message. */
  compose(commands: readonly NewCommand[]): readonly LogMessage[]
  /**
   * Appends a message; resolves with its sequence once the log holds it. An append whose outcome is not known is repeated with the
   * same numbers, which the step applies once; one that the server refuses, until it has room. Rejects with the last such error when
   * that is given up, and with any other error at once. One call at a time.
   */
  store(message: LogMessage): Promise<number>
  /** Composes messages of the commands and stores one after the other. */
  append(commands: readonly NewCommand[]): Promise<void>
  /** Why the last append failed, while it is being repeated; undefined when all is well. */
  trouble(): string | undefined
}

export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { bus, market, writer, signal, id, lookUp, onSent } = options
  const subject = commandsSubject(market, writer)
  const compose = createComposer(options)
  let expectedLastSeq = options.endSeq
  let trouble: string | undefined

  const send = async ({ data, lastNo }: LogMessage): Promise<number> => {
    const appending = bus.append(subject, data, {
      ...(expectedLastSeq !== undefined && { expectedLastSeq }),
      // Another process may use the same numbers until it is fenced.
      ...(id !== undefined && { messageId: [writer, id, lastNo].join(':') }),
    })
    onSent?.()
    return appending
  }
  /** Waits before an append is repeated, or throws why it is not. */
  const pauseAfter = async (error: unknown): Promise<void> => {
    const mayClearUp = error instanceof AppendUnknown || error instanceof AppendRefused
    if (signal.aborted || !mayClearUp) throw error
    trouble = error.message
    options.onUnknown(error)
    await delay(RETRY_PAUSE_MS, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) throw error
  }
  const sendUntilStored = async (message: LogMessage): Promise<number> => {
    for (;;) {
      try {
        return await send(message)
      } catch (error) {
        await pauseAfter(error)
      }
      const found = await lookUp?.(message)
      if (found !== undefined) return found
    }
  }
  const store = async (message: LogMessage): Promise<number> => {
    const seq = await sendUntilStored(message)
    if (expectedLastSeq !== undefined) expectedLastSeq = seq
    trouble = undefined
    return seq
  }
  return {
    compose,
    store,
    append: async (commands) => {
      for (const message of compose(commands)) await store(message)
    },
    trouble: () => trouble,
  }
}

function createComposer(options: LogWriterOptions): LogWriter['compose'] {
  const { source: own, numbers, nowMs } = options
  const { encodeGroup } = commandMessages(options)
  const numbered = (given: NewCommand, atMs: number): LoggedCommand => {
    const { source = own, replyTo, requestId, command } = given
    const sourceNo = numbers.next()
    // Written out, because spreading costs every order.
    if (replyTo !== undefined && requestId !== undefined) {
      return { source, sourceNo, atMs, replyTo, requestId, command }
    }
    const asker = {
      ...(replyTo !== undefined && { replyTo }),
      ...(requestId !== undefined && { requestId }),
    }
    return { source, sourceNo, atMs, ...asker, command }
  }
  return (commands) => {
    const atMs = nowMs()
    const messages: LogMessage[] = []
    let left = commands.map((each) => numbered(each, atMs))
    while (left.length > 0) {
      const { data, count } = encodeGroup(left)
      messages.push({ data, lastNo: left[count - 1]?.sourceNo ?? 0 })
      left = left.slice(count)
    }
    return messages
  }
}
