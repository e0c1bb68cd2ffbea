import type { NatsConnection } from 'nats'
import * as subjects from '../../bus-schemas/subjects.js'
import { JOURNAL_OWNERS } from '../../core/transaction-journal.js'

/** Everything that a client of the bus can ask for, as a test tries it with the credential of each process. */

const M = 'M'
const HASH = `0x${'ab'.repeat(32)}` as const

/** A row of the table: what is tried, and the subjects that are all tried for it. */
export interface Tried {
  readonly what: string
  readonly subject: string
}

/** Streams of each kind, by the name in the table. */
const STREAMS: Readonly<Record<string, string>> = {
  'COMMANDS_<market>': subjects.commandsStream(M),
  'FEED_<market>': subjects.feedStream(M),
  'CHECKPOINTS_<market>': subjects.checkpointsStream(M),
  MARKETS: subjects.registerStream,
  TRANSFERS: subjects.transfersStream,
  LIQUIDATIONS: subjects.liquidationsStream,
  ...Object.fromEntries(
    [
      ...JOURNAL_OWNERS.map(subjects.journalStream),
      ...subjects.LEADING_PROCESSES.map(subjects.leadStream),
    ].map((stream) => [stream, stream]),
  ),
  ...Object.fromEntries(
    [subjects.socketNonces, subjects.cancelProofs, subjects.operatorNonces].map((bucket) => [
      subjects.claimsStream(bucket),
      subjects.claimsStream(bucket),
    ]),
  ),
  'any other stream': 'OTHER',
}

/** The requests of JetStream about one stream, as nats-server 2.11 takes them. */
const OF_A_STREAM = [
  ...['STREAM.CREATE.@', 'STREAM.UPDATE.@', 'STREAM.INFO.@', 'STREAM.DELETE.@', 'STREAM.PURGE.@'],
  ...['STREAM.MSG.GET.@', 'STREAM.MSG.DELETE.@', 'STREAM.SNAPSHOT.@', 'STREAM.RESTORE.@'],
  ...['STREAM.LEADER.STEPDOWN.@', 'STREAM.PEER.REMOVE.@', 'DIRECT.GET.@', 'DIRECT.GET.@.feed.M'],
  ...['CONSUMER.CREATE.@', 'CONSUMER.CREATE.@.c', 'CONSUMER.CREATE.@.c.feed.M'],
  ...['CONSUMER.DURABLE.CREATE.@.c', 'CONSUMER.INFO.@.c', 'CONSUMER.LIST.@', 'CONSUMER.NAMES.@'],
  ...['CONSUMER.MSG.NEXT.@.c', 'CONSUMER.DELETE.@.c', 'CONSUMER.PAUSE.@.c'],
  ...['CONSUMER.RESET.@.c', 'CONSUMER.UNPIN.@.c', 'CONSUMER.LEADER.STEPDOWN.@.c'],
] as const

/** Those about the account, the server and the system. */
const OF_THE_SERVER = [
  ...[
    '$JS.API.INFO',
    '$JS.API.STREAM.LIST',
    '$JS.API.STREAM.NAMES',
    '$JS.API.META.LEADER.STEPDOWN',
  ],
  ...['$JS.API.SERVER.REMOVE', '$JS.API.SERVER.STREAM.MOVE.A.S', '$JS.API.ACCOUNT.PURGE.A'],
  ...[
    '$JS.API.ACCOUNT.STREAM.MOVE.A.S',
    '$JS.API.STREAM.TEMPLATE.CREATE.T',
    '$JS.API.STREAM.TEMPLATES',
  ],
  ...['$JS.ACK.FEED_M.c.1.1.1.1.0', '$JS.FC.FEED_M.c.1', '$JS.SNAPSHOT.RESTORE.FEED_M.x'],
  ...['$JS.EVENT.ADVISORY.STREAM.DELETED.FEED_M', '$JSC.R.x', '$SRV.PING', '$MQTT.sub.x'],
  ...['$SYS.REQ.SERVER.PING', '$SYS.REQ.USER.INFO', '$SYS.REQ.ACCOUNT.PING.CONNZ'],
  ...['$SYS.REQ.SERVER.X.RELOAD', '$SYS.REQ.SERVER.X.KICK', '$SYS.REQ.CLAIMS.UPDATE'],
  ...['$SYS.REQ.ACCOUNT.A.SUBSZ', '$SYS.ACCOUNT.A.CONNECT'],
]

const both = (ask: (kind: 'deposit' | 'withdrawal') => string) => [
  ask('deposit'),
  ask('withdrawal'),
]

