import { CHAIN_READER_SOURCE } from '../../bus-schemas/subjects.js'
import type { Market } from '../../core/contracts/market.js'
import { createLastNumbers, type LastNumbers } from '../../runtime/actor/last-numbers.js'
import { leadStreamActor, untilTurn } from '../../runtime/actor/lead-stream.js'
import { BusUnavailable, type Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'

export const PROCESS_NAME = 'chain-reader'

export const openLastNumbers = (bus: Bus): LastNumbers =>
  createLastNumbers(bus, CHAIN_READER_SOURCE)

export interface ReaderTurn {
  readonly bus: Bus
  readonly log: Logger
  readonly markets: readonly Market[]
  /** Unique to the process. */
  readonly id: string
  /** Waits for another one to be gone. */
  readonly standby: boolean
}

/**
 * Resolves when this chain reader may take the next term, with what it knows of the logs by then; a standby reads them meanwhile.
 * Throws Fenced.
 */
export async function untilReaderTurn(turn: ReaderTurn): Promise<LastNumbers> {
  const { bus, log, markets, id, standby } = turn
  const lastNumbers = openLastNumbers(bus)
  const meanwhile = () => readOn(lastNumbers, markets)
  await untilTurn(leadStreamActor({ bus, log, name: PROCESS_NAME, id }), { standby, meanwhile })
  return lastNumbers
}

/** Reads the logs of these markets on; false when the bus does not answer. */
async function readOn(lastNumbers: LastNumbers, markets: readonly Market[]): Promise<boolean> {
  try {
    for (const market of markets) await lastNumbers.read(market)
    return true
  } catch (error) {
    if (error instanceof BusUnavailable) return false
    throw error
  }
}
