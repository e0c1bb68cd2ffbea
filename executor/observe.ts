import { observeSender, type SenderObserver } from '../chain/sender/observe-sender.js'
import type { Hex } from '../core/action.js'
import { observeJournal, type JournalObserver } from '../data/journal/published-journal.js'
import type { Logger } from '../runtime/process/log.js'
import type { Loss } from './lost-gas.js'

/** What the executor reports to its operator, one log line each; never signatures or signed bytes. */
export interface ExecutorObserver extends SenderObserver, JournalObserver {
  readonly settlementReceived: (settlement: SettlementNames) => void
  /** It passed its simulation, with this gas. */
  readonly simulated: (settlementId: string, gas: bigint) => void
  /** It waits until the chain has mined the nonce, whose matches may change the verdict. */
  readonly deferred: (settlementId: string, evmNonce: number) => void
  readonly refused: (settlementId: string, revert: string) => void
  /** The chain refuses every match of the market; `why` where it was read rather than met. */
  readonly faultFound: (market: string, revert: string, why: string | undefined) => void
  readonly faultGone: (market: string) => void
  readonly unavailable: (settlementId: string, why: string, cause?: unknown) => void
  /** A match failed on the chain through signers that are code; the one that is charged with the gas is named. */
  readonly gasLost: (settlementId: string, loss: Loss) => void
  /** The node's receipt of a mined transaction has not the form of one, so its matches have no cost. */
  readonly unreadableReceipt: (hash: Hex) => void
}

interface SettlementNames {
  readonly settlementId: string
  readonly market: string
  readonly takerOrderId: string
  readonly makerOrderIds: readonly string[]
}

export function observeExecutor(log: Logger): ExecutorObserver {
  return {
    ...observeSender(log, 'settlement'),
    ...observeJournal(log),
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
    simulated: (settlementId, gas) =>
      log.debug({ settlement_id: settlementId, gas: String(gas) }, 'match simulated'),
    deferred: (settlementId, evmNonce) =>
      log.info(
        { settlement_id: settlementId, evm_nonce: evmNonce },
        'settlement waits for another',
      ),
    refused: (settlementId, revert) =>
      log.warn({ settlement_id: settlementId, revert }, 'settlement refused by simulation'),
    faultFound: (market, revert, why) =>
      log.error({ market, revert, why }, 'the chain refuses every match'),
    faultGone: (market) => log.info({ market }, 'matches can be settled again'),
    unavailable: (settlementId, why, cause) =>
      log.warn({ settlement_id: settlementId, why, err: cause }, 'settlement not taken'),
    gasLost: (settlementId, { by, gas }) =>
      log.warn(
        { settlement_id: settlementId, ...by, gas: String(gas) },
        'a signer that is code lost the gas of a match',
      ),
    unreadableReceipt: (hash) =>
      log.warn({ hash }, 'a receipt does not tell what its matches cost'),
  }
}
