import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { createProjection, type ProjectedMarket, type Projection } from './apply-block.js'
import { HISTORY_FILE, historyPath } from './history-database.js'
import { openDatabase } from './open.js'

/** A read model of its own in a temporary directory, empty, for whoever wants to fold the feeds once more. */
export interface ScratchHistory {
  readonly db: Database
  readonly projection: Projection
  /** Closes it and removes its files. */
  remove(): void
}

export function openScratchHistory(markets: readonly ProjectedMarket[]): ScratchHistory {
  const directory = mkdtempSync(join(tmpdir(), 'venue-scratch-'))
  const path = historyPath(directory)
  const db = openDatabase({ path, ...HISTORY_FILE })
  return {
    db,
    projection: createProjection(db, markets),
    remove: () => {
      db.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
