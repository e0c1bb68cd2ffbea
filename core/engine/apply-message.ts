import type { Block, Change } from '../model/change.js'
import { mayChangeRules, type LoggedCommand } from '../model/command.js'
import { BLOCK_CLOSES_AT_WEIGHT } from '../model/limits.js'
import type { MarketTerms } from '../model/market-terms.js'
import { applyCommand, type AppliedCommand } from './apply-command.js'
import type { MatcherState } from './state.js'

/** One command of a message with its result. */
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
  let [changes, results, terms, weight] = nothing()
  for (const [commandIndex, logged] of commands.entries()) {
    if (results.length > 0 && mayChangeRules(logged.command)) {
      yield cut(state, { commandSeq, commandIndex: commandIndex - 1, changes, terms, results })
      ;[changes, results, terms, weight] = nothing()
    }
    const applied = applyCommand(state, logged)
    changes.push(...applied.changes)
    results.push({ logged, applied })
    terms = applied.terms ?? terms
    for (const change of applied.changes) weight += weigh(change)
    if (weight >= BLOCK_CLOSES_AT_WEIGHT || commandIndex === commands.length - 1) {
      yield cut(state, { commandSeq, commandIndex, changes, terms, results })
      ;[changes, results, terms, weight] = nothing()
    }
  }
}

const nothing = (): [Change[], MessageResult[], MarketTerms | undefined, number] => [
  [],
  [],
  undefined,
  0,
]

const BASE_WEIGHT = 600
const ORDER_WEIGHT = 800
/** Bytes that one UTF-16 unit of a client's text takes at most. */
const TEXT_WEIGHT = 3

/** Estimates the bytes of a change on the bus; texts of client-chosen length are counted. */
function weigh(change: Change): number {
  const ids = TEXT_WEIGHT * change.orderId.length
  if (change.kind !== 'OrderPlaced') return BASE_WEIGHT + 3 * ids
  return BASE_WEIGHT + ORDER_WEIGHT + ids + change.order.signature.length
}

interface Cut {
  readonly commandSeq: number
  readonly commandIndex: number
  readonly changes: Change[]
  readonly terms: MarketTerms | undefined
  readonly results: MessageResult[]
}

function cut(
  state: MatcherState,
  { commandSeq, commandIndex, changes, terms, results }: Cut,
): BlockOfCommands {
  const [first] = changes
  if (first === undefined && terms === undefined) return { results }
  const { market } = state.identity
  const firstSeq = first?.seq ?? state.seq + 1
  const block = { market, commandSeq, commandIndex, firstSeq, changes }
  return { block: terms === undefined ? block : { ...block, terms }, results }
}
