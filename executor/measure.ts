import type { Metrics } from '../runtime/metrics/metrics.js'
import type { ExecutorFacts } from './observe.js'
import type { Executor } from './open-executor.js'

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

const WALLET = { wallet: 'executor' }

/** Reads at each scrape whether matches can be settled, how many wait, and the funds for gas. */
export function sampleExecutor(
  metrics: Metrics,
  { trouble, waiting, readBalance }: Pick<Executor, 'trouble' | 'waiting' | 'readBalance'>,
  reserveWei: bigint,
): void {
  metrics.sample('venue_executor_ready', () => [[{}, trouble() === undefined ? 1 : 0]])
  metrics.sample('venue_executor_queue', () => [[{}, waiting()]])
  metrics.sample('venue_gas_balance_wei', async () => [[WALLET, Number(await readBalance())]])
  metrics.sample('venue_gas_reserve_wei', () => [[WALLET, Number(reserveWei)]])
}
