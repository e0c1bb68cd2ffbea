import {
  decodeOwnerAccountsQuestion,
  decodeSessionKeysQuestion,
  encodeOwnerAccountsAnswer,
  encodeSessionKeysAnswer,
  MAX_ASKED_KEYS,
} from '../../bus-schemas/owner-accounts.js'
import { askOwnerAccounts, askSessionKeys } from '../../bus-schemas/subjects.js'
import type { ChainHead } from '../../chain/reads/blocks.js'
import { ChainUnreachable } from '../../chain/reads/client.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import type { Hex } from '../../core/action.js'
import { ACCOUNTS_FILE, openAccountIndex, type AccountIndex } from '../../data/account-index.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { readQuestion, warnOfUnreadable } from '../../runtime/bus/read-question.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { createAccountIndexer, type IndexSource } from './index-accounts.js'
import { PROCESS_NAME } from './stand-by.js'
import { databasePath } from '../../data/places.js'

/** The chain's block time. */
const POLL_MS = 2_000
/** Between two rounds before the newest block is reached: other reads of the node come first. */
const CATCH_UP_MS = 1_000
/**
 * The index answers for keys so long after the newest block that it has read: without another one, the node is silent, refuses to tell
 * events, or stands still, and a key may have been deregistered meanwhile.
 */
export const KEYS_GOOD_MS = 15_000

export interface AccountServiceOptions {
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  readonly index: AccountIndex
  readonly chain: IndexSource & { readHead(): Promise<ChainHead> }
  /** The block of the deployment. */
  readonly firstBlock: bigint
  readonly log: Logger
  /** Milliseconds between two looks at the chain, once the newest block is reached. */
  readonly pollMs?: number
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
  /** The index cannot be read or written. */
  readonly onFatal: (error: unknown) => void
}

/** serveAccounts with the index in a data directory, from the block of the deployment on; nothing without a directory. */
export async function openAccounts(
  dataDir: string | undefined,
  { chainId, matching, deployedAtBlock: firstBlock = 0n }: Deployment,
  options: Omit<AccountServiceOptions, 'index' | 'firstBlock'>,
): Promise<RunningProcess | undefined> {
  if (dataDir === undefined) return undefined
  const index = openAccountIndex(databasePath(dataDir, ACCOUNTS_FILE), `${chainId} ${matching}`, {
    onSetAside: (line) => options.log.warn(line),
  })
  return serveAccounts({ ...options, index, firstBlock })
}

/**
 * Keeps the index of accounts up to the newest block, beside everything else that the process reads, and answers what it has of an
 * owner, and of session keys. Until it has reached the newest block once, and again after the chain has lost blocks that it had,
 * it has nothing. A chain that does not answer is asked again; what is known of accounts is
 * answered meanwhile, of session keys for KEYS_GOOD_MS. Closes the index when it stops.
 */
export async function serveAccounts(options: AccountServiceOptions): Promise<RunningProcess> {
  const { bus, index, chain, log, pollMs = POLL_MS, onFatal } = options
  const { elapsedMs = () => performance.now() } = options
  /** The newest block that was read when the index had reached the head, and when it was first there. */
  let reached: { readonly hash: Hex; readonly atMs: number } | undefined
  const indexer = createAccountIndexer({ ...options, onTakeBack: () => (reached = undefined) })
  const noteReached = (): void => {
    const newest = index.readTo()
    if (newest === undefined || newest.hash === reached?.hash) return
    reached = { hash: newest.hash, atMs: elapsedMs() }
  }
  let isSilent = false
  let isStopping = false
  let timer: NodeJS.Timeout | undefined
  const advance = async (): Promise<boolean> => {
    try {
      const isDone = await indexer.advance(await chain.readHead())
      if (isSilent) log.info('the index of accounts goes on')
      isSilent = false
      if (isDone) noteReached()
      return isDone
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error
      if (!isSilent) log.warn({ err: error }, 'the index of accounts waits for the chain')
      isSilent = true
      return true
    }
  }
  let running = Promise.resolve()
  const schedule = (ms: number): void => {
    if (isStopping) return
    timer = setTimeout(() => {
      running = advance().then(
        (isDone) => schedule(isDone ? pollMs : Math.min(pollMs, CATCH_UP_MS)),
        onFatal,
      )
    }, ms)
  }
  schedule(0)
  const answers = await bus.answer(askOwnerAccounts, PROCESS_NAME, (data, replyTo) => {
    const question = readQuestion(decodeOwnerAccountsQuestion, data, warnOfUnreadable(log))
    if (question === undefined) return
    const found = reached !== undefined ? index.find(question.owner) : undefined
    bus.reply(replyTo, encodeOwnerAccountsAnswer({ ...(found !== undefined && { found }) }))
  })
  const keyAnswers = await bus.answer(askSessionKeys, PROCESS_NAME, (data, replyTo) => {
    const question = readQuestion(decodeSessionKeysQuestion, data, warnOfUnreadable(log))
    if (question === undefined || question.keys.length > MAX_ASKED_KEYS) return
    const isGood = reached !== undefined && elapsedMs() - reached.atMs <= KEYS_GOOD_MS
    const endsSec = question.keys.map(({ owner, key }) => index.keyEnd(owner, key))
    bus.reply(replyTo, encodeSessionKeysAnswer(isGood ? { endsSec } : {}))
  })
  return {
    async stop() {
      isStopping = true
      clearTimeout(timer)
      await Promise.all([answers.stop(), keyAnswers.stop()])
      await running
      index.close()
    },
  }
}
