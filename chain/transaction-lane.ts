import type { Address } from '../core/action.js'
import { crash } from '../core/crash-point.js'
import { createChainClient } from './client.js'
import { countMined } from './count-mined.js'
import { NO_RESERVE, reserveWei } from './gas-reserve.js'
import type { GasReserve } from './gas-reserve.js'
import { connectLane } from './lane-chain.js'
import type { Frozen, LaneFacts } from './lane-facts.js'
import { LANE_POLICY } from './lane-policy.js'
import type { LanePolicy } from './lane-policy.js'
import type { OutcomesOf } from './mining-outcomes.js'
import { openNonceLane } from './nonce-lane.js'
import type { IntendedCall } from './nonce-lane.js'
import type { EventPerIntent } from './read-event-receipts.js'
import type { GasFacts, GasReader } from './read-gas.js'
import type { TransactionSigner } from './sign-transaction.js'
import { createTransactionTracker } from './track-transactions.js'
import type { TransactionTracker } from './track-transactions.js'
import type {
  MinedTransaction,
  OpenTransaction,
  TransactionJournal,
} from './transaction-journal.js'
import { untilAnswering } from './until-answering.js'

export interface LaneOptions {
  readonly signer: TransactionSigner
  /** Of this process alone: whoever opens the lane holds the lock of the journal's file. */
  readonly journal: TransactionJournal
  readonly rpcUrl: string
  readonly policy?: Partial<LanePolicy>
  /** Gas money that stays behind; nothing is taken that would touch it. None unless told. */
  readonly reserve?: GasReserve
  /**
   * How many nonces the chain may have seen used that the journal knows nothing of; any number unless told. More of them
   * and the lane does not open: they may be what a lost journal has sent.
   */
  readonly acceptNonces?: number
  /** What a transaction that went through did with each of its intents; all succeed unless told. */
  readonly outcomesOf?: OutcomesOf
  /**
   * What such a transaction leaves once for each intent, and tells what `outcomesOf` asks: then its receipt need not be
   * read. Without it every receipt is.
   */
  readonly eventPerIntent?: EventPerIntent
  /**
   * Passes when the chain is still the right one: asked every hour and after each silence of the chain, before anything
   * more is taken. Rejects with ChainUnreachable when that cannot be said; whatever else it throws is fatal.
   */
  readonly verifyChain?: () => Promise<void>
  readonly facts: LaneFacts
  /** Called when the journal fails, an invariant breaks or the chain is a wrong one: nothing can be promised then. */
  readonly onFatal: (error: unknown) => void
}

/** Why the lane takes nothing now. */
export interface Shortage {
  readonly kind: 'frozen' | 'chain_unverified' | 'too_many_open' | 'gas_money'
  readonly why: string
}

/** The lane was frozen before the call could be taken; nothing is recorded. */
export class LaneFrozen extends Error {
  override readonly name = 'LaneFrozen'
}

/** The chain has seen more of the key than the journal holds: it is not the one that this key's sender wrote. */
export class JournalIncomplete extends Error {
  override readonly name = 'JournalIncomplete'
}

/** Everything that is sent by one key, each transaction seen through until the chain cannot lose it any more. */
export interface TransactionLane {
  readonly address: Address
  /**
   * Signs the call with the next nonce, records the bytes, then sends them, and sees to it that they are mined. Does not
   * yield before they are recorded. Throws JournalUnwritable or LaneFrozen, with nothing recorded.
   */
  take(call: IntendedCall): OpenTransaction
  /** The result once the chain has one; undefined when there is none within the time or the lane stops. */
  waitFor(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  /** Whether a node said that it has the transaction. */
  wasTaken(intentId: string): boolean
  /** Transactions that are not mined. */
  openCount(): number
  /** What a transaction may bid now, and what the key holds; rejects with ChainUnreachable. */
  readonly readGas: GasReader
  /** Why a transaction that may cost so much is not to be taken now. To be asked right before `take`. */
  shortage(gas: GasFacts, costWei: bigint): Shortage | undefined
  /** Set once a stranger is found to use the key, until the process is started again. */
  frozen(): Frozen | undefined
  /** Why nothing would be taken now, whatever it costs, as far as the last look tells. */
  trouble(): string | undefined
  /** Milliseconds since the chain last answered; it is asked several times a second. */
  readonly chainSilentMs: () => number
  /** Whoever waits is answered without a result; nothing is lost, since the journal is on disk. */
  stop(): Promise<void>
}

const CHAIN_WAIT_MS = 30_000
/** Transactions in flight at once. */
export const MAX_OPEN_TRANSACTIONS = 512
/** Transactions followed at once: those in flight, and those mined since the last final block. */
const MAX_FOLLOWED_TRANSACTIONS = 65_536

/**
 * Continues the key's nonces, sends again what the journal left open, and follows all of it. Rejects with
 * ChainUnreachable when the chain does not answer for half a minute, and with JournalIncomplete.
 */
export async function openLane(options: LaneOptions): Promise<TransactionLane> {
  const { signer, journal, rpcUrl, facts, reserve = NO_RESERVE } = options
  const { address } = signer
  const count = () => countMined(createChainClient(rpcUrl, 'read'), address)
  const minedNonces = await untilAnswering(count, CHAIN_WAIT_MS, facts.waitingForChain)
  assertKnown(options, minedNonces)
  const nonces = openNonceLane({ signer, journal, minedNonces })
  const chain = connectLane(rpcUrl, address, options.eventPerIntent)
  const policy = { ...LANE_POLICY, ...options.policy }
  const nowMs = () => performance.now()
  const tracker = createTransactionTracker({ ...options, reserve, nonces, chain, policy, nowMs })
  await tracker.start()
  facts.laneOpened({ address, minedNonces, open: tracker.openCount() })

  return {
    address,
    take(call) {
      const frozen = tracker.frozen()
      if (frozen !== undefined) throw new LaneFrozen(whyFrozen(frozen))
      const transaction = nonces.take(call)
      facts.journaled(transaction)
      crash('lane.after_commit_before_broadcast')
      tracker.add(transaction)
      return transaction
    },
    waitFor: (intentId, timeoutMs) => tracker.waitFor(intentId, timeoutMs),
    wasTaken: (intentId) => tracker.wasTaken(intentId),
    openCount: () => tracker.openCount(),
    readGas: chain.gas,
    shortage: (gas, costWei) => shortageOf(tracker, gas, costWei + reserveWei(reserve, gas)),
    frozen: () => tracker.frozen(),
    trouble: () => troubleOf(tracker, address),
    chainSilentMs: tracker.chainSilentMs,
    stop: () => tracker.stop(),
  }
}

function assertKnown(
  { signer: { address }, journal, acceptNonces = Infinity }: LaneOptions,
  minedNonces: number,
): void {
  const known = journal.nextNonce(address)
  if (minedNonces <= Math.max(known, acceptNonces)) return
  throw new JournalIncomplete(
    `the chain has mined ${minedNonces} transactions of ${address}, the journal knows of ${known}: what was sent ` +
      `before could be sent again; bring the journal back, or look at them and set EXECUTOR_ACCEPT_NONCES=${minedNonces}`,
  )
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
  `a stranger used nonce ${evmNonce} of the signer in ${by.hash}`
