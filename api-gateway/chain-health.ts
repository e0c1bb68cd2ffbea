import type { Bus } from '../bus-schemas/bus.js'
import { decodePingAnswer } from '../bus-schemas/ping.js'
import { askPing } from '../bus-schemas/subjects.js'
import { isoTime } from '../core/records/iso-time.js'

const PATIENCE_MS = 1_000
const CACHED_MS = 1_000

/** How the venue's view of the chain is; the block is the newest that it took in. */
export interface ChainHealth {
  /** `degraded`: what accounts hold is known of an earlier block only. */
  readonly status: 'ok' | 'degraded'
  readonly detail: string
  readonly block_number?: number
  readonly block_time?: string
}

/** Asks the chain reader at most once a second; never rejects. */
export function createChainHealth(bus: Pick<Bus, 'ask'>): () => Promise<ChainHealth> {
  let asked: { readonly atMs: number; readonly health: Promise<ChainHealth> } | undefined
  return () => {
    const nowMs = performance.now()
    if (asked === undefined || nowMs - asked.atMs >= CACHED_MS) {
      asked = { atMs: nowMs, health: ask(bus) }
    }
    return asked.health
  }
}

async function ask(bus: Pick<Bus, 'ask'>): Promise<ChainHealth> {
  try {
    const answer = await bus.ask(askPing('chain-reader'), new Uint8Array(), PATIENCE_MS)
    const { ready, detail, positions } = decodePingAnswer(answer)
    const { block_number: number, block_time_sec: sec } = positions
    return {
      status: ready ? 'ok' : 'degraded',
      detail,
      ...(number === undefined ? {} : { block_number: number }),
      ...(sec === undefined ? {} : { block_time: isoTime(sec * 1_000) }),
    }
  } catch {
    // Silence is an answer here: nobody follows the chain at this moment.
    return { status: 'degraded', detail: 'the chain reader does not answer' }
  }
}
