import type { Address } from './action.js'

/** What some blocks may have changed: accounts, or the code of keys. */
export interface BlockTouches<Id> {
  /** The first of the blocks; `head + 1` when there is none beyond those that were announced before. */
  readonly first: bigint
  /** The newest block. */
  readonly head: bigint
  /** Absent when it is not known: after a reorganisation, or without what the chain says of a block. */
  readonly ids?: readonly Id[] | undefined
}

/** An announcement of all that some blocks may have changed; a kind is absent when it is not known. */
export interface TouchedNews extends Omit<BlockTouches<never>, 'ids'> {
  readonly accounts?: readonly bigint[] | undefined
  /** Keys to which a transaction may have given code, or from which it may have taken it; addresses in lower case. */
  readonly keys?: readonly Address[] | undefined
}

/** A read of facts of one account or key. */
export interface ReadAtBlock<Id> {
  readonly id: Id
  /** The block at which it was read. */
  readonly blockNumber: bigint
  /** When the read began, in milliseconds of a monotonic clock. */
  readonly readAtMs: number
}

/** Tells of facts that were read whether they still hold, from announcements of what each block touched. */
export interface TouchedBlocks<Id> {
  /** Takes the next announcement. */
  take(touched: BlockTouches<Id>): void
  /**
   * Whether no block since that of the read, up to the newest announced, touched it. False when that is not known, also
   * while no announcement has come for ANNOUNCED_WITHIN_MS.
   */
  isUntouched(read: ReadAtBlock<Id>): boolean
}

/** What is known of accounts and of keys. */
export interface TouchedIds {
  readonly accounts: TouchedBlocks<bigint>
  readonly keys: TouchedBlocks<Address>
  take(news: TouchedNews): void
}

/** An older announcement proves nothing about now. */
export const ANNOUNCED_WITHIN_MS = 3_000
/** After a reorganisation a lagging node may answer reads from the other branch for so long. */
const UNSURE_MS = 5_000
/** Touched ids that are kept; beyond it all reads so far count as touched. */
const TOUCHED_MAX = 100_000

/** @param nowMs Milliseconds of a monotonic clock. */
export function createTouchedBlocks<Id>(nowMs: () => number): TouchedBlocks<Id> {
  /** The newest block that touched an id. */
  const touchedIn = new Map<Id, bigint>()
  /** Every announced block above this one is known. */
  let knownFrom = 0n
  let head: bigint | undefined
  let announcedAtMs = -Infinity
  let sureFromMs = Infinity

  const forget = (touched: BlockTouches<Id>): void => {
    touchedIn.clear()
    knownFrom = touched.head
    sureFromMs = nowMs() + (touched.ids === undefined ? UNSURE_MS : 0)
  }
  return {
    take(touched) {
      const follows = head !== undefined && touched.first <= head + 1n && touched.head >= head
      if (!follows || touched.ids === undefined || touchedIn.size > TOUCHED_MAX) forget(touched)
      for (const id of touched.ids ?? []) touchedIn.set(id, touched.head)
      head = touched.head
      announcedAtMs = nowMs()
    },
    isUntouched({ id, blockNumber, readAtMs }) {
      if (nowMs() - announcedAtMs >= ANNOUNCED_WITHIN_MS || readAtMs < sureFromMs) return false
      return blockNumber >= knownFrom && (touchedIn.get(id) ?? 0n) <= blockNumber
    },
  }
}

/** @param nowMs Milliseconds of a monotonic clock. */
export function createTouchedIds(nowMs: () => number): TouchedIds {
  const accounts = createTouchedBlocks<bigint>(nowMs)
  const keys = createTouchedBlocks<Address>(nowMs)
  return {
    accounts,
    keys,
    take(news) {
      accounts.take({ ...news, ids: news.accounts })
      keys.take({ ...news, ids: news.keys })
    },
  }
}
