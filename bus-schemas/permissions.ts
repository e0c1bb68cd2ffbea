import { JOURNAL_OWNERS, type JournalOwner } from '../core/transaction-journal.js'
import type { TransferKind } from '../core/transfer.js'
import {
  askBalances,
  askCancelOrder,
  askCancels,
  askEngine,
  askGasStanding,
  askIndexLag,
  askKnownOrders,
  askLead,
  askMarket,
  askOrderFacts,
  askOwnerAccounts,
  askPing,
  askPlaceOrder,
  askReduceOrder,
  askRegister,
  askReplaceOrder,
  askSessionKeys,
  askSettlement,
  askTransfer,
  askTransferRecord,
  askTrim,
  askValidateOrder,
  cancelProofs,
  checkpointsSubject,
  claimsStream,
  claimsSubject,
  commandsSubject,
  feedSubject,
  inboxPrefix,
  journalStream,
  journalSubject,
  LEADING_PROCESSES,
  leadStream,
  leadSubject,
  liquidationsStream,
  liquidationsSubject,
  matcherOf,
  operatorNonces,
  registerStream,
  registerSubject,
  socketNonces,
  tellTouched,
  transfersOf,
  transfersStream,
  type LeadingProcess,
} from './subjects.js'

/** Who may say what on the bus: one table from which the server's users are written. */

/** A process as the bus knows it; all matchers are one user, and so are all workers of the fan-out. */
export type BusUser =
  | 'gateway'
  | 'order-intake'
  | 'matcher'
  | 'chain-reader'
  | 'projector'
  | 'ws-fanout'
  | 'executor'
  | 'deposit-submitter'
  | 'withdrawal-submitter'
  | 'keeper'
  | 'auditor'
  | 'operator'

/** Subjects, in which `*` stands for one token and a `>` at the end for one or more. */
export interface Permissions {
  readonly publish: { readonly allow: readonly string[]; readonly deny: readonly string[] }
  readonly subscribe: { readonly allow: readonly string[]; readonly deny: readonly string[] }
}

/** What a user does on the bus. */
interface Speaker {
  /** Subjects of durable messages. */
  readonly appends?: readonly string[]
  /** Buckets in which it claims; it creates them. */
  readonly claims?: readonly string[]
  /** Streams that it creates, changes and trims; `markets` stands for those of every market. */
  readonly keeps?: readonly string[]
  /** Streams that it creates and changes, and does not trim. */
  readonly creates?: readonly string[]
  /** Streams of which it reads the messages, beyond where they end; `markets` stands for those of every market. */
  readonly reads?: readonly string[]
  /** Subjects on which it asks. */
  readonly asks?: readonly string[]
  /** Subjects on which it answers. */
  readonly answers?: readonly string[]
  /** Questions that another process takes and this one answers. */
  readonly answersFor?: readonly string[]
  /** Requests to the server that no other user makes. */
  readonly requests?: readonly string[]
}

const ANY = '*'
const MARKETS = 'markets'

/** Streams whose names are known; every other one belongs to a market. */
const NAMED_STREAMS = [
  registerStream,
  transfersStream,
  liquidationsStream,
  ...JOURNAL_OWNERS.map(journalStream),
  ...LEADING_PROCESSES.map(leadStream),
  ...[socketNonces, cancelProofs, operatorNonces].map(claimsStream),
]

const ORDER_QUESTIONS = [
  askPlaceOrder,
  askReplaceOrder,
  askCancelOrder,
  askReduceOrder,
  askCancels,
] as const

/** What a process that sends transactions does with its journal. */
const journaling = (owner: JournalOwner) => ({
  appends: [journalSubject(owner)],
  keeps: [journalStream(owner)],
  reads: [journalStream(owner)],
  asks: [askLead(owner)],
  answers: [askLead(owner), askPing(owner)],
})

/** What a process that leads does with the stream of its terms. */
const leading = (process: LeadingProcess) => ({
  appends: [leadSubject(process)],
  creates: [leadStream(process)],
  reads: [leadStream(process)],
  asks: [askLead(process)],
  answers: [askLead(process), askPing(process)],
})

function submitter(kind: TransferKind): Speaker {
  const { appends, answers, reads, keeps, ...journal } = journaling(`${kind}-submitter`)
  return {
    ...journal,
    reads: [...reads, transfersStream],
    appends: [...appends, transfersOf(kind)],
    keeps: [...keeps, transfersStream],
    answers: [...answers, askTransfer(kind), askTransferRecord(kind), askGasStanding(kind)],
  }
}

