import { setTimeout as delay } from 'node:timers/promises'
import type { MarketList } from '../core/entry/find-market.js'
import { readRefusals } from '../core/entry/read-refusals.js'
import { refusals, type Refusal } from '../core/entry/refusals.js'
import { raiseSeq, type FeedSeqs } from '../core/feed-seqs.js'
import { openReadModel, ReadModelAbsent, type ReadModel } from '../data/history/read-model.js'
import type { Logger } from '../runtime/process/log.js'
import type { FeedHeads } from './health.js'
import { createKnownHeads, type IsReached } from './known-heads.js'
import { createReadsInFlight, type ReadLimits } from './reads-in-flight.js'

/** Longest wait of a read for the projection; then it is answered 503. */
export const MAX_READ_WAIT_MS = 2_000
const POLL_MS = 5

/** Reads that wait for a change that their asker has seen elsewhere: of one client address, and altogether. */
export const WAIT_LIMITS: ReadLimits = { maxPerAddress: 16, max: 256 }

/** What a read has to show: of a client address, what its `min_seq` says. */
export interface ReadDemand {
  readonly client: string
  readonly seqs: FeedSeqs
}

/**
 * What reads wait for: every read of this gateway includes what this gateway has answered (REA-032), and what its asker names
 * (REA-049).
 */
export interface OwnWrites {
  /** Notes that an answer showed the market as of this feed seq. */
  answered(market: string, feedSeq: number): void
  /**
   * Waits until the projection includes what was answered of the market, or of all, and what is asked of the same. Returns why it
   * does not: after 2 s, at once where more is asked than the feed is known to have, and where too many reads of the client wait.
   */
  shown(market?: string, asked?: ReadDemand): Promise<Refusal | undefined>
  /** Only whether the feeds are known to have what is asked; why not, at once. */
  known(asked: ReadDemand): Promise<Refusal | undefined>
  /** What was answered of each market. */
  answeredSeqs(): FeedSeqs
}

interface OwnWritesOptions {
  readonly readModel: Pick<ReadModel, 'projectedSeq'>
  /** Of a market's feed, as it is now. */
  readonly readHead: FeedHeads
  readonly maxWaitMs?: number
  readonly limits?: ReadLimits
}

/** Holds a few numbers for each market; must be called with markets of the venue only. */
export function createOwnWrites({
  readModel,
  readHead,
  maxWaitMs = MAX_READ_WAIT_MS,
  limits = WAIT_LIMITS,
}: OwnWritesOptions): OwnWrites {
  const answeredSeq = new Map<string, number>()
  const waiting = createReadsInFlight(limits)
  const isReached = createKnownHeads(readHead)
  const nextLook = createLooks(readModel)

  async function wait(targets: FeedSeqs, deadline: number): Promise<Refusal | undefined> {
    let look = lookAt(readModel)
    while (![...targets].every(([market, seq]) => look(market) >= seq)) {
      if (performance.now() >= deadline) return refusals.readBehind
      look = await nextLook()
    }
    return undefined
  }

  /** What is asked of the market, or of all, that the projection does not include yet and was not answered here. */
  function aheadOf(asked: ReadDemand | undefined, market: string | undefined): FeedSeqs {
    const look = lookAt(readModel)
    const seqs = [...(asked?.seqs ?? [])].filter(
      ([name, seq]) =>
        (market === undefined || name === market) &&
        (answeredSeq.get(name) ?? 0) < seq &&
        look(name) < seq,
    )
    return new Map(seqs)
  }

  /** Goes on with a read whose feeds are known to have what it asks; it counts as waiting until then. */
  async function whenKnown(
    { client }: ReadDemand,
    ahead: FeedSeqs,
    goOn: (deadline: number) => Promise<Refusal | undefined>,
  ): Promise<Refusal | undefined> {
    const leave = waiting.enter(client)
    if (leave === undefined) return readRefusals.tooManyWaits
    const deadline = performance.now() + maxWaitMs
    try {
      const reached = await reachedWithin(isReached, ahead, maxWaitMs)
      if (reached.includes(false)) return readRefusals.minSeqAhead
      return reached.includes(undefined) ? refusals.readBehind : await goOn(deadline)
    } finally {
      leave()
    }
  }

  return {
    answered: (market, feedSeq) => raiseSeq(answeredSeq, market, feedSeq),
    answeredSeqs: () => answeredSeq,
    async known(asked) {
      const ahead = aheadOf(asked, undefined)
      return ahead.size === 0
        ? undefined
        : whenKnown(asked, ahead, () => Promise.resolve(undefined))
    },
    shown(market, asked) {
      const own = [...answeredSeq].filter(([name]) => market === undefined || name === market)
      const targets = new Map(own)
      const ahead = aheadOf(asked, market)
      if (asked === undefined || ahead.size === 0)
        return wait(targets, performance.now() + maxWaitMs)
      for (const [name, seq] of ahead) raiseSeq(targets, name, seq)
      return whenKnown(asked, ahead, (deadline) => wait(targets, deadline))
    },
  }
}

/** Whether each feed has come so far; undefined for what is not known in time. */
async function reachedWithin(
  isReached: IsReached,
  seqs: FeedSeqs,
  withinMs: number,
): Promise<readonly (boolean | undefined)[]> {
  const late = new AbortController()
  try {
    return await Promise.race([
      Promise.all([...seqs].map(([market, seq]) => isReached(market, seq))),
      delay(withinMs, [undefined], { signal: late.signal }),
    ])
  } finally {
    late.abort()
  }
}

/** The projection at one moment; each market of it is read once. */
type ProjectionLook = (market: string) => number

function lookAt(readModel: Pick<ReadModel, 'projectedSeq'>): ProjectionLook {
  const read = new Map<string, number>()
  return (market) => {
    const seq = read.get(market) ?? readModel.projectedSeq(market)
    read.set(market, seq)
    return seq
  }
}

/** The looks at the projection that all who wait share: however many wait, it is read once every POLL_MS. */
function createLooks(readModel: Pick<ReadModel, 'projectedSeq'>): () => Promise<ProjectionLook> {
  let next: Promise<ProjectionLook> | undefined
  return () =>
    (next ??= delay(POLL_MS).then(() => {
      next = undefined
      return lookAt(readModel)
    }))
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
      if (attempts === 0) log.info({ path, why: error.message }, 'waiting for the read model')
      await delay(RETRY_MS)
    }
  }
}
