import { setTimeout as delay } from 'node:timers/promises'
import type { MarketList } from '../core/entry/find-market.js'
import { openReadModel, ReadModelAbsent, type ReadModel } from '../data/history/read-model.js'
import type { Logger } from '../runtime/process/log.js'

/** Longest wait of a read for the projection; then it is answered 503. */
const MAX_READ_WAIT_MS = 2_000
const POLL_MS = 5

/** Read your own writes: every read of this gateway includes what this gateway has answered (REA-032). */
export interface OwnWrites {
  /** Notes that an answer showed the market as of this feed seq. */
  answered(market: string, feedSeq: number): void
  /** Waits until the projection includes what was answered of the market, or of all; false after 2 s. */
  shown(market?: string): Promise<boolean>
  /** What was answered of each market. */
  answeredSeqs(): readonly { readonly market: string; readonly seq: number }[]
}

interface OwnWritesOptions {
  readonly readModel: Pick<ReadModel, 'projectedSeq'>
  readonly maxWaitMs?: number
}

/** Holds one number per market; `answered` must be called with markets of the venue only. */
export function createOwnWrites({
  readModel,
  maxWaitMs = MAX_READ_WAIT_MS,
}: OwnWritesOptions): OwnWrites {
  const answeredSeq = new Map<string, number>()

  const isShown = (targets: ReadonlyMap<string, number>): boolean =>
    [...targets].every(([market, seq]) => readModel.projectedSeq(market) >= seq)

  return {
    answered: (market, feedSeq) => {
      answeredSeq.set(market, Math.max(feedSeq, answeredSeq.get(market) ?? 0))
    },
    answeredSeqs: () => Array.from(answeredSeq, ([market, seq]) => ({ market, seq })),
    shown: async (market) => {
      const wanted = [...answeredSeq].filter(([name]) => market === undefined || name === market)
      const targets = new Map(wanted)
      const deadline = performance.now() + maxWaitMs
      while (!isShown(targets)) {
        if (performance.now() >= deadline) return false
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
      return true
    },
  }
}

/** How long answers may show terms that the read model has replaced. */
const REFRESH_EVERY_MS = 10

/**
 * Sets the terms of every market as the read model holds them, unless it did so a moment ago: it reads an index for each
 * market, which is too much for each request.
 */
export function createMarketRefresh(
  list: MarketList,
  readModel: Pick<ReadModel, 'terms'>,
  everyMs = REFRESH_EVERY_MS,
): () => void {
  let dueAtMs = 0
  return () => {
    const nowMs = performance.now()
    if (nowMs < dueAtMs) return
    dueAtMs = nowMs + everyMs
    for (const { market } of list.markets) {
      const terms = readModel.terms(market)
      if (terms !== undefined) list.state(market, terms)
    }
  }
}

const RETRY_MS = 200

/** Opens the read model, waiting until the projector has created it. */
export async function openReadModelWhenCreated(path: string, log: Logger): Promise<ReadModel> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return openReadModel(path)
    } catch (error) {
      if (!(error instanceof ReadModelAbsent)) throw error
      if (attempts === 0) log.info({ path }, 'waiting for the projector to create the read model')
      await delay(RETRY_MS)
    }
  }
}
