import type { Logger } from '../bus-schemas/log.js'
import type { TransactionFacts } from '../chain/track-transactions.js'
import type { OpenTransaction } from '../chain/transaction-journal.js'
import type { Hex } from '../core/action.js'

/** What the executor tells its operator, one line for each thing worth knowing; never signatures or signed bytes. */
export interface ExecutorFacts extends TransactionFacts {
  readonly settlementReceived: (settlement: SettlementNames) => void
  readonly simulated: (settlementId: string, gasLimit: bigint) => void
  readonly refused: (settlementId: string, revert: string) => void
  readonly journaled: (transaction: OpenTransaction) => void
  readonly unavailable: (settlementId: string, why: string, cause?: unknown) => void
  /** Who sends, and where from the nonces go on. */
  readonly laneOpened: (lane: { address: Hex; minedNonces: number; open: number }) => void
  readonly waitingForChain: (cause: Error) => void
  readonly requestFailed: (error: unknown) => void
}

export interface SettlementNames {
  readonly settlementId: string
  readonly market: string
  readonly takerOrderId: string
  readonly makerOrderIds: readonly string[]
}

export function observeExecutor(log: Logger): ExecutorFacts {
  return {
    settlementReceived: ({ settlementId, market, takerOrderId, makerOrderIds }) =>
      log.info(
        {
          settlement_id: settlementId,
          market,
          taker_order_id: takerOrderId,
          maker_order_ids: makerOrderIds,
        },
        'settlement received',
      ),
    simulated: (settlementId, gasLimit) =>
      log.debug({ settlement_id: settlementId, gas_limit: String(gasLimit) }, 'match simulated'),
    refused: (settlementId, revert) =>
      log.warn({ settlement_id: settlementId, revert }, 'settlement refused by simulation'),
    journaled: (transaction) => log.debug(describe(transaction), 'transaction journaled'),
    unavailable: (settlementId, why, cause) =>
      log.warn({ settlement_id: settlementId, why, err: cause }, 'settlement not taken'),
    laneOpened: ({ address, minedNonces, open }) =>
      log.info({ sender: address, mined_nonces: minedNonces, open }, 'nonce lane opened'),
    waitingForChain: (cause) => log.warn({ err: cause }, 'waiting for the chain'),
    requestFailed: (error) => log.error({ err: error }, 'request failed'),
    ...observeTransactions(log),
  }
}

function observeTransactions(log: Logger): TransactionFacts {
  return {
    broadcast: (transaction) => log.info(describe(transaction), 'transaction broadcast'),
    broadcastUnclear: (transaction, cause) =>
      log.warn({ ...describe(transaction), why: cause.message }, 'broadcast unclear'),
    mined: (transaction, { status, hash, blockNumber, revert }) => {
      const line = { ...describe(transaction), tx_hash: hash, block_number: String(blockNumber) }
      if (status === 'success') log.info(line, 'settlement confirmed')
      else log.warn({ ...line, revert }, 'settlement reverted')
    },
    reopened: (count) => log.warn({ count }, 'chain forgot transactions, sending them again'),
    nonceLost: (transaction) =>
      log.error(describe(transaction), 'nonce used by a transaction that is not ours'),
    chainLost: (cause) => log.warn({ err: cause }, 'chain does not answer'),
    chainBack: () => log.info('chain answers again'),
  }
}

function describe({ intentId, evmNonce, attempts }: OpenTransaction): Record<string, unknown> {
  return { settlement_id: intentId, evm_nonce: evmNonce, tx_hash: attempts.at(-1)?.hash }
}
