import type { Metrics } from '../runtime/metrics/metrics.js'
import type { ExecutorObserver } from './observe.js'
import type { Executor } from './open-executor.js'

/** Counts what the executor reports of settlements and of their transactions. */
export function measureExecutor(metrics: Metrics): Partial<ExecutorObserver> {
  const counter = metrics.counter('venue_settlement_steps_total', [
    { step: 'reversed' },
    { step: 'displaced' },
  ])
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
