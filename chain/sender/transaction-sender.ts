import type { Address, Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import {
  createChainClient,
  orUnreachable,
  untilAnswering,
  type ChainClient,
} from '../reads/client.js'
import type { HangUp } from '../reads/hang-up.js'
import type { TransactionSigner } from '../signing/keys.js'
import { SENDER_POLICY, type SenderPolicy } from './follow-transaction.js'
import { NO_RESERVE, reserveWei, type GasFacts, type GasReader, type GasReserve } from './gas.js'
import type { SentCall } from './investigate.js'
import { connectSender, type EventPerIntent, type SenderChain } from './sender-chain.js'
import { type IntendedCall, openKeyNonces } from './key-nonces.js'
import type { Frozen, SenderObserver } from './observe-sender.js'
import { consumerOf } from './watch-nonces.js'
import { createTransactionTracker, type TransactionTracker } from './track-transactions.js'
import type {
  MinedTransaction,
  OpenTransaction,
  TransactionJournal,
} from '../../core/transaction-journal.js'
import type { Acceptance, OutcomesOf } from './tracking.js'

export interface TransactionSenderOptions {
  readonly signer: TransactionSigner
  /** Used by this process alone: the caller holds the lock of the journal's file. */
  readonly journal: TransactionJournal
  readonly rpcUrl: string
  readonly policy?: Partial<SenderPolicy>
  /** The balance to keep; a transaction that could use it is not taken. None by default. */
  readonly reserve?: GasReserve
  /**
   * How many used nonces an empty journal accepts; any number by default. With more the sender does not open, because a
   * lost journal may have sent them.
   */
  readonly acceptNonces?: number
  /** The outcomes of a successful transaction's intents; by default all succeed. */
  readonly outcomesOf?: OutcomesOf
  /**
   * An event with which a successful transaction reports each intent, and from which `outcomesOf` can be answered. With
   * it receipts need not be read.
   */
  readonly eventPerIntent?: EventPerIntent
  /**
   * Passes when the node is still on the right chain. Called every hour, and after each failure of the node before
   * anything more is taken. Rejects with ChainUnreachable when the node does not answer; any other error is fatal.
   */
  readonly verifyChain?: () => Promise<void>
  /** Ends what is asked when the process stops; by default a stop waits for the answers. */
  readonly hangUp?: HangUp
  /**
   * Whether a transaction of the key with this call may be one that a lost journal has sent, so that no operator can accept
   * it as foreign. By default none may.
   */
  readonly mayBeOurs?: (call: SentCall) => boolean
  readonly facts: SenderObserver
  /** Called when the journal fails, an invariant breaks or the chain is a wrong one; the process must stop. */
  readonly onFatal: (error: unknown) => void
}

/** Why the sender takes no transaction now. */
export interface Shortage {
  readonly kind: 'frozen' | 'chain_unverified' | 'too_many_open' | 'gas_money'
  readonly why: string
}

/** The sender is frozen; nothing was journaled. */
export class SenderFrozen extends Error {
  override readonly name = 'SenderFrozen'
}

/** The chain has mined more transactions of the key than the journal has: this journal is not complete. */
export class JournalIncomplete extends Error {
  override readonly name = 'JournalIncomplete'
}

/** Sends all transactions of one key, and follows each until it is final. */
export interface TransactionSender {
  readonly address: Address
  /**
   * Signs the call with the next nonce, records the bytes without yielding, broadcasts them once the journal lasts, and
   * resends them until they are mined. Throws JournalUnwritable, SenderFrozen or SignerUnavailable, with nothing journaled.
   */
  take(call: IntendedCall): OpenTransaction
  /** The mined result; undefined when there is none within the time, or when the sender stops. */
  waitFor(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  /** Whether the intent's transaction is one of this key's that are not final. */
  isFollowing(intentId: string): boolean
  /** Whether a node accepted the transaction. */
  wasTaken(intentId: string): boolean
  /** The number of transactions that are not mined. */
  openCount(): number
  /** The current fees and the key's balance; rejects with ChainUnreachable. */
  readonly readGas: GasReader
  /** Why a transaction with this highest cost cannot be taken now. Call it right before `take`. */
  shortage(gas: GasFacts, costWei: bigint): Shortage | undefined
  /** Set once a foreign transaction was found to use the key, until it is accepted. */
  frozen(): Frozen | undefined
  /** Takes transactions again after the foreign transaction of that hash; rejects with ChainUnreachable. */
  acceptForeign(hash: Hex): Promise<Acceptance>
  /** Why no transaction at all can be taken, as of the last poll. */
  trouble(): string | undefined
  /** Milliseconds since the last successful poll; there are several in a second. */
  readonly chainSilentMs: () => number
  /** Ends all waits without a result. Nothing is lost that was broadcast, because the journal's stream has it. */
  stop(): Promise<void>
}

const CHAIN_WAIT_MS = 30_000
/** Transactions in flight at once. */
const MAX_OPEN_TRANSACTIONS = 512
/** Transactions followed at once: in flight, or mined and not final. */
const MAX_FOLLOWED_TRANSACTIONS = 65_536

/**
 * Continues the key's nonces, and broadcasts the journal's open transactions again. Rejects with ChainUnreachable when
 * the node does not answer for half a minute, and with JournalIncomplete.
 */
export async function openTransactionSender(
  options: TransactionSenderOptions,
): Promise<TransactionSender> {
  const { signer, journal, rpcUrl, facts, reserve = NO_RESERVE, hangUp } = options
  const { address } = signer
  const count = () => countMined(createChainClient(rpcUrl, 'read', hangUp), address)
  const minedNonces = await untilAnswering(count, CHAIN_WAIT_MS, facts.waitingForChain)
  const chain = connectSender(rpcUrl, address, options)
  const frozen = await foreignAtStart(options, minedNonces, chain)
  const known = frozen === undefined ? minedNonces : journal.nextNonce(address)
  const nonces = openKeyNonces({ signer, journal, minedNonces: known })
  const policy = { ...SENDER_POLICY, ...options.policy }
  const nowMs = () => performance.now()
  const tracker = createTransactionTracker({
    ...options,
    reserve,
    nonces,
    chain,
    policy,
    nowMs,
    frozen,
  })
  if (frozen !== undefined) facts.frozen(frozen)
  await tracker.start()
  facts.senderOpened({ address, minedNonces, open: tracker.openCount() })

  return {
    address,
    take(call) {
      const frozen = tracker.frozen()
      if (frozen !== undefined) throw new SenderFrozen(whyFrozen(frozen))
      const transaction = nonces.take(call)
      facts.journaled(transaction)
      crash('sender.after_record_before_append')
      tracker.add(transaction)
      return transaction
    },
    waitFor: (intentId, timeoutMs) => tracker.waitFor(intentId, timeoutMs),
    isFollowing: (intentId) => tracker.isFollowing(intentId),
    wasTaken: (intentId) => tracker.wasTaken(intentId),
    openCount: () => tracker.openCount(),
    readGas: chain.gas,
    shortage: (gas, costWei) => shortageOf(tracker, gas, costWei + reserveWei(reserve, gas)),
    frozen: () => tracker.frozen(),
    acceptForeign: (hash) => tracker.acceptForeign(hash),
    trouble: () => troubleOf(tracker, address),
    chainSilentMs: tracker.chainSilentMs,
    stop: () => tracker.stop(),
  }
}

/** More than these that a journal lacks are the sign of a lost journal. */
const MAX_FOREIGN_AT_START = 16

/**
 * The newest of some foreign transactions that were sent while a journal with transactions of the key was not followed: the
 * sender opens frozen, so that an operator can accept it. Throws JournalIncomplete when the journal may be lost: there are too
 * many, one may be ours, or no node tells what one was.
 */
async function foreignAtStart(
  options: TransactionSenderOptions,
  minedNonces: number,
  chain: SenderChain,
): Promise<Frozen | undefined> {
  const { journal, acceptNonces = Infinity } = options
  const { address } = options.signer
  const known = journal.nextNonce(address)
  if (minedNonces <= Math.max(known, acceptNonces)) return undefined
  if (known > 0 && minedNonces - known <= MAX_FOREIGN_AT_START) {
    const newest = await newestForeign(options, chain, { from: known, to: minedNonces })
    if (newest !== undefined) return newest
  }
  throw new JournalIncomplete(
    `the chain has mined ${minedNonces} transactions of ${address}, the journal has ${known}: settlements could be ` +
      `sent twice; restore the journal, or check those transactions and set EXECUTOR_ACCEPT_NONCES=${minedNonces}`,
  )
}

/** What used the last of these nonces. Undefined where one may be ours, or no node tells what used one. */
async function newestForeign(
  { mayBeOurs = () => false }: TransactionSenderOptions,
  chain: SenderChain,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Frozen | undefined> {
  const { number: head } = await chain.head()
  let newest: Frozen | undefined
  for (let evmNonce = from; evmNonce < to; evmNonce += 1) {
    const consumer = await consumerOf({ chain }, evmNonce, head)
    if (consumer === undefined || mayBeOurs(consumer.call)) return undefined
    newest = { evmNonce, by: consumer.by }
  }
  return newest
}

function troubleOf(tracker: TransactionTracker, address: Address): string | undefined {
  const stopped = standstillOf(tracker)
  if (stopped !== undefined) return stopped.why
  return tracker.isGasLow()
    ? `the signer has less gas money than its reserve: ${address}`
    : undefined
}

function shortageOf(
  tracker: TransactionTracker,
  { balance }: GasFacts,
  neededWei: bigint,
): Shortage | undefined {
  const stopped = standstillOf(tracker)
  if (stopped !== undefined) return stopped
  if (balance >= tracker.reservedWei() + neededWei) return undefined
  return { kind: 'gas_money', why: 'the signer has not enough gas money' }
}

function standstillOf(tracker: TransactionTracker): Shortage | undefined {
  const frozen = tracker.frozen()
  if (frozen !== undefined) return { kind: 'frozen', why: whyFrozen(frozen) }
  if (!tracker.isVerified()) {
    return { kind: 'chain_unverified', why: 'the chain was silent and is not verified yet' }
  }
  if (
    tracker.openCount() >= MAX_OPEN_TRANSACTIONS ||
    tracker.followedCount() >= MAX_FOLLOWED_TRANSACTIONS
  ) {
    return { kind: 'too_many_open', why: 'too many transactions in flight' }
  }
  return undefined
}

const whyFrozen = ({ evmNonce, by }: Frozen): string =>
  `a foreign transaction used nonce ${evmNonce} of the signer in block ${by.blockNumber}: ${by.hash}; once its cause is ` +
  `known: ./venue accept-foreign executor ${by.hash}`

/** How many transactions of the address are mined at the newest block; rejects with ChainUnreachable. */
function countMined(client: ChainClient, address: Address): Promise<number> {
  return orUnreachable('nonce', client.getTransactionCount({ address, blockTag: 'latest' }))
}
