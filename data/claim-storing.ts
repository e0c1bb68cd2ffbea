import type { Database } from 'better-sqlite3'
import { batchOf, prepareClaimWriter, type ClaimThread, type LogPosition } from './claim-writer.js'
import { DiskTrouble, orDiskTrouble } from './disk-trouble.js'
import type { RecentClaims } from './recent-claims.js'

/** So few claims are not worth the way to the thread. */
const FEW_CLAIMS = 64

/** Where the logs are read to, by market. */
export interface RegistryState {
  readonly folded: Map<string, LogPosition>
  stored: ReadonlyMap<string, LogPosition>
  /** Calls of `fold` since the last time that all was stored. */
  folds: number
}

/** Stores claims and positions in one transaction: a position is never ahead of the claims before it. */
export interface ClaimWriter {
  /**
   * Begins to store all that was folded; nothing while a batch is being stored. Throws DiskTrouble, also of the last batch, and
   * nothing is lost.
   */
  store(): void
  /**
   * Writes a row of another table: at once, or when the batch that is being stored is, and after a failure with the next row or
   * batch, at the latest at the end. The last one of a key counts.
   */
  readonly whenFree: (key: string, write: () => void) => void
  /** Resolves when the batch is stored, or cannot be; undefined when none is on its way. */
  running(): Promise<void> | undefined
  /** Stores what is left; only while none is on its way. Throws DiskTrouble. */
  storeRest(): void
}

interface StoringParts {
  readonly recent: RecentClaims
  readonly state: RegistryState
  readonly thread: ClaimThread | undefined
}

export function prepareStoring(db: Database, { recent, state, thread }: StoringParts): ClaimWriter {
  const write = orDiskTrouble(prepareClaimWriter(db))
  const waiting = new Map<string, () => void>()
  let running: Promise<void> | undefined
  let failure: DiskTrouble | undefined

  const next = () => {
    const { length: count } = recent.landed()
    const positions = new Map(state.folded)
    const stored = (): void => {
      recent.moved(count)
      state.stored = positions
      state.folds = 0
    }
    return { batch: batchOf(recent.landed(), positions), stored }
  }
  const storeHere = (): void => {
    const { batch, stored } = next()
    write(batch)
    stored()
  }
  /** A row that could not be written goes on waiting. */
  const writeRows = orDiskTrouble((): void => {
    for (const [key, writeRow] of waiting) {
      writeRow()
      waiting.delete(key)
    }
  })
  const storeThere = async (to: ClaimThread): Promise<void> => {
    const { batch, stored } = next()
    try {
      await to.write(batch)
      stored()
      writeRows()
    } catch (error) {
      if (!(error instanceof DiskTrouble)) throw error
      failure = error
    }
    running = undefined
  }
  return {
    store() {
      if (running !== undefined) return
      if (failure !== undefined) {
        const last = failure
        failure = undefined
        throw last
      }
      if (thread === undefined || recent.landed().length < FEW_CLAIMS) storeHere()
      else running = storeThere(thread)
    },
    whenFree(key, writeRow) {
      waiting.set(key, writeRow)
      if (running !== undefined) return
      try {
        writeRows()
      } catch (error) {
        if (!(error instanceof DiskTrouble)) throw error
      }
    },
    running: () => running,
    storeRest() {
      storeHere()
      writeRows()
    },
  }
}
