/** A folder whose mutants are judged by the same tests. */
export interface Room {
  readonly folder: string
  /** Whether folders inside of it are rooms of their own. */
  readonly flat?: true
  /** Folders or files of tests; those that need another process are left out. Quick ones first. */
  readonly tests: readonly string[]
  /** Tests of these folders that take as long as all others together. */
  readonly without?: readonly string[]
  /** The share of mutants, in percent, that the tests are to notice. */
  readonly goal: number
}

const STEP = [
  ...['test/scenarios', 'test/contracts/toy-engine.test.ts', 'test/core/engine'],
  'test/bus-schemas/checkpoint-message.test.ts',
]
const STEP_SLOW = ['test/core/engine/margin-naive.test.ts']
/** What tests the files of `core/` itself. */
const CORE = [
  ...['assert', 'cannot-start', 'crash-point', 'crc32', 'decimal', 'json-fields', 'json-text'],
  ...['money', 'read-timestamp', 'revert', 'touched-blocks', 'records/iso-time'],
]
const ENTRY = ['test/refusals', 'test/core/entry']
/** What else tests the checks at the entry: where their answers are used. */
const ENTRY_USES = [
  ...['core/contracts/index-lag', 'core/model/market-terms'],
  'core/contracts/future-admission',
  ...['chain/signing/frame-message', 'chain/signing/read-frame-header'],
  ...['chain/signing/typed-data', 'actors/order-intake/market-halts', 'api-gateway/price-history'],
].map((path) => `test/${path}.test.ts`)
const BALANCES = ['test/core/records', 'test/scenarios', 'test/core/engine/funding.test.ts']
const MESSAGES = ['log-messages', 'checkpoint-message', 'messages']

/** Without the random histories, which take as long as all others together. */
const SENDER = [
  ...['key-nonces', 'gas', 'read-receipt', 'read-event-receipts', 'investigate', 'observe-sender'],
  ...['follow-transaction', 'followed-transactions', 'raise-fees', 'raise-stuck', 'sender-chain'],
  ...['foreign-transactions', 'track-transactions', 'poll-sender', 'look-at-chain'],
  ...['keep-sending', 'crash-points-sender', 'transaction-sender'],
]

/** Without the random days of several markets, for the same reason. */
const EXECUTOR = [
  ...['check-terms', 'config', 'find-short', 'observe', 'settlement', 'pack-matches'],
  ...['settle-group', 'settlement-queue', 'reversals', 'execute', 'http', 'app', 'price-faults'],
  ...['look-for-faults', 'open-executor', 'executor-parts'],
]

/** Histories of thousands of rows, and of random days; others have a few rows of each kind. */
const DATA_SLOW = ['order-history', 'projection-rebuild'].map(
  (name) => `test/data/history/${name}.test.ts`,
)

/** Those of one part first; those that wait for a silence come last. */
const MATCHER = [
  ...['unanswered', 'ask-executor', 'executors', 'config'],
  ...['observe', 'measure', 'log', 'checkpointer', 'own-commands', 'settle', 'publish-block'],
  ...['answers', 'operator', 'faults', 'read-reversals', 'reversals', 'live', 'matcher'],
  ...['phases', 'stream-versions', 'trimmed-feed', 'recovery', 'engine-version', 'standby'],
  ...['supervise-matchers', 'step-note', 'shared-markets'],
]

export const ROOMS: readonly Room[] = [
  { folder: 'core', flat: true, goal: 85, tests: CORE.map((name) => `test/core/${name}.test.ts`) },
  { folder: 'core/contracts', goal: 85, tests: ['test/core/contracts', ...BALANCES, ...ENTRY] },
  {
    folder: 'core/wire',
    goal: 85,
    tests: ['test/core/wire', ...MESSAGES.map((name) => `test/bus-schemas/${name}.test.ts`)],
  },
  { folder: 'core/engine', goal: 85, tests: STEP, without: STEP_SLOW },
  { folder: 'core/model', goal: 85, tests: ['test/core/model', ...STEP], without: STEP_SLOW },
  { folder: 'core/entry', goal: 85, tests: [...ENTRY, ...ENTRY_USES] },
  { folder: 'core/market-data', goal: 85, tests: ['test/core/market-data'] },
  { folder: 'core/records', goal: 85, tests: ['test/core/records', 'test/core/contracts'] },
  { folder: 'chain/signing', goal: 85, tests: ['test/chain/signing'] },
  {
    folder: 'chain/sender',
    goal: 85,
    tests: SENDER.map((name) => `test/chain/sender/${name}.test.ts`),
  },
  { folder: 'executor', goal: 85, tests: EXECUTOR.map((name) => `test/executor/${name}.test.ts`) },
  {
    folder: 'actors/matcher',
    goal: 85,
    tests: MATCHER.map((name) => `test/actors/matcher/${name}.test.ts`),
  },
  { folder: 'data', goal: 75, tests: ['test/data'], without: DATA_SLOW },
]
