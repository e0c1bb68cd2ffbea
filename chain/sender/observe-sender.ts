import type { Address } from '../../core/action.js'
import type {
  Attempt,
  Inclusion,
  MinedTransaction,
  OpenTransaction,
  Reversal,
} from '../../core/transaction-journal.js'

/** The mined result of one intent. */
export interface MinedIntent {
  readonly intentId: string
  readonly result: MinedTransaction
}

/** Why a sender takes no further nonce until an operator accepts the foreign transaction. */
export interface Frozen {
  readonly evmNonce: number
  /** The foreign transaction. */
  readonly by: Inclusion
}

/** What a sender reports to its operator. Called synchronously; an exception ends the sender. */
export interface SenderObserver {
  /** The sender, and how many of its nonces are mined. */
  readonly senderOpened: (txSender: { address: Address; minedNonces: number; open: number }) => void
  readonly waitingForChain: (cause: Error) => void
  /** The bytes are recorded; they are broadcast once the stream has them. */
  readonly journaled: (transaction: OpenTransaction) => void
  readonly broadcast: (transaction: OpenTransaction) => void
  readonly broadcastUnclear: (transaction: OpenTransaction, cause: Error) => void
  /** The result of each intent; a transaction that only fills a gap has none. */
  readonly mined: (transaction: OpenTransaction, intents: readonly MinedIntent[]) => void
  /** The chain lost transactions that it had mined; they are open again. */
  readonly reopened: (count: number) => void
  /** A journaled outcome is no longer true. */
  readonly reversed: (reversal: Reversal) => void
  /** It was not mined for too long, and was signed again with higher fees. */
  readonly replaced: (transaction: OpenTransaction, attempt: Attempt) => void
  /** Reported once: it is not mined, and its fees cannot be raised further. An operator must act. */
  readonly feesExhausted: (transaction: OpenTransaction) => void
  /** A nonce below ours was unused and unknown to the journal; an empty transaction fills it. */
  readonly gapFilled: (transaction: OpenTransaction) => void
  /** One of our nonces was used, and the transaction that used it was not found. */
  readonly nonceUnexplained: (evmNonce: number) => void
  /** A foreign transaction used the key: it leaked, or a second executor runs. An operator must act. */
  readonly frozen: (frozen: Frozen) => void
  /** An operator has accepted the foreign transaction. */
  readonly foreignAccepted: (frozen: Frozen) => void
  /** A foreign transaction is final at its nonce, so its intents may be submitted again. */
  readonly displaced: (transaction: OpenTransaction, by: Inclusion) => void
  /** The sender holds less gas money than its reserve, in wei. */
  readonly gasLow: (balanceWei: bigint, reserveWei: bigint) => void
  readonly gasBack: () => void
  /** A key before the one in use has no transaction left that is not final. */
  readonly keyRetired: (address: Address) => void
  /** The key is elsewhere and gave no signature; what should have been signed is tried again later. */
  readonly signerUnavailable: (cause: Error) => void
  readonly chainLost: (cause: Error) => void
  readonly chainBack: () => void
}

type LogLine = (fields: Record<string, unknown>, message: string) => void

/** The part of a log that is written to. */
export interface SenderLog {
  readonly debug: LogLine
  readonly info: LogLine
  readonly warn: LogLine
  readonly error: LogLine
}

/**
 * Logs one line for each report of a sender, never signatures or signed bytes. `noun` is the name of an intent: with
 * `settlement` lines carry `settlement_id`. Lines of level `error` need an operator.
 */
