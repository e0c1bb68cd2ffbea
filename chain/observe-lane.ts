import type { LaneFacts } from './lane-facts.js'
import type { MinedTransaction, OpenTransaction } from './transaction-journal.js'

type Line = (fields: Record<string, unknown>, message: string) => void

/** The part of a log that is written to. */
export interface LaneLog {
  readonly debug: Line
  readonly info: Line
  readonly warn: Line
  readonly error: Line
}

/**
 * Writes a line for each thing that a lane tells, never signatures or signed bytes. `noun` is what an intent is in the
 * lines: of a `settlement` they carry the `settlement_id`. Lines of level `error` want somebody to look.
 */
export function observeLane(log: LaneLog, noun: string): LaneFacts {
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
        'never carried out: a stranger used the nonce for good',
      ),
  }
}

type ChainFact =
  | 'laneOpened'
  | 'waitingForChain'
  | 'nonceUnexplained'
  | 'frozen'
  | 'gasLow'
  | 'gasBack'
  | 'chainLost'
  | 'chainBack'

function observeChain(log: LaneLog): Pick<LaneFacts, ChainFact> {
  return {
    laneOpened: ({ address, minedNonces, open }) =>
      log.info({ sender: address, mined_nonces: minedNonces, open }, 'nonce lane opened'),
    waitingForChain: (cause) => log.warn({ err: cause }, 'waiting for the chain'),
    nonceUnexplained: (evmNonce) =>
      log.error({ evm_nonce: evmNonce }, 'nonce used, and nothing is found that used it'),
    frozen: ({ evmNonce, by }) =>
      log.error(
        { evm_nonce: evmNonce, tx_hash: by.hash, block_number: String(by.blockNumber) },
        'a stranger uses the key: nothing more is sent until the process is started again',
      ),
    gasLow: (balanceWei, reserveWei) =>
      log.error(
        { balance_wei: String(balanceWei), reserve_wei: String(reserveWei) },
        'the signer holds too little gas money',
      ),
    gasBack: () => log.info({}, 'the signer holds enough gas money again'),
    chainLost: (cause) => log.warn({ err: cause }, 'chain does not answer'),
    chainBack: () => log.info({}, 'chain answers again'),
  }
}

/** One id by itself, several as a list; nothing for a transaction that carries nothing out. */
function idsOf(idName: string, intentIds: readonly string[]): Record<string, unknown> {
  if (intentIds.length === 0) return {}
  return intentIds.length === 1 ? { [idName]: intentIds[0] } : { [`${idName}s`]: intentIds }
}

function mined({ hash, blockNumber, revert }: MinedTransaction): Record<string, unknown> {
  const line = { tx_hash: hash, block_number: String(blockNumber) }
  return revert === undefined ? line : { ...line, revert }
}
