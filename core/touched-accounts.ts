/** The accounts that some blocks may have changed. */
export interface TouchedAccounts {
  /** The first of the blocks; `head + 1` when there is none beyond those that were announced before. */
  readonly first: bigint
  /** The newest block. */
  readonly head: bigint
  /** Absent when they are not known: after a reorganisation, or without the events of a block. */
  readonly accounts?: readonly bigint[]
}

/** A read of facts of an account. */
export interface AccountRead {
  readonly subaccountId: bigint
  /** The block at which it was read. */
  readonly blockNumber: bigint
  /** When the read began, in milliseconds of a monotonic clock. */
  readonly readAtMs: number
}

/** Tells of facts that were read whether they still hold, from announcements of what each block touched. */
export interface TouchedBlocks {
  /** Takes the next announcement. */
  take(touched: TouchedAccounts): void
  /**
   * Whether no block since that of the read, up to the newest announced, touched the account. False when that is not known,
   * also while no announcement has come for ANNOUNCED_WITHIN_MS.
   */
  isUntouched(read: AccountRead): boolean
}

/** An older announcement proves nothing about now. */
export const ANNOUNCED_WITHIN_MS = 3_000
/** After a reorganisation a lagging node may answer reads from the other branch for so long. */
const UNSURE_MS = 5_000
/** Touched accounts that are kept; beyond it all reads so far count as touched. */
const TOUCHED_MAX = 100_000

/** @param nowMs Milliseconds of a monotonic clock. */
export function createTouchedBlocks(nowMs: () => number): TouchedBlocks {
  /** The newest block that touched an account. */
  const touchedIn = new Map<bigint, bigint>()
  /** Every announced block above this one is known. */
  let knownFrom = 0n
  let head: bigint | undefined
  let announcedAtMs = -Infinity
  let sureFromMs = Infinity

  const forget = (touched: TouchedAccounts): void => {
    touchedIn.clear()
    knownFrom = touched.head
    sureFromMs = nowMs() + (touched.accounts === undefined ? UNSURE_MS : 0)
  }
  return {
    take(touched) {
      const follows = head !== undefined && touched.first <= head + 1n && touched.head >= head
      if (!follows || touched.accounts === undefined || touchedIn.size > TOUCHED_MAX) {
        forget(touched)
      }
      for (const account of touched.accounts ?? []) touchedIn.set(account, touched.head)
      head = touched.head
      announcedAtMs = nowMs()
    },
    isUntouched({ subaccountId, blockNumber, readAtMs }) {
      if (nowMs() - announcedAtMs >= ANNOUNCED_WITHIN_MS || readAtMs < sureFromMs) return false
      return blockNumber >= knownFrom && (touchedIn.get(subaccountId) ?? 0n) <= blockNumber
    },
  }
}
