import type { Logger } from '../bus-schemas/log.js'
import type { LaneFacts } from '../chain/lane-facts.js'
import { observeLane } from '../chain/observe-lane.js'

/** What the executor tells its operator, one line for each thing worth knowing; never signatures or signed bytes. */
export interface ExecutorFacts extends LaneFacts {
  readonly settlementReceived: (settlement: SettlementNames) => void
  /** It passed its trial, and used so much gas. */
  readonly simulated: (settlementId: string, gas: bigint) => void
  /** It is tried again once the chain has mined the nonce, on which its verdict may depend. */
  readonly deferred: (settlementId: string, evmNonce: number) => void
  readonly refused: (settlementId: string, revert: string) => void
  readonly unavailable: (settlementId: string, why: string, cause?: unknown) => void
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
    ...observeLane(log, 'settlement'),
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
    unavailable: (settlementId, why, cause) =>
      log.warn({ settlement_id: settlementId, why, err: cause }, 'settlement not taken'),
    requestFailed: (error) => log.error({ err: error }, 'request failed'),
  }
}
