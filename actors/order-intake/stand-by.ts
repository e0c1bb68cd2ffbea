import type { Market } from '../../core/contracts/market.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { claimOf } from '../../data/recent-claims.js'
import { BusUnavailable, MessagesGone, StreamMissing, type Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { Running } from '../../runtime/process/process.js'
import { takeTurn } from '../../runtime/process/standby.js'
import type { OrderIntakeConfig } from './config.js'
import { foldLog, LogMismatch } from './fold-log.js'
import { PROCESS_NAME } from './intake.js'

export interface FollowedLogs {
  readonly bus: Bus
  readonly registry: IntakeRegistry
  readonly markets: readonly Market[]
  readonly log: Logger
}

/** What it takes to wait for one's turn. */
export interface IntakeTurn {
  /** Distinguishes this intake from any other. */
  readonly id: string
  readonly config: Pick<OrderIntakeConfig, 'STANDBY'>
  /** Another intake began to work later. */
  readonly end: (reason: string) => void
}

/** Resolves when this intake may work; a standby folds the logs meanwhile. */
export const takeIntakeTurn = (
  logs: FollowedLogs,
  { id, config, end }: IntakeTurn,
): Promise<Running> =>
  takeTurn({
    ...{ bus: logs.bus, log: logs.log, name: PROCESS_NAME, id, nowMs: Date.now, onOutdone: end },
    standby: config.STANDBY === '1',
    meanwhile: () => followLogs(logs),
  })

/** What the start looks at again, and says. */
const LATER = [MessagesGone, StreamMissing, LogMismatch] as const

/**
 * Folds what another intake has appended, so that little is left to fold when this one takes over. False when the bus does not
 * answer.
 */
async function followLogs({ bus, registry, markets, log }: FollowedLogs): Promise<boolean> {
  for (const row of markets) {
    const { market, contractType } = row
    const claims = { claimOf: (order: Parameters<typeof claimOf>[1]) => claimOf(row, order) }
    try {
      await foldLog({ bus, registry, market, contractType, log, ...claims }, { term: undefined })
    } catch (error) {
      if (error instanceof BusUnavailable) return false
      if (!LATER.some((kind) => error instanceof kind)) throw error
    }
  }
  return true
}