export function observeSender(log: SenderLog, noun: string): SenderObserver {
  const idName = `${noun}_id`
  const describe = (transaction: OpenTransaction) => ({
    ...idsOf(idName, transaction.intentIds),
    evm_nonce: transaction.evmNonce,
    tx_hash: transaction.attempts.at(-1)?.hash,
  })
  return {
    ...observeChain(log),
    journaled: (transaction) => log.debug(describe(transaction), 'transaction journaled'),
    broadcast: (transaction) => log.info(describe(transaction), 'transaction broadcast'),
    broadcastUnclear: (transaction, cause) =>
      log.warn({ ...describe(transaction), why: cause.message }, 'broadcast unclear'),
    mined: (transaction, intents) => {
      for (const { intentId, result } of intents) {
        const line = { [idName]: intentId, evm_nonce: transaction.evmNonce, ...mined(result) }
        if (result.status === 'success') log.info(line, `${noun} confirmed`)
        else log.warn(line, `${noun} reverted`)
      }
    },
    reopened: (count) => log.warn({ count }, 'chain forgot transactions, sending them again'),
    reversed: ({ no, intentId, before, now }) =>
      log.error(
        { reversal_no: no, [idName]: intentId, before: before.status, now: now.status },
        'outcome reversed by the chain',
      ),
    replaced: (transaction, { maxFeePerGas }) =>
      log.warn(
        { ...describe(transaction), max_fee_per_gas: String(maxFeePerGas) },
        'transaction stuck, fees raised',
      ),
    feesExhausted: (transaction) =>
      log.error(describe(transaction), 'transaction stuck, fees are not raised any further'),
    gapFilled: (transaction) => log.warn(describe(transaction), 'nonce gap filled'),
    displaced: (transaction, by) =>
      log.error(
        { ...describe(transaction), by: by.hash },
        'never carried out: a foreign transaction used the nonce',
      ),
  }
}

type ChainFact =
  | 'senderOpened'
  | 'waitingForChain'
  | 'nonceUnexplained'
  | 'frozen'
  | 'foreignAccepted'
  | 'gasLow'
  | 'gasBack'
  | 'signerUnavailable'
  | 'keyRetired'
  | 'chainLost'
  | 'chainBack'

function observeChain(log: SenderLog): Pick<SenderObserver, ChainFact> {
  return {
    senderOpened: ({ address, minedNonces, open }) =>
      log.info({ sender: address, mined_nonces: minedNonces, open }, 'sender opened'),
    waitingForChain: (cause) => log.warn({ err: cause }, 'waiting for the chain'),
    nonceUnexplained: (evmNonce) =>
      log.error({ evm_nonce: evmNonce }, 'nonce used by an unknown transaction'),
    frozen: ({ evmNonce, by }) =>
      log.error(
        { evm_nonce: evmNonce, tx_hash: by.hash, block_number: String(by.blockNumber) },
        'a foreign transaction used the key: nothing more is sent until it is accepted',
      ),
    foreignAccepted: ({ evmNonce, by }) =>
      log.warn(
        { evm_nonce: evmNonce, tx_hash: by.hash, block_number: String(by.blockNumber) },
        'the foreign transaction is accepted: transactions are sent again',
      ),
    gasLow: (balanceWei, reserveWei) =>
      log.error(
        { balance_wei: String(balanceWei), reserve_wei: String(reserveWei) },
        'the signer holds too little gas money',
      ),
    gasBack: () => log.info({}, 'the signer holds enough gas money again'),
    keyRetired: (address) =>
      log.info({ sender: address }, 'all transactions of the retiring key are final'),
    signerUnavailable: (cause) => log.error({ why: cause.message }, 'nothing can be signed'),
    chainLost: (cause) => log.warn({ err: cause }, 'chain does not answer'),
    chainBack: () => log.info({}, 'chain answers again'),
  }
}

/** One id as a text, several as a list; none for a transaction that fills a gap. */
function idsOf(idName: string, intentIds: readonly string[]): Record<string, unknown> {
  if (intentIds.length === 0) return {}
  return intentIds.length === 1 ? { [idName]: intentIds[0] } : { [`${idName}s`]: intentIds }
}

function mined({ hash, blockNumber, revert }: MinedTransaction): Record<string, unknown> {
  const line = { tx_hash: hash, block_number: String(blockNumber) }
  return revert === undefined ? line : { ...line, revert }
}
