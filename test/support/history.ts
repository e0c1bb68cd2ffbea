import type { Database } from 'better-sqlite3'
import { join } from 'node:path'
import type { Block } from '../../core/model/change.js'
import { createProjection, HISTORY_FILE, type StreamedBlock } from '../../data/history/project.js'
import type { ProjectedMarket } from '../../data/history/write-change.js'
import { openDatabase } from '../../data/open.js'
import { tempDir } from './temp-dir.js'

/** A market is a spot market unless it says otherwise. */
type HistoryMarket = Pick<ProjectedMarket, 'market' | 'ordinal'> & Partial<ProjectedMarket>

/** A history database in a directory of its own, with the projection of these markets. */
export function openHistory(
  markets: readonly HistoryMarket[],
  contractType: ProjectedMarket['contractType'] = 'spot',
) {
  const dir = tempDir()
  const path = join(dir.path, 'history.db')
  const db = openDatabase({ path, ...HISTORY_FILE })
  return {
    path,
    db,
    projection: createProjection(
      db,
      markets.map((market) => projectedSpot({ contractType, ...market })),
    ),
    remove(): void {
      db.close()
      dir.remove()
    },
  }
}

/** A spot market as the projection knows it. */
export const projectedSpot = (market: HistoryMarket): ProjectedMarket => ({
  contractType: 'spot',
  takerFeeBps: 25,
  ...market,
})

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
