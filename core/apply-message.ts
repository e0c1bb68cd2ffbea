import { applyCommand, type AppliedCommand } from './apply-command.js'
import type { Block, Change } from './change.js'
import type { LoggedCommand } from './command.js'
import type { MatcherState } from './matcher-state.js'
import { BLOCK_MAX_CHANGES } from './matching-limits.js'

/** One command of a message with what came of it. */
export interface MessageResult {
  readonly logged: LoggedCommand
  readonly applied: AppliedCommand
}

/** Commands whose changes travel together; `block` is absent when they changed nothing. */
export interface BlockOfCommands {
  readonly block?: Block
  readonly results: readonly MessageResult[]
}

/**
 * Applies one message of the command log and cuts its changes into blocks. The cuts depend on the log alone, so that
 * replaying the same log gives byte-identical blocks; nearly always there is one block.
 */
export function* applyMessage(
  state: MatcherState,
  commandSeq: number,
  commands: readonly LoggedCommand[],
): Generator<BlockOfCommands> {
  let changes: Change[] = []
  let results: MessageResult[] = []
  for (const [commandIndex, logged] of commands.entries()) {
    const applied = applyCommand(state, logged)
    changes.push(...applied.changes)
    results.push({ logged, applied })
    if (changes.length >= BLOCK_MAX_CHANGES || commandIndex === commands.length - 1) {
      yield cut(state, { commandSeq, commandIndex, changes, results })
      changes = []
      results = []
    }
  }
}

interface Cut {
  readonly commandSeq: number
  readonly commandIndex: number
  readonly changes: Change[]
  readonly results: MessageResult[]
}

function cut(
  state: MatcherState,
  { commandSeq, commandIndex, changes, results }: Cut,
): BlockOfCommands {
  const [first] = changes
  if (first === undefined) return { results }
  const { market } = state.rules
  return { block: { market, commandSeq, commandIndex, firstSeq: first.seq, changes }, results }
}
