import { commandsStream } from '../../bus-schemas/subjects.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { ProcessStanding } from '../../runtime/process/process.js'
import type { OrderAdmission } from './admission.js'
import type { CommandLogWriter } from './command-log.js'
import type { MarketHalts } from './market-halts.js'

/** What the standing follows from. */
interface StandingParts {
  readonly registry: Pick<IntakeRegistry, 'stored'>
  readonly admission?: Pick<OrderAdmission, 'trouble'>
}

/** Whether orders are taken now, and if not, why; with how far the claims of each log are stored. */
export function standingOf(
  { registry, admission }: StandingParts,
  halts: Pick<MarketHalts, 'stopped'>,
  commandLogs: ReadonlyMap<string, CommandLogWriter>,
): ProcessStanding {
  const troubles = [
    ...halts.stopped(),
    ...Array.from(commandLogs.values(), (each) => each.trouble()),
    ...Array.from(commandLogs.keys(), (market) => admission?.trouble(market)),
  ]
  const trouble = troubles.find((each) => each !== undefined)
  return {
    ready: trouble === undefined,
    detail: trouble ?? 'taking orders',
    positions: Object.fromEntries(
      Array.from(commandLogs.keys(), (market) => [
        commandsStream(market),
        registry.stored(market).streamSeq,
      ]),
    ),
  }
}
