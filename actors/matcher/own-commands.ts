import { MAX_COMMANDS_PER_MESSAGE, type LogMarket } from '../../bus-schemas/commands.js'
import { MATCHER_SOURCE, OPERATOR_SOURCE } from '../../bus-schemas/subjects.js'
import { createNumbering, type Command, type LoggedCommand } from '../../core/model/command.js'
import { PENDING_MATCHES_MAX } from '../../core/model/limits.js'
import { createLogWriter } from '../../runtime/actor/command-writer.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { createGroupCommit } from '../../runtime/process/group-commit.js'

/** An operator who waits for an answer. */
export type CommandAsker = Required<Pick<LoggedCommand, 'replyTo' | 'requestId'>>

interface OwnCommand {
  readonly command: Command
  readonly asker: CommandAsker | undefined
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
  submit(command: Command, asker?: CommandAsker): Promise<void>
  /** Why the last append failed, while it is being tried again; undefined when all is well. */
  trouble(): string | undefined
  /** Gives up what is not durable yet. */
  stop(): Promise<void>
}

/** Commands that wait while an append is under way travel together in the next. */
export function createOwnCommands(options: OwnCommandsOptions): OwnCommands {
  const { term, ...log } = options
  const stopping = new AbortController()
  const writer = createLogWriter({
    ...log,
    writer: 'matcher',
    source: MATCHER_SOURCE,
    numbers: createNumbering(term),
    signal: stopping.signal,
  })
  const group = createGroupCommit<OwnCommand>({
    maxItems: MAX_COMMANDS_PER_MESSAGE,
    maxQueue: 2 * PENDING_MATCHES_MAX,
    flush: (commands) =>
      writer.append(
        commands.map(({ command, asker }) =>
          asker === undefined ? { command } : { source: OPERATOR_SOURCE, ...asker, command },
        ),
      ),
  })
  return {
    submit: (command, asker) => group.submit({ command, asker }),
    trouble: () => writer.trouble(),
    stop: async () => {
      stopping.abort()
      await group.stop()
    },
  }
}
