import type Database from 'better-sqlite3'
import { join } from 'node:path'
import { MAX_BATCH_BLOCKS, MAX_BATCH_CHANGES } from '../actors/projector/project.js'
import { decodeBlock } from '../bus-schemas/blocks.js'
import { createProjection, HISTORY_FILE, type StreamedBlock } from '../data/history/project.js'
import { openDatabase } from '../data/open.js'
import { benchMarket } from './bench-market.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { insertRows, projectRowByRow, readRows } from './project-peer.js'
import { interleaved, ratio, took, type Took } from './rounds.js'
import { blocksOf, countChanges, messagesOf } from './walk-blocks.js'
import { createWalk } from './walk.js'

export const project: Bench = {
  name: 'project',
  title:
    'Changes of a feed into SQLite with FULL durability, as the projector writes them, compared with one transaction for each change into a plain table with text keys.',
  versionsOf: ['better-sqlite3'],
  run,
}

const STEPS = { tiny: 400, usual: 12_000, full: 40_000 }
/** The peer gets fewer changes, because it is much slower. */
const PEER_CHANGES = { tiny: 200, usual: 2_000, full: 5_000 }

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const blocks = blocksOf(createWalk(STEPS[size]).settled)
  const changes = countChanges(blocks)
  const batches = batchesOf(blocks)
  const messages = messagesOf(blocks)
  say(`${changes} changes in ${blocks.length} blocks, ${batches.length} batches`)
  let databases = 0
  const path = () => join(dir, `${(databases += 1)}.db`)
  const venue = (synchronous: 'FULL' | 'NORMAL') => () =>
    perSecond(
      changes,
      inDatabase(path(), synchronous, (db) => applyAll(db, batches)),
    )
  const values = await interleaved(rounds, {
    full: venue('FULL'),
    normal: venue('NORMAL'),
    peer: () => projectRowByRow(path(), blocks, PEER_CHANGES[size]),
  })
  const projected = path()
  inDatabase(projected, 'NORMAL', (db) => applyAll(db, batches))()
  const tables = inDatabase(projected, 'NORMAL', readRows)()
  const rebuilds = await interleaved(rounds, {
    rebuild: () =>
      took(inDatabase(path(), 'NORMAL', (db) => applyAll(db, batchesOf(decodeAll(messages))))),
    rows: () =>
      took(
        inDatabase(path(), 'NORMAL', (db) => {
          decodeAll(messages)
          insertRows(db, tables, batches.length)
        }),
      ),
  })
  const cpuOf = (times: readonly Took[]): number[] => times.map(({ cpuMs }) => cpuMs)
  return {
    rows: [
      { what: 'venue, FULL', unit: 'changes/s', values: values.full },
      { what: 'venue, NORMAL as in production', unit: 'changes/s', values: values.normal },
      { what: 'a transaction for each change, FULL', unit: 'changes/s', values: values.peer },
      ratio('venue FULL / a transaction for each', [values.full, values.peer], { atLeast: 14 }),
      {
        what: 'venue: rebuild from the feed, NORMAL',
        unit: 'changes per second of processor time',
        values: rebuilds.rebuild.map(({ cpuMs }) => (changes * 1000) / cpuMs),
      },
      ratio(
        'processor time, rebuild / decoding and inserting the same rows',
        [cpuOf(rebuilds.rebuild), cpuOf(rebuilds.rows)],
        { atMost: 1.5 },
      ),
      {
        what: 'venue: rebuild from the feed, NORMAL',
        unit: 'changes/s',
        values: rebuilds.rebuild.map(({ wallMs }) => (changes * 1000) / wallMs),
      },
    ],
    notes: [
      `Wall time by default, ${changes} changes of a walk with settlements into an empty file, in batches of at most ${MAX_BATCH_BLOCKS} blocks or ${MAX_BATCH_CHANGES} changes. A rebuild decodes the messages as well; its peer decodes them too and inserts the final rows of all tables, without a fold and without the rows that later changes write again.`,
    ],
  }
}

function batchesOf(blocks: readonly StreamedBlock[]): StreamedBlock[][] {
  const batches: StreamedBlock[][] = [[]]
  let changes = 0
  for (const block of blocks) {
    const last = batches.at(-1) ?? []
    last.push(block)
    changes += block.block.changes.length
    if (last.length < MAX_BATCH_BLOCKS && changes < MAX_BATCH_CHANGES) continue
    batches.push([])
    changes = 0
  }
  return batches
}

const decodeAll = (messages: readonly Uint8Array[]): StreamedBlock[] =>
  messages.map((data, index) => ({ streamSeq: index + 1, block: decodeBlock(data) }))

function inDatabase<T>(
  path: string,
  synchronous: 'FULL' | 'NORMAL',
  work: (db: Database.Database) => T,
): () => T {
  return () => {
    const db = openDatabase({ path, ...HISTORY_FILE, synchronous })
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
}

function applyAll(db: Database.Database, batches: readonly StreamedBlock[][]): void {
  const projection = createProjection(db, [benchMarket()])
  for (const batch of batches) if (batch.length > 0) projection.applyBatch(batch)
  const last = batches.flat().at(-1)?.streamSeq ?? 0
  if (projection.position(benchMarket().market).streamSeq !== last) throw new Error('not projected')
}

async function perSecond(changes: number, work: () => void): Promise<number> {
  const { wallMs } = await took(work)
  return (changes * 1000) / wallMs
}
