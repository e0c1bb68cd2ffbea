import type { Bus } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { Running } from '../../bus-schemas/process.js'
import {
  askCancelOrder,
  askPlaceOrder,
  commandsStream,
  commandsSubject,
} from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { type Standing, answerPing } from '../answer-ping.js'
import { type CommandLog, createCommandLog } from './command-log.js'
import { type IntakeDeps, createIntake } from './intake.js'
import { createOrderWatch } from './order-watch.js'
import { digestOfOrder, watchSignatures } from './watch-signatures.js'

export const PROCESS_NAME = 'order-intake'

export interface OrderIntakeOptions extends Omit<
  IntakeDeps,
  'commandLogs' | 'bus' | 'registry' | 'watch'
> {
  readonly bus: Bus
  readonly registry: IntakeRegistry
  readonly log: Logger
  /** How long after a look at the signatures of live orders the next begins; a block's time unless told. */
  readonly recheckEveryMs?: number
  /** The intake cannot go on: a feed that cannot be followed, a log that is not ours. */
  readonly onFatal: (error: unknown) => void
}

/** Time between two blocks of the target chain. */
const BLOCK_TIME_MS = 2_000

/**
 * Publishes what an earlier run left in the outbox, then takes requests. Stopping it takes nothing new, lets what is
 * under way reach the log, and leaves bus and registry open.
 */
export async function startOrderIntake(options: OrderIntakeOptions): Promise<Running> {
  const { bus, markets, log, verifier, recheckEveryMs = BLOCK_TIME_MS } = options
  const commandLogs = new Map<string, CommandLog>()
  for (const { market } of markets) {
    await bus.declareStream({
      stream: commandsStream(market),
      subject: commandsSubject(market),
      description: `Everything that changes ${market}, in order`,
    })
    const commandLog = createCommandLog({ ...options, market })
    await commandLog.recover()
    commandLogs.set(market, commandLog)
  }
  const watch = createOrderWatch((order) => digestOfOrder(verifier, order))
  const signatures = await watchSignatures({ ...options, recheckEveryMs, commandLogs, watch })
  const intake = createIntake({ ...options, commandLogs, watch })
  // What handling a request throws is a broken invariant; unhandled, it ends the process.
  const subscriptions = await Promise.all([
    bus.answer(askPlaceOrder, PROCESS_NAME, (data, to) => void intake.place(data, to)),
    bus.answer(askCancelOrder, PROCESS_NAME, (data, to) => void intake.cancel(data, to)),
    answerPing(bus, PROCESS_NAME, () => standing(options, [...commandLogs.values()])),
  ])
  log.info(
    { markets: [...commandLogs.keys()], command_no: options.registry.lastNo() },
    'taking orders',
  )
  return {
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()))
      await signatures.stop()
      crash('intake.shutdown_mid_drain')
      await Promise.all([...commandLogs.values()].map((commandLog) => commandLog.stop()))
    },
  }
}

function standing(
  { registry, admission, markets }: OrderIntakeOptions,
  commandLogs: readonly CommandLog[],
): Standing {
  const troubles = [
    ...commandLogs.map((each) => each.trouble()),
    ...markets.map(({ market }) => admission?.trouble(market)),
  ]
  const trouble = troubles.find((each) => each !== undefined)
  return {
    ready: trouble === undefined,
    detail: trouble ?? 'taking orders',
    positions: { command_no: registry.lastNo() },
  }
}
