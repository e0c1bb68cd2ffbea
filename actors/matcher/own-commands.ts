import { setTimeout as delay } from 'node:timers/promises'
import { AppendRefused, AppendUnknown, type Bus } from '../../bus-schemas/bus.js'
import { encodeCommands } from '../../bus-schemas/command-message.js'
import { commandsSubject } from '../../bus-schemas/subjects.js'
import type { Command } from '../../core/command.js'
import { PENDING_MATCHES_MAX } from '../../core/matching-limits.js'
import { createGroupCommit } from '../group-commit.js'
import { createNumbering, MATCHER_SOURCE } from './terms.js'

const COMMANDS_MAX_PER_MESSAGE = 256
const RETRY_PAUSE_MS = 200

export interface OwnCommandsOptions {
  readonly bus: Bus
  readonly market: string
  /** The term in which this matcher leads; its commands are numbered above those of all earlier ones. */
  readonly term: number
  readonly nowMs: () => number
  readonly onUnknown: (error: unknown) => void
}

/** What the matcher's shell itself puts into its market's log: ticks, settlement results, continuations. */
export interface OwnCommands {
  /** Resolves when the command is durable in the log. */
  submit(command: Command): Promise<void>
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
        await options.bus.append(commandsSubject(options.market), data)
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
  const group = createGroupCommit<Command>({
    maxItems: COMMANDS_MAX_PER_MESSAGE,
    maxQueue: 2 * PENDING_MATCHES_MAX,
    flush: (commands) => {
      const atMs = options.nowMs()
      const logged = commands.map((command) => {
        return { source: MATCHER_SOURCE, sourceNo: numbers.next(), atMs, command }
      })
      return append(encodeCommands(logged))
    },
  })
  return {
    submit: (command) => group.submit(command),
    trouble: () => trouble,
    stop: async () => {
      stopped = true
      await group.stop()
    },
  }
}
