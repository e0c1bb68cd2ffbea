import type { Market } from '../../core/model/market.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { claimOf } from '../../data/recent-claims.js'
import { MessagesGone, StreamMissing, type Bus } from '../../runtime/bus/bus.js'
import { marketsIn, readRegister } from '../../runtime/bus/market-register.js'
import { isReadNow } from '../../runtime/bus/read-later.js'
import type { Logger } from '../../runtime/process/log.js'
import { leadStreamActor, untilLeadership } from '../../runtime/actor/lead-stream.js'
import type { OrderIntakeConfig } from './config.js'
import { foldLog, LogMismatch } from './fold-log.js'
import { PROCESS_NAME } from './intake.js'

export interface FollowedLogs {
  readonly bus: Bus
  readonly registry: IntakeRegistry
  readonly log: Logger
}

/** Resolves when this intake may take the next term; a standby folds the logs meanwhile. Throws Fenced. */
export function untilIntakeLeadership(
  logs: FollowedLogs,
  { id, config }: { readonly id: string; readonly config: Pick<OrderIntakeConfig, 'STANDBY'> },
): Promise<void> {
  const { bus, log } = logs
  const actor = leadStreamActor({ bus, log, name: PROCESS_NAME, id })
  return untilLeadership(actor, {
    standby: config.STANDBY === '1',
    meanwhile: () => isReadNow(() => followLogs(logs)),
  })
}

/** What the start looks at again, and says. */
const LATER = [MessagesGone, StreamMissing, LogMismatch] as const

/** Folds what another intake has appended, so that little is left to fold when this one takes over. */
async function followLogs(logs: FollowedLogs): Promise<void> {
  // A market that is registered meanwhile is followed too.
  for (const row of marketsIn(await readRegister(logs.bus))) await followLog(logs, row)
}

async function followLog({ bus, registry, log }: FollowedLogs, row: Market): Promise<void> {
  const { market, contractType } = row
  const claims = { claimOf: (order: Parameters<typeof claimOf>[1]) => claimOf(row, order) }
  try {
    await foldLog({ bus, registry, market, contractType, log, ...claims }, { term: undefined })
  } catch (error) {
    if (!LATER.some((kind) => error instanceof kind)) throw error
  }
}
