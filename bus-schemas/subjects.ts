import type { Hex } from '../core/action.js'
import { INTAKE_SOURCE, type Command, type LoggedCommand } from '../core/model/command.js'
import type { JournalOwner } from '../core/transaction-journal.js'
import type { TransferKind } from '../core/transfer.js'

/** Stream names and subjects: the only file that spells them. Client-chosen text never enters a subject. */

/** The register of markets: which there are, with what their logs begin, and their texts. */
export const registerStream = 'MARKETS'
export const registerSubject = 'markets'
/** An operator's request to register markets; answered by the order intake, which alone writes the register. */
export const askRegister = 'ask.register'

/** Command log of a market: everything that changes it, in order. */
export const commandsStream = (market: string): string => `COMMANDS_${market}`
export const isCommandsStream = (stream: string): boolean => stream.startsWith(commandsStream(''))
/**
 * Where a writer appends to it: each has a subject of its own, so that the bus can keep it from the others'. Without a writer
 * it is that of an operator's restore, which records for all of them what they have missed.
 */
export const commandsSubject = (market: string, writer?: string): string =>
  writer === undefined ? `commands.${market}` : `commands.${market}.${writer}`
/** Everything that the log takes. */
export const commandsSubjects = (market: string): readonly string[] => [
  commandsSubject(market),
  commandsSubject(market, '*'),
]
/** The writer of a message of the log, by its subject; undefined for a restore. */
const writerIn = (subject: string): string | undefined => subject.split('.')[2]

/** Feed of a market: the blocks of changes its matcher made. */
export const feedStream = (market: string): string => `FEED_${market}`
export const feedSubject = (market: string): string => `feed.${market}`
/** The subject of the stream of a feed. */
export const subjectOfFeed = (stream: string): string =>
  feedSubject(stream.slice(feedStream('').length))

/** Checkpoints of a market's matcher. */
export const checkpointsStream = (market: string): string => `CHECKPOINTS_${market}`
export const checkpointsSubject = (market: string): string => `checkpoints.${market}`

/** Journal of the transactions of a process: what its keys signed and what became of it, in order. */
export const journalStream = (owner: JournalOwner): string => `JOURNAL_${owner}`
export const journalSubject = (owner: JournalOwner): string => `journal.${owner}`
/** Processes without a log of their own that lead in terms; the stream of each holds these. */
export const LEADING_PROCESSES = ['order-intake', 'chain-reader'] as const
export type LeadingProcess = (typeof LEADING_PROCESSES)[number]
export const leadStream = (process: LeadingProcess): string => `LEAD_${process}`
export const isLeadStream = (stream: string): boolean => stream.startsWith('LEAD_')
export const leadSubject = (process: LeadingProcess): string => `lead.${process}`
/** The name of a market's matchers as an actor. */
export const matcherOf = (market: string): string => `matcher.${market}`
/** Who leads an actor answers here, at once: another copy of its process then waits, or ends. */
export const askLead = (actor: string): string => `ask.lead.${actor}`
/** Where answers and acknowledgements for a user of the bus arrive; only that user may listen there. */
export const inboxPrefix = (user: string): string => `_INBOX.${user}`

/** Requests with an answer; no stream captures them. */
export const askPlaceOrder = 'ask.order.place'
export const askCancelOrder = 'ask.order.cancel'
/** A new order in the place of another one. */
export const askReplaceOrder = 'ask.order.replace'
export const askReduceOrder = 'ask.order.reduce'
/** A cancel of many orders of one market, or a change of a lease. */
export const askCancels = 'ask.order.cancels'
/** The checks of an order that is not placed. */
export const askValidateOrder = 'ask.order.validate'
/** A signed deposit or withdrawal to be carried out; answered by the submitter of that kind. */
export const askTransfer = (kind: TransferKind): string => `ask.${kind}.submit`
/** What became of one, by its `action_hash`. */
export const askTransferRecord = (kind: TransferKind): string => `ask.${kind}.look_up`
/** A sample of the index, reported to the order intake, and how its limit stands. */
export const askIndexLag = 'ask.index_lag'
/** What an owner's accounts hold; answered by the fan-out. */
export const askBalances = 'ask.balances'
/** The accounts of an owner by the events of the chain; answered by the chain reader. */
export const askOwnerAccounts = 'ask.accounts'
/** When session keys end, by the same index. */
export const askSessionKeys = 'ask.session_keys'
/** The pending matches of one order and, for its owner, what its account holds; answered by the fan-out. */
export const askOrderFacts = 'ask.order_facts'
/** What the newest blocks touched, told to the order intake by the chain reader in each of its rounds. */
export const tellTouched = 'ask.touched'
/** How a submitter's gas wallet stands. */
export const askGasStanding = (kind: TransferKind): string => `ask.${kind}.gas`
/** What the submitters record of every deposit and withdrawal, in the order in which they wrote it. */
export const transfersStream = 'TRANSFERS'
export const transfersSubjects = 'transfers.>'
/** Those of one kind. */
export const transfersOf = (kind: TransferKind): string => `transfers.${kind}.*`
/** Progress of one transfer, under the hash of what was signed: 64 hex digits, nothing that a client worded. */
export const transferSubject = (kind: TransferKind, actionHash: Hex): string =>
  `transfers.${kind}.${actionHash.slice(2)}`
