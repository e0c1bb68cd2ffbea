import { CHAIN_READER_SOURCE } from '../../bus-schemas/subjects.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import { createLastNumbers, type LastNumbers } from '../../runtime/actor/last-numbers.js'
import { leadStreamActor, untilLeadership } from '../../runtime/actor/lead-stream.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { marketsIn, readRegister } from '../../runtime/bus/market-register.js'
import { isReadNow } from '../../runtime/bus/read-later.js'
import type { Logger } from '../../runtime/process/log.js'

export const PROCESS_NAME = 'chain-reader'

export const openLastNumbers = (bus: Bus): LastNumbers =>
  createLastNumbers(bus, CHAIN_READER_SOURCE)

export interface ReaderLeadership {
  readonly bus: Bus
  readonly log: Logger
  /** Unique to the process. */
  readonly id: string
  /** Waits for another one to be gone. */
  readonly standby: boolean
}

/**
 * Resolves when this chain reader may take the next term, with what it knows of the logs by then; a standby reads them meanwhile.
 * Throws Fenced.
 */
export async function untilReaderLeadership(leadership: ReaderLeadership): Promise<LastNumbers> {
  const { bus, log, id, standby } = leadership
  const lastNumbers = openLastNumbers(bus)
  const meanwhile = () => isReadNow(() => readOn(bus, lastNumbers))
  await untilLeadership(leadStreamActor({ bus, log, name: PROCESS_NAME, id }), {
    standby,
    meanwhile,
  })
  return lastNumbers
}

/** Reads the logs of the markets that are registered by now on. */
async function readOn(bus: Bus, lastNumbers: LastNumbers): Promise<void> {
  for (const market of marketsIn(await readRegister(bus)))
    if (chainContractOf(market) !== undefined) await lastNumbers.read(market)
}
