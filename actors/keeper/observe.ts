import type { Metrics } from '../../runtime/metrics/metrics.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningKeeper } from './open-keeper.js'
import type { KeeperObserver } from './round.js'

/** One log line for each fact; what is refused is repeated at each block, so its line is of level debug. */
export function observeKeeper(log: Logger): KeeperObserver {
  return {
    sent: (job, intentId) => log.info({ job, intent_id: intentId }, 'upkeep sent'),
    refused: (job, subject, why) => log.debug({ job, subject, why }, 'upkeep not possible now'),
    confirmed: (job) => log.debug({ job }, 'upkeep done'),
    lost: (job, costWei) =>
      log.warn({ job, wei: `${costWei}` }, 'upkeep reverted, its gas is lost'),
    unreadable: (what, cause) => log.warn({ err: cause, what }, 'upkeep cannot be read'),
  }
}

/** Counts what became of upkeep. */
export function measureKeeper(metrics: Metrics): KeeperObserver {
  const count = metrics.counter('venue_upkeep_total')
  const lost = { wei: 0n }
  metrics.sample('venue_upkeep_lost_wei', () => [[{}, Number(lost.wei)]])
  return {
    sent: (job) => count({ job, outcome: 'sent' }),
    refused: (job) => count({ job, outcome: 'refused' }),
    confirmed: (job) => count({ job, outcome: 'confirmed' }),
    lost: (job, costWei) => {
      lost.wei += costWei
      count({ job, outcome: 'reverted' })
    },
    unreadable: () => undefined,
  }
}

/** Reads at each scrape which jobs are late. */
export function sampleLate(metrics: Metrics, late: RunningKeeper['late']): void {
  metrics.sample('venue_upkeep_late_seconds', () =>
    late().map(({ job, sinceSec }) => [{ job }, sinceSec] as const),
  )
}
