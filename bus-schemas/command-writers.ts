import { INTAKE_SOURCE, type Command, type LoggedCommand } from '../core/engine/command.js'
import { writerIn } from './subjects.js'

/** Which process may put which commands into a market's log. */

/** A process that writes to the log, as its subject names it. */
export type CommandWriter = 'order-intake' | 'chain-reader' | 'matcher'

const INTAKE = ['order-intake'] as const
const CHAIN_READER = ['chain-reader'] as const
const MATCHER = ['matcher'] as const
const ALL = ['order-intake', 'chain-reader', 'matcher'] as const

/** Sources under which commands are numbered, beside the one of the intake. */
export const CHAIN_READER_SOURCE = 'chain-reader'
/** Everything that a market's matcher itself puts into the log. */
export const MATCHER_SOURCE = 'matcher'
/** Commands that an operator has asked for. */
export const OPERATOR_SOURCE = 'operator'
/** The command that opens a market. */
export const OPENER_SOURCE = 'market-file'

const SOURCES: Readonly<Record<CommandWriter, readonly string[]>> = {
  'order-intake': [INTAKE_SOURCE, OPENER_SOURCE],
  'chain-reader': [CHAIN_READER_SOURCE, OPENER_SOURCE],
  matcher: [MATCHER_SOURCE, OPERATOR_SOURCE, OPENER_SOURCE],
}

const WRITERS: Readonly<Record<Command['kind'], readonly CommandWriter[]>> = {
  MarketOpened: ALL,
  // Only a restore writes these two, under the subject without a writer.
  MarketRestored: [],
  GapObserved: [],
  GapAccepted: MATCHER,
  MarketRulesSet: MATCHER,
  MarketPaused: MATCHER,
  MarketResumed: MATCHER,
  MarketDisabled: MATCHER,
  MarketEnabled: MATCHER,
  PlaceOrder: INTAKE,
  RepeatOrder: INTAKE,
  CancelOrder: INTAKE,
  ReduceOrder: INTAKE,
  CancelAll: INTAKE,
  CancelOrders: INTAKE,
  SetLease: INTAKE,
  EndLease: INTAKE,
  // The intake's is the barrier of its term.
  Tick: ['order-intake', 'matcher'],
  ContinueOrder: MATCHER,
  SignatureChecked: INTAKE,
  SessionKeyObserved: INTAKE,
  AccountObserved: CHAIN_READER,
  MarketObserved: CHAIN_READER,
  SettlementReported: MATCHER,
  ChainFaultObserved: MATCHER,
  SettlementReversed: MATCHER,
  ReversalsRead: MATCHER,
  EngineVersionSet: MATCHER,
}

/**
 * Whether the writer of this subject may write the command: its kind, and a number of its own sources. A message of release
 * 0.2.0 was appended under a subject that all writers shared, to which only a restore may append.
 */
export function mayWrite(subject: string, { source, command }: LoggedCommand): boolean {
  const writer = writerIn(subject)
  if (writer === undefined) return true
  return (
    isWriter(writer) && WRITERS[command.kind].includes(writer) && SOURCES[writer].includes(source)
  )
}

const isWriter = (name: string): name is CommandWriter => Object.hasOwn(SOURCES, name)
