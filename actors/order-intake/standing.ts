import { commandsStream } from '../../bus-schemas/subjects.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { Standing } from '../../runtime/process/process.js'
import type { Admission } from './admission.js'
import type { CommandLog } from './command-log.js'
import type { MarketGate } from './market-gate.js'

/** What the standing follows from. */
interface StandingParts {
  readonly registry: Pick<IntakeRegistry, 'stored'>
  readonly admission?: Pick<Admission, 'trouble'>
}

/** Whether orders are taken now, and if not, why; with how far the claims of each log are stored. */
export function standingOf(
  { registry, admission }: StandingParts,
  gate: Pick<MarketGate, 'stopped'>,
  commandLogs: ReadonlyMap<string, CommandLog>,
): Standing {
  const troubles = [
    ...gate.stopped(),
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
