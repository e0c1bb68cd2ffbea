import Sqlite from 'better-sqlite3'
import {
  takeTerm,
  untilSilent,
  Fenced,
  type LeadershipTerm,
} from '../../../runtime/actor/leadership.js'
import { appendFenced } from '../../../runtime/bus/append-fenced.js'
import type { Bus, BusMessage } from '../../../runtime/bus/bus.js'
import { aCopy, termIn, termMessage } from './toy-stream.js'

/** A whole actor: its log, its fold, its projection in SQLite, its lead and its standby. It adds amounts up. */

export const ASK_ADD = 'ask.toy.add'
/** Where a step of it is not finished. */
export type ToyPoint = 'before_append' | 'after_append' | 'after_fold'
export const TOY_POINTS: readonly ToyPoint[] = ['before_append', 'after_append', 'after_fold']

export interface ToyOptions {
  readonly bus: Bus
  /** Of the projection; it may be deleted. */
  readonly path: string
  readonly id: string
  /** Called between the steps; what it throws ends the process. */
  readonly pass: (point: ToyPoint) => void
  readonly onFatal: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Rows written in one transaction with the position. Nothing else writes them. */
export function openProjection(path: string) {
  const db = new Sqlite(path)
  db.exec(`CREATE TABLE IF NOT EXISTS added (id TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS place (one INTEGER PRIMARY KEY, seq INTEGER NOT NULL, term INTEGER NOT NULL) STRICT;
    INSERT OR IGNORE INTO place VALUES (1, 0, 0)`)
  const place = db.prepare<[], { seq: number; term: number }>('SELECT seq, term FROM place')
  const add = db.prepare<[string, number]>('INSERT INTO added VALUES (?, ?)')
  const move = db.prepare<[number, number]>('UPDATE place SET seq = ?, term = max(term, ?)')
  const rows = db.prepare<[], { id: string; amount: number }>('SELECT * FROM added ORDER BY id')
  const known = db.prepare<[string], number>('SELECT 1 FROM added WHERE id = ?').pluck()
  return {
    place: () => place.get() ?? { seq: 0, term: 0 },
    has: (id: string) => known.get(id) !== undefined,
    rows: () => rows.all(),
    /** The fold: a repeated entry adds nothing. */
    fold: db.transaction((messages: readonly Pick<BusMessage, 'seq' | 'data'>[]) => {
      for (const { seq, data } of messages) {
        const term = termIn(data)
        const [id = '', amount = ''] = Buffer.from(data).toString().split(' ')
        if (term === undefined && known.get(id) === undefined) add.run(id, Number(amount))
        move.run(seq, term ?? 0)
      }
    }),
    close: () => db.close(),
  }
}

/** Follows while another copy leads, then leads: each question is answered when its entry is in log and projection. */
export async function runToy({ bus, path, id, pass, onFatal, signal }: ToyOptions) {
  const projection = openProjection(path)
  const actor = aCopy(bus, id)
  const { stream, subject, onUnknown } = actor
  const catchUp = async (): Promise<boolean> => {
    for (;;) {
      const read = await bus.read(stream, projection.place().seq + 1, 100)
      if (read.length === 0) return true
      projection.fold(read)
    }
  }
  const lead = async (): Promise<LeadershipTerm | undefined> => {
    await untilSilent(actor, { mustLast: false, meanwhile: catchUp, signal })
    await catchUp()
    const { seq: lastSeq, term: before } = projection.place()
    const message = termMessage(before + 1, id)
    try {
      return await takeTerm(actor, { term: before + 1, lastSeq, message, onFenced: onFatal })
    } catch (error) {
      if (!(error instanceof Fenced)) throw error
      return undefined
    }
  }
  let leading = await lead()
  while (leading === undefined) leading = await lead()
  projection.fold([{ seq: leading.firstSeq, data: termMessage(leading.term, id) }])
  leading.writes(() => projection.place().seq)
  const add = async (data: Uint8Array, replyTo: string): Promise<void> => {
    const [entry = ''] = Buffer.from(data).toString().split(' ')
    if (!projection.has(entry)) {
      pass('before_append')
      const end = projection.place().seq
      const seq = await appendFenced({ bus, stream, subject, onUnknown }, data, end)
      pass('after_append')
      projection.fold([{ seq, data }])
    }
    pass('after_fold')
    bus.reply(replyTo, data)
  }
  let last = Promise.resolve()
  await bus.answer(ASK_ADD, id, (data, replyTo) => {
    last = last.then(() => add(data, replyTo))
    last.catch(onFatal)
  })
  return { term: leading.term, projection }
}
