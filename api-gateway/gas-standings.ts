import { type Bus, NoAnswer } from '../bus-schemas/bus.js'
import { decodeGasStanding } from '../bus-schemas/gas-standing.js'
import { askGasStanding } from '../bus-schemas/subjects.js'
import type { GasStanding, TransferKind } from '../core/transfer.js'

const CACHED_MS = 1_000
const ASK_TIMEOUT_MS = 1_000

/** How a submitter's gas wallet stands, at most a second old; undefined while its submitter is silent. */
export type GasStandings = (kind: TransferKind) => Promise<GasStanding | undefined>

/** Asks each submitter at most once a second. */
export function createGasStandings(bus: Pick<Bus, 'ask' | 'isConnected'>): GasStandings {
  const asked = new Map<
    TransferKind,
    { readonly atMs: number; readonly standing: ReturnType<GasStandings> }
  >()
  return (kind) => {
    const nowMs = performance.now()
    const kept = asked.get(kind)
    if (kept !== undefined && nowMs - kept.atMs < CACHED_MS) return kept.standing
    const standing = ask(bus, kind)
    asked.set(kind, { atMs: nowMs, standing })
    return standing
  }
}

async function ask(
  bus: Pick<Bus, 'ask' | 'isConnected'>,
  kind: TransferKind,
): Promise<GasStanding | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    return decodeGasStanding(await bus.ask(askGasStanding(kind), new Uint8Array(), ASK_TIMEOUT_MS))
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
