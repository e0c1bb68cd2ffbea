import { applyCommand, type AppliedCommand } from './apply-command.js'
import type { Block, Change } from './change.js'
import type { LoggedCommand } from './command.js'
import type { MatcherState } from './matcher-state.js'
import { BLOCK_CLOSES_AT_WEIGHT } from './matching-limits.js'

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
  let weight = 0
  for (const [commandIndex, logged] of commands.entries()) {
    const applied = applyCommand(state, logged)
    changes.push(...applied.changes)
    results.push({ logged, applied })
    for (const change of applied.changes) weight += weigh(change)
    if (weight >= BLOCK_CLOSES_AT_WEIGHT || commandIndex === commands.length - 1) {
      yield cut(state, { commandSeq, commandIndex, changes, results })
      changes = []
      results = []
      weight = 0
    }
  }
}

const BASE_WEIGHT = 600
const ORDER_WEIGHT = 400
/** Bytes that one UTF-16 unit of a client's text takes at most. */
const TEXT_WEIGHT = 3

/** About the bytes of a change on the bus; what clients choose the length of is counted, the rest is estimated. */
function weigh(change: Change): number {
  const ids = TEXT_WEIGHT * change.orderId.length
  if (change.kind !== 'OrderPlaced') return BASE_WEIGHT + 3 * ids
  return BASE_WEIGHT + ORDER_WEIGHT + ids + change.order.statement.length
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
