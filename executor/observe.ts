import { observeLane, type LaneFacts } from '../chain/lane/observe-lane.js'
import type { Hex } from '../core/action.js'
import { observeJournal, type JournalFacts } from '../data/journal/published-journal.js'
import type { Metrics } from '../runtime/metrics/metrics.js'
import type { Logger } from '../runtime/process/log.js'
import type { Loss } from './lost-gas.js'
import type { Executor } from './open-executor.js'

/** What the executor reports to its operator, one log line each; never signatures or signed bytes. */
export interface ExecutorFacts extends LaneFacts, JournalFacts {
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

export function observeExecutor(log: Logger): ExecutorFacts {
  return {
    ...observeLane(log, 'settlement'),
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

/** Counts what the executor reports of settlements and of their transactions. */
export function measureExecutor(metrics: Metrics): Partial<ExecutorFacts> {
  const counter = metrics.counter('venue_settlement_steps_total')
  const count = (step: string) => () => counter({ step })
  return {
    settlementReceived: count('received'),
    simulated: count('simulated'),
    deferred: count('deferred'),
    refused: count('refused'),
    unavailable: count('unavailable'),
    broadcast: count('sent'),
    mined: (_, intents) => intents.forEach(count('mined')),
    replaced: count('replaced'),
    displaced: count('displaced'),
    reversed: count('reversed'),
  }
}

/** So that a scrape has few labels, however many fail. */
const SHOWN_LOSSES = 5

/** Reads at each scrape whether matches can be settled, how many wait, and the funds for gas. */
export function sampleExecutor(
  metrics: Metrics,
  executor: Pick<Executor, 'trouble' | 'waiting' | 'address' | 'readBalance' | 'lostGas'>,
  reserveWei: bigint,
): void {
  const { trouble, waiting, address, readBalance, lostGas } = executor
  const wallet = { wallet: 'executor', address }
  metrics.sample('venue_executor_ready', () => [[{}, trouble() === undefined ? 1 : 0]])
  metrics.sample('venue_executor_queue', () => [[{}, waiting()]])
  metrics.sample('venue_gas_balance_wei', async () => [[wallet, Number(await readBalance())]])
  metrics.sample('venue_gas_reserve_wei', () => [[wallet, Number(reserveWei)]])
  metrics.sample('venue_lost_gas', () => [[{}, Number(lostGas.total())]])
  metrics.sample('venue_lost_gas_since_timestamp_seconds', () => [[{}, lostGas.sinceMs / 1_000]])
  metrics.sample('venue_lost_gas_top', () =>
    lostGas.top(SHOWN_LOSSES).map(({ signer, owner, gas }) => [{ signer, owner }, Number(gas)]),
  )
}
