import { commandMessages, type TakeNotices } from '../../bus-schemas/commands.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import { applyMessage, type BlockOfCommands } from '../../core/engine/apply-message.js'
import type { MatcherState } from '../../core/engine/state.js'
import type { Block } from '../../core/model/change.js'
import type { LoggedCommand } from '../../core/model/command.js'
import type { Bus, BusMessage } from '../../runtime/bus/bus.js'

/** Messages that are read ahead; the next ones come when all of these are taken. */
const AHEAD_MAX = 64
const noop = (): void => undefined

/** The reader was stopped while its owner still wanted a message. */
class ReaderStopped extends Error {
  override readonly name = 'ReaderStopped'
}

/** Reads a stream forward, each message once. */
export interface StreamReader {
  /** The next message, which stays the next until it is taken; undefined when it has not arrived. */
  ahead(): BusMessage | undefined
  /** The same; undefined when none arrives in time. */
  peek(withinMs: number): Promise<BusMessage | undefined>
  take(): void
  /** From now on ahead and peek throw ReaderStopped. */
  stop(): Promise<void>
}

export interface StreamReaderOptions {
  readonly bus: Bus
  readonly stream: string
  readonly fromSeq: number
  readonly onError: (error: Error) => void
}

export async function openStreamReader(options: StreamReaderOptions): Promise<StreamReader> {
  const { bus, stream, fromSeq, onError } = options
  const read: BusMessage[] = []
  let stopped = false
  let wakeReader = noop
  let wakeSender = noop
  const subscription = await bus.follow({
    stream,
    fromSeq,
    onMessage: (message) => {
      read.push(message)
      wakeReader()
      if (read.length < AHEAD_MAX) return
      return new Promise<void>((resolve) => (wakeSender = resolve))
    },
    onError,
  })
  const arrival = (withinMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = withinMs === Infinity ? undefined : setTimeout(resolve, withinMs)
      wakeReader = () => {
        // Many messages arrive before the reader goes on; resolving again is not free.
        wakeReader = noop
        clearTimeout(timer)
        resolve()
      }
    })
  const ahead = (): BusMessage | undefined => {
    if (stopped) throw new ReaderStopped(`the reader of ${stream} is stopped`)
    return read[0]
  }
  return {
    ahead,
    peek: async (withinMs) => {
      if (read.length === 0 && !stopped) await arrival(withinMs)
      return ahead()
    },
    take: () => {
      read.shift()
      // Not with each that is taken: a full reader would make the sender wait for every message.
      if (read.length === 0) wakeSender()
    },
    stop: async () => {
      stopped = true
      wakeReader()
      wakeSender()
      await subscription.stop()
    },
  }
}

/** A message of the command log that is being applied, step by step. */
export interface LoggedMessage {
  readonly seq: number
  readonly commands: readonly LoggedCommand[]
  /** Commands that are applied to the state, with the block of their changes; undefined when the message is through. */
  readonly step: BlockOfCommands | undefined
  /** How many of its commands stand before that step. */
  readonly through: number
  /** Applies the commands of the next step. */
  advance(): void
}

/** A place in a command log: after the first `commandIndex` commands of a message, or after all of it if that is 0. */
export type LogPlace = Pick<Block, 'commandSeq' | 'commandIndex'>

/** A market's state, moved forward by its command log. */
export interface CommandLog {
  /** After the step of the message that is under way. */
  readonly state: MatcherState
  /** The last message that is through. */
  readonly commandSeq: number
  /** Where the step that is next stands. */
  readonly place: LogPlace
  /** The message that is under way, or else the next one; undefined when that has not arrived. */
  ahead(notices?: TakeNotices): LoggedMessage | undefined
  /** The same, however long it takes to arrive. */
  next(notices?: TakeNotices): Promise<LoggedMessage>
  /** The same; undefined when none is under way and none arrives in time. */
  nextWithin(ms: number): Promise<LoggedMessage | undefined>
  /** Closes the message that is under way, of which no step is left. */
  finish(): void
  /** Where the stream ends at this moment. */
  endSeq(): Promise<number>
  stop(): Promise<void>
}

export interface CommandLogOptions {
  readonly bus: Bus
  readonly market: string
  /** The state after the message `commandSeq`. From now on only the log changes it. */
  readonly state: MatcherState
  readonly commandSeq: number
  readonly onError: (error: Error) => void
  /** Called before each step. */
  readonly onStep: () => void
}

export async function openCommandLog(options: CommandLogOptions): Promise<CommandLog> {
  const { bus, state, onError, onStep } = options
  const stream = commandsStream(options.market)
  let { commandSeq } = options
  let current: LoggedMessage | undefined
  const reader = await openStreamReader({ bus, stream, fromSeq: commandSeq + 1, onError })
  const ahead = (notices?: TakeNotices) => {
    if (current !== undefined) return current
    const message = reader.ahead()
    if (message === undefined) return undefined
    reader.take()
    crash('matcher.after_read')
    onStep()
    const commands = commandMessages(state.identity).take(message, notices)
    current = openMessage({ state, seq: message.seq, commands, onStep })
    return current
  }
  const nextWithin = async (ms: number, notices?: TakeNotices) => {
    if (current === undefined) await reader.peek(ms)
    return ahead(notices)
  }
  return {
    state,
    ahead,
    get commandSeq() {
      return commandSeq
    },
    get place() {
      const { seq, through } = current ?? { seq: commandSeq, through: 0 }
      return through === 0
        ? { commandSeq, commandIndex: 0 }
        : { commandSeq: seq, commandIndex: through }
    },
    nextWithin: (ms) => nextWithin(ms),
    next: async (notices) => {
      const message = await nextWithin(Infinity, notices)
      assert(message !== undefined, `${stream} ended`)
      return message
    },
    finish: () => {
      assert(current !== undefined && current.step === undefined, 'a message is not through')
      commandSeq = current.seq
      current = undefined
    },
    endSeq: async () => (await bus.streamState(stream)).lastSeq,
    stop: () => reader.stop(),
  }
}

interface OpenMessageOptions extends Pick<LoggedMessage, 'seq' | 'commands'> {
  readonly state: MatcherState
  readonly onStep: () => void
}

function openMessage({ state, seq, commands, onStep }: OpenMessageOptions): LoggedMessage {
  const steps = applyMessage(state, seq, commands)
  const nextStep = (): BlockOfCommands | undefined => {
    onStep()
    const next = steps.next()
    return next.done === true ? undefined : next.value
  }
  let step = nextStep()
  let through = 0
  return {
    seq,
    commands,
    get step() {
      return step
    },
    get through() {
      return through
    },
    advance: () => {
      through += step?.results.length ?? 0
      step = nextStep()
    },
  }
}