/** The subjects that the venue gives a meaning, by the name that spells each: none is left out. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  registerSubject: [subjects.registerSubject],
  liquidationsSubject: [subjects.liquidationsSubject],
  askRegister: [subjects.askRegister],
  commandsSubject: [undefined, 'order-intake', 'chain-reader', 'matcher', 'other'].map((writer) =>
    subjects.commandsSubject(M, writer),
  ),
  feedSubject: [subjects.feedSubject(M)],
  checkpointsSubject: [subjects.checkpointsSubject(M)],
  leadSubject: subjects.LEADING_PROCESSES.map(subjects.leadSubject),
  journalSubject: JOURNAL_OWNERS.map(subjects.journalSubject),
  askPlaceOrder: [subjects.askPlaceOrder],
  askCancelOrder: [subjects.askCancelOrder],
  askReplaceOrder: [subjects.askReplaceOrder],
  askReduceOrder: [subjects.askReduceOrder],
  askCancels: [subjects.askCancels],
  askValidateOrder: [subjects.askValidateOrder],
  askTransfer: both(subjects.askTransfer),
  askTransferRecord: both(subjects.askTransferRecord),
  askIndexLag: [subjects.askIndexLag],
  askBalances: [subjects.askBalances],
  askOrderFacts: [subjects.askOrderFacts],
  askOwnerAccounts: [subjects.askOwnerAccounts],
  askSessionKeys: [subjects.askSessionKeys],
  tellTouched: [subjects.tellTouched],
  askGasStanding: both(subjects.askGasStanding),
  transferSubject: both((kind) => subjects.transferSubject(kind, HASH)),
  claimSubject: [subjects.socketNonces, subjects.cancelProofs, subjects.operatorNonces].map(
    (bucket) => subjects.claimSubject(bucket, 'k'),
  ),
  askEngine: [subjects.askEngine(M)],
  askLead: [...subjects.LEADING_PROCESSES, ...JOURNAL_OWNERS, subjects.matcherOf(M)].map(
    subjects.askLead,
  ),
  askMarket: [subjects.askMarket(M)],
  askSettlement: [subjects.askSettlement(M)],
  askKnownOrders: [subjects.askKnownOrders],
  askTrim: [subjects.askTrim(M)],
  askPing: ['order-intake', 'chain-reader', 'projector', 'ws-fanout', 'executor', 'auditor']
    .concat('matcher-M', 'gateway', 'deposit-submitter', 'withdrawal-submitter', 'keeper')
    .map(subjects.askPing),
}

/** Names of subjects.ts that spell a stream, a pattern of subjects above, or no subject at all. */
const NO_SUBJECT: ReadonlySet<string> = new Set([
  ...[
    'registerStream',
    'liquidationsStream',
    'commandsStream',
    'isCommandsStream',
    'commandsSubjects',
    'feedStream',
    'subjectOfFeed',
  ],
  ...['checkpointsStream', 'journalStream', 'inboxPrefix', 'transfersStream', 'transfersSubjects'],
  ...['transfersOf', 'socketNonces', 'cancelProofs', 'operatorNonces', 'claimsStream'],
  ...['claimsSubject', 'CHAIN_READER_SOURCE', 'MATCHER_SOURCE', 'OPERATOR_SOURCE'],
  ...['OPENER_SOURCE', 'mayWrite', 'LEADING_PROCESSES', 'leadStream', 'isLeadStream', 'matcherOf'],
])

/** Exports of subjects.ts of which nothing is tried. */
export const untried = (): string[] =>
  Object.keys(subjects).filter((name) => !(name in OWN) && !NO_SUBJECT.has(name))

const inboxes = (users: readonly string[]): string[] =>
  users.map((user) => `${subjects.inboxPrefix(user)}.a.b`)

const plain = (subject: string): Tried => ({ what: subject, subject })

/** What is tried to be published. */
export const publications = (users: readonly string[]): Tried[] => [
  ...Object.values(OWN).flat().map(plain),
  ...inboxes(users).map(plain),
  ...OF_THE_SERVER.map(plain),
  ...OF_A_STREAM.flatMap((request) =>
    Object.entries(STREAMS).map(([what, stream]) => ({
      what: `$JS.API.${request.replace('@', what)}`,
      subject: `$JS.API.${request.replace('@', stream)}`,
    })),
  ),
]

/** What is tried to be heard, wildcards too. */
export const subscriptions = (users: readonly string[]): Tried[] =>
  [
    ...['>', '*', '*.>', '_INBOX.>', '_INBOX.*.>', '$SYS.>', '$JS.>', '$JS.API.>', '$KV.>'],
    ...['$JS.EVENT.>', '$JS.EVENT.ADVISORY.>', '$JS.SNAPSHOT.>', '$SRV.>', 'ask.>', 'ask.order.*'],
    ...['markets.>', 'commands.>', 'feed.>', 'checkpoints.>', 'journal.>', 'transfers.>'],
    ...Object.values(OWN).flat(),
    ...inboxes(users),
  ].map(plain)

/** Which of the subjects this connection may not publish to; the server says so before it answers the flush. */
export async function refusedPublications(
  connection: NatsConnection,
  tried: readonly Tried[],
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>()
  const listen = async (): Promise<void> => {
    for await (const { permissionContext } of connection.status()) {
      const { operation, subject } = permissionContext ?? {}
      if (operation === 'publish' && subject !== undefined) refused.add(subject)
    }
  }
  // It goes on until the process ends; there is nothing to wait for.
  void listen()
  for (const { subject } of tried) connection.publish(subject)
  await connection.flush()
  await connection.flush()
  await connection.close()
  return refused
}

/** Which of the subjects this connection may not hear. */
export async function refusedSubscriptions(
  connection: NatsConnection,
  tried: readonly Tried[],
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>()
  for (const { subject } of tried) {
    connection.subscribe(subject, {
      callback: (error) => void (error?.code === 'PERMISSIONS_VIOLATION' && refused.add(subject)),
    })
  }
  await connection.flush()
  await connection.flush()
  await connection.close()
  return refused
}
