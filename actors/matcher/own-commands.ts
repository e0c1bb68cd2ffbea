import { setTimeout as delay } from 'node:timers/promises'
import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { commandsSubject, MATCHER_SOURCE, OPERATOR_SOURCE } from '../../bus-schemas/subjects.js'
import { createNumbering, type Command, type LoggedCommand } from '../../core/engine/command.js'
import { PENDING_MATCHES_MAX } from '../../core/engine/limits.js'
import { AppendRefused, AppendUnknown, type Bus } from '../../runtime/bus/bus.js'
import { createGroupCommit } from '../../runtime/process/group-commit.js'

const COMMANDS_MAX_PER_MESSAGE = 256
const RETRY_PAUSE_MS = 200

/** An operator who waits for an answer. */
export type Asker = Required<Pick<LoggedCommand, 'replyTo' | 'requestId'>>

interface OwnCommand {
  readonly command: Command
  readonly asker: Asker | undefined
}

export interface OwnCommandsOptions extends LogMarket {
  readonly bus: Bus
  /** The term in which this matcher leads; its commands are numbered above those of all earlier ones. */
  readonly term: number
  readonly nowMs: () => number
  readonly onUnknown: (error: unknown) => void
}

/** What the matcher's shell puts into its market's log: ticks, settlement results, continuations, operators' commands. */
export interface OwnCommands {
  /** Resolves when the command is durable in the log. `asker` waits for the answer of its step. */
  submit(command: Command, asker?: Asker): Promise<void>
  /** Why the last append failed, while it is being tried again; undefined when all is well. */
  trouble(): string | undefined
  /** Gives up what is not durable yet. */
  stop(): Promise<void>
}

/**
 * Commands that wait while an append is under way travel together in the next. An append whose outcome is unknown is
 * repeated with the same numbers, which the step applies once; one that the server refuses is repeated until it has
 * room again.
 */
export function createOwnCommands(options: OwnCommandsOptions): OwnCommands {
  const numbers = createNumbering(options.term)
  let stopped = false
  let trouble: string | undefined
  const append = async (data: Uint8Array): Promise<void> => {
    for (;;) {
      try {
        await options.bus.append(commandsSubject(options.market, 'matcher'), data)
        trouble = undefined
        return
      } catch (error) {
        const mayClearUp = error instanceof AppendUnknown || error instanceof AppendRefused
        if (stopped || !mayClearUp) throw error
        trouble = error.message
        options.onUnknown(error)
        await delay(RETRY_PAUSE_MS)
      }
    }
  }
  const group = createGroupCommit<OwnCommand>({
    maxItems: COMMANDS_MAX_PER_MESSAGE,
    maxQueue: 2 * PENDING_MATCHES_MAX,
    flush: (commands) => {
      const atMs = options.nowMs()
      const logged = commands.map(({ command, asker }): LoggedCommand => {
        const source = asker === undefined ? MATCHER_SOURCE : OPERATOR_SOURCE
        return { source, sourceNo: numbers.next(), atMs, ...asker, command }
      })
      return append(commandMessages(options).encode(logged))
    },
  })
  return {
    submit: (command, asker) => group.submit({ command, asker }),
    trouble: () => trouble,
    stop: async () => {
      stopped = true
      await group.stop()
    },
  }
}