function takingOrders(): Speaker {
  const { appends, creates, reads, asks, answers } = leading('order-intake')
  return {
    appends: [commandsSubject(ANY, 'order-intake'), registerSubject, ...appends],
    claims: [cancelProofs, operatorNonces],
    creates: [registerStream, ...creates],
    reads: [MARKETS, registerStream, ...reads],
    asks: [askPing(ANY), ...asks],
    answers: [
      ...[...ORDER_QUESTIONS, askValidateOrder, askKnownOrders, askIndexLag, tellTouched],
      ...[askRegister, ...answers],
    ],
  }
}

function readingTheChain(): Speaker {
  const { appends, creates, reads, asks, answers } = leading('chain-reader')
  return {
    appends: [commandsSubject(ANY, 'chain-reader'), liquidationsSubject, ...appends],
    keeps: [liquidationsStream],
    creates,
    reads: [MARKETS, registerStream, liquidationsStream, ...reads],
    asks: [tellTouched, ...asks],
    answers: [askOwnerAccounts, askSessionKeys, ...answers],
  }
}

/** It asks the markets which matches it may settle. */
function executing(): Speaker {
  const { asks, reads, ...journal } = journaling('executor')
  return {
    ...journal,
    reads: [...reads, registerStream],
    asks: [...asks, askSettlement(ANY), askKnownOrders],
  }
}

/** It keeps the contracts of the registered markets, and asks for series to be registered and disabled, as an operator does. */
function keeping(): Speaker {
  const { asks, reads, ...journal } = journaling('keeper')
  return {
    ...journal,
    reads: [...reads, registerStream],
    asks: [...asks, askRegister, askMarket(ANY)],
  }
}

const SPEAKERS: Readonly<Record<BusUser, Speaker>> = {
  gateway: {
    reads: [MARKETS, registerStream],
    asks: [
      ...[...ORDER_QUESTIONS, askValidateOrder, askIndexLag, askBalances],
      ...[askOrderFacts, askOwnerAccounts, askSessionKeys, askPing(ANY)],
      ...(['deposit', 'withdrawal'] as const).flatMap((kind) => [
        ...[askTransfer(kind), askTransferRecord(kind), askGasStanding(kind)],
      ]),
    ],
  },
  'order-intake': takingOrders(),
  matcher: {
    appends: [commandsSubject(ANY, 'matcher'), feedSubject(ANY), checkpointsSubject(ANY)],
    claims: [operatorNonces],
    keeps: [MARKETS],
    reads: [MARKETS, registerStream],
    asks: [askPing('order-intake'), askLead(matcherOf(ANY)), askEngine(ANY)],
    answers: [
      ...[askLead(matcherOf(ANY)), askEngine(ANY), askMarket(ANY), askSettlement(ANY)],
      askTrim(ANY),
      askPing(ANY),
    ],
    answersFor: ORDER_QUESTIONS,
  },
  'chain-reader': readingTheChain(),
  // What it has archived of a feed, the matcher of the market trims.
  projector: {
    reads: [MARKETS, registerStream, liquidationsStream],
    asks: [askPing('order-intake'), askTrim(ANY)],
    answers: [askPing('projector')],
  },
  'ws-fanout': {
    claims: [socketNonces],
    reads: [MARKETS, registerStream, liquidationsStream],
    asks: [...ORDER_QUESTIONS, askIndexLag, askSessionKeys],
    answers: [askBalances, askOrderFacts, askPing('ws-fanout')],
  },
  executor: executing(),
  'deposit-submitter': submitter('deposit'),
  'withdrawal-submitter': submitter('withdrawal'),
  keeper: keeping(),
  auditor: {
    reads: [MARKETS, registerStream],
    asks: [askPing(ANY)],
    answers: [askPing('auditor')],
  },
  operator: {
    // What a restore records in logs and journals, whose writers all rest.
    appends: [commandsSubject(ANY), ...JOURNAL_OWNERS.map(journalSubject)],
    creates: JOURNAL_OWNERS.map(journalStream),
    reads: [MARKETS, ...NAMED_STREAMS],
    asks: [askMarket(ANY), askRegister, askPing(ANY), ...JOURNAL_OWNERS.map(askLead)],
    answers: JOURNAL_OWNERS.map(askLead),
    // Backup and restore, and on how many servers a stream is stored.
    requests: [
      ...['$JS.API.STREAM.SNAPSHOT.*', '$JS.API.STREAM.RESTORE.*', '$JS.SNAPSHOT.>'],
      ...['$JS.API.STREAM.UPDATE.*'],
      ...['$JS.API.STREAM.LIST', '$JS.API.STREAM.NAMES', '$JS.API.INFO'],
    ],
  },
}