/** What the chain reader has seen of liquidations in all markets. */
export const liquidationsStream = 'LIQUIDATIONS'
export const liquidationsSubject = 'liquidations'
/** Auth frames that opened a socket: a nonce opens one once. */
export const socketNonces = 'socket_nonces'
/** Signed cancels of many orders: one cancels once in a market. */
export const cancelProofs = 'cancel_proofs'
/** Signed commands of operators: one is carried out once. */
export const operatorNonces = 'operator_nonces'
/** A bucket of claims, as the server's key-value tools name it, and one claim in it. */
export const claimsStream = (bucket: string): string => `KV_${bucket}`
export const claimsSubject = (bucket: string): string => claimSubject(bucket, '>')
export const claimSubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`
/** A matcher whose build lacks the engine version in question answers here; the leader then waits. */
export const askEngine = (market: string): string => `ask.engine.${market}`
/** An operator's question to a market, answered by the matcher that leads it. */
export const askMarket = (market: string): string => `ask.market.${market}`
/** Whether a match may be settled, answered by the matcher that leads the market. */
export const askSettlement = (market: string): string => `ask.settlement.${market}`
/** Whether orders with these nonces were ever placed here; answered by the order intake. */
export const askKnownOrders = 'ask.known_orders'
/** A request to trim a market's feed, judged and carried out by the matcher that leads it. */
export const askTrim = (market: string): string => `ask.trim.${market}`
/** Every process answers here whether it is ready: `ask.ping.<process>`, a matcher as `matcher-<market>`. */
export const askPing = (process: string): string => `ask.ping.${process}`

/** Which process may put which commands into a market's log. */

/** A process that writes to the log, as its subject names it. */
export type CommandWriter = 'order-intake' | 'chain-reader' | 'matcher'

const INTAKE = ['order-intake'] as const
const CHAIN_READER = ['chain-reader'] as const
const MATCHER = ['matcher'] as const
const ALL = ['order-intake', 'chain-reader', 'matcher'] as const

/** Sources under which commands are numbered, besides the one of the intake. */
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
  // The first of a writer's term is its epoch marker.
  Tick: ALL,
  ContinueOrder: MATCHER,
  SignatureChecked: INTAKE,
  SessionKeyObserved: INTAKE,
  AccountObserved: CHAIN_READER,
  MarketObserved: CHAIN_READER,
  PositionsClosed: CHAIN_READER,
  ClockObserved: CHAIN_READER,
  SettlementReported: MATCHER,
  ChainFaultObserved: MATCHER,
  SignerCodeObserved: MATCHER,
  SettlementReversed: MATCHER,
  ReversalsRead: MATCHER,
  EngineVersionSet: MATCHER,
}

/**
 * Whether the writer of this subject may write the command: its kind, and a number of its own sources. A restore may write all.
 */
export function mayWrite(subject: string, { source, command }: LoggedCommand): boolean {
  const writer = writerIn(subject)
  if (writer === undefined) return true
  return (
    isWriter(writer) && WRITERS[command.kind].includes(writer) && SOURCES[writer].includes(source)
  )
}

const isWriter = (name: string): name is CommandWriter => Object.hasOwn(SOURCES, name)
