import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { createProjection } from '../../data/apply-block.js'
import type { ProjectedMarket, StreamedBlock } from '../../data/apply-block.js'
import type { Block } from '../../core/change.js'
import { HISTORY_FILE } from '../../data/history-database.js'
import { openDatabase } from '../../data/open.js'
import { tempDir } from './temp-dir.js'

/** A history database in a directory of its own, with the projection of these markets. */
export function openHistory(markets: readonly ProjectedMarket[]) {
  const dir = tempDir()
  const path = join(dir.path, 'history.db')
  const db = openDatabase({ path, ...HISTORY_FILE })
  return {
    path,
    db,
    projection: createProjection(db, markets),
    remove(): void {
      db.close()
      dir.remove()
    },
  }
}

export type TestHistory = ReturnType<typeof openHistory>

/** The blocks as the messages 1, 2, … of their market's stream. */
export const streamed = (blocks: readonly Block[]): StreamedBlock[] =>
  blocks.map((block, index) => ({ streamSeq: index + 1, block }))

/** Every row of every table, by table. */
export function allRows(db: Database): Record<string, unknown[]> {
  const tables = db
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .pluck()
    .all()
  return Object.fromEntries(
    tables.map((table) => [table, db.prepare(`SELECT * FROM "${table}"`).all()]),
  )
}