export const BUS_USERS = Object.keys(SPEAKERS) as readonly BusUser[]

const stateOf = (stream: string): string => `$JS.API.STREAM.INFO.${stream}`
const createOf = (stream: string): string => `$JS.API.STREAM.CREATE.${stream}`
const updateOf = (stream: string): string => `$JS.API.STREAM.UPDATE.${stream}`
const purgeOf = (stream: string): string => `$JS.API.STREAM.PURGE.${stream}`
const changeOf = (stream: string): readonly string[] => [updateOf(stream), purgeOf(stream)]
const keepOf = (stream: string): readonly string[] => [createOf(stream), ...changeOf(stream)]

/** Readers are without acknowledgements and without a name of their own, so that nothing else is needed. */
const readingOf = (stream: string): readonly string[] => [
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
]

/**
 * What the server lets a user publish and hear. A stream of a market cannot be told by a pattern, since its name is one token;
 * a user of those streams has all but the named ones, minus those.
 */
export function permissionsOf(user: BusUser): Permissions {
  const { appends = [], claims = [], keeps = [], reads = [] } = SPEAKERS[user]
  const { asks = [], answers = [] } = SPEAKERS[user]
  const { answersFor = [], requests = [], creates = [] } = SPEAKERS[user]
  const keepsMarkets = keeps.includes(MARKETS)
  const kept = keeps.filter((stream) => stream !== MARKETS)
  const replies = askersOf([...answers, ...answersFor]).map((asker) => `${inboxPrefix(asker)}.>`)
  const claimed = claims.map(claimsStream)
  const own = [...kept, ...creates, ...claimed]
  const readsMarkets = reads.includes(MARKETS)
  const unread = NAMED_STREAMS.filter((stream) => !reads.includes(stream))
  const others = NAMED_STREAMS.filter((stream) => !own.includes(stream))
  return {
    publish: {
      allow: [
        ...appends,
        ...claims.flatMap((bucket) => [claimsSubject(bucket), createOf(claimsStream(bucket))]),
        ...(keepsMarkets ? keepOf(ANY) : []),
        ...creates.flatMap((stream) => [createOf(stream), updateOf(stream)]),
        ...kept.flatMap(keepOf),
        stateOf(ANY),
        ...(readsMarkets ? readingOf(ANY) : reads.flatMap(readingOf)),
        ...asks,
        ...replies,
        ...requests,
      ],
      deny: [
        // Of a bucket of claims it only creates the stream; what is claimed stays.
        ...(keepsMarkets ? [...others.flatMap(keepOf), ...claimed.flatMap(changeOf)] : []),
        ...(readsMarkets ? unread.flatMap(readingOf) : []),
      ],
    },
    subscribe: {
      allow: [`${inboxPrefix(user)}.>`, ...answers],
      deny: answers.includes(askPing(ANY)) ? BUS_USERS.map(askPing) : [],
    },
  }
}

/**
 * Whether the server lets a user create a stream. A process that may not does not ask: the server logs a refusal as an error,
 * also where the process only waits for the one that creates it.
 */
export const mayCreate = (user: BusUser, stream: string): boolean =>
  mayPublish(user, createOf(stream))

/** The same of changing a stream. */
export const mayChange = (user: BusUser, stream: string): boolean =>
  mayPublish(user, updateOf(stream))

function mayPublish(user: BusUser, subject: string): boolean {
  const { allow, deny } = permissionsOf(user).publish
  const isAmong = (subjects: readonly string[]): boolean =>
    subjects.some((each) => overlap(each, subject))
  return isAmong(allow) && !isAmong(deny)
}

/** The users that ask on one of the subjects. */
const askersOf = (subjects: readonly string[]): readonly BusUser[] =>
  BUS_USERS.filter((user) =>
    (SPEAKERS[user].asks ?? []).some((asked) => subjects.some((each) => overlap(asked, each))),
  )

/** Whether a subject fits both patterns. */
function overlap(one: string, other: string): boolean {
  const left = one.split('.')
  const right = other.split('.')
  return (
    left.length === right.length &&
    left.every((token, at) => token === right[at] || token === ANY || right[at] === ANY)
  )
}
