import { decodeJournal } from '../../bus-schemas/journal.js'
import type { SnapshotPart, SnapshotRow, StreamPlace } from '../../core/transaction-journal.js'
import { MessagesGone, type Bus } from '../../runtime/bus/bus.js'
import { JournalDiverged, type FoldedFile } from './journal-file.js'

/** Messages of one read: parts of a snapshot are long. */
const READ_AT_ONCE = 16

/**
 * Puts what the stream's snapshot holds in the place of the file's rows: the messages before it, which the file lacks, are gone. The
 * file is as before where the stream was trimmed again meanwhile: the caller looks again. Throws JournalDiverged where the stream
 * begins behind no snapshot.
 */
export async function rebuildFile(
  bus: Pick<Bus, 'streamState' | 'read'>,
  stream: string,
  file: FoldedFile,
): Promise<void> {
  const { firstSeq } = await bus.streamState(stream)
  if (firstSeq <= file.place().lastSeq + 1) return
  const parts = partsBehind(bus, stream, firstSeq)
  try {
    const { value: first } = await parts.next()
    if (first !== undefined) await file.rebuild(rowsOf(first, parts), first.place)
  } catch (error) {
    if (!(error instanceof MessagesGone)) throw error
  } finally {
    await parts.return(undefined)
  }
}

/** The place of the snapshot behind which the stream begins, if it is that of this message; else undefined. */
export async function placeBefore(
  bus: Pick<Bus, 'streamState' | 'read'>,
  stream: string,
  seq: number,
): Promise<StreamPlace | undefined> {
  const { firstSeq } = await bus.streamState(stream)
  if (seq !== firstSeq - 1) return undefined
  const parts = partsBehind(bus, stream, firstSeq)
  try {
    return (await parts.next()).value?.place
  } catch (error) {
    // Without a snapshot: the file may have all that is gone.
    if (!(error instanceof JournalDiverged)) throw error
    return undefined
  } finally {
    await parts.return(undefined)
  }
}

const noSnapshot = (stream: string, firstSeq: number): JournalDiverged =>
  new JournalDiverged(
    `${stream} begins with message ${firstSeq} and holds no whole snapshot of what came before: restore the stream`,
  )

/** The read's messages; undefined where they are trimmed. */
export async function orGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof MessagesGone) return undefined
    throw error
  }
}

async function* rowsOf(
  first: SnapshotPart,
  others: AsyncIterable<SnapshotPart>,
): AsyncGenerator<SnapshotRow> {
  yield* first.rows
  for await (const { rows } of others) yield* rows
}

/** The parts of the snapshot behind which the stream begins. Throws JournalDiverged unless it is whole. */
async function* partsBehind(
  bus: Pick<Bus, 'read'>,
  stream: string,
  firstSeq: number,
): AsyncGenerator<SnapshotPart, undefined> {
  let no = 0
  for (let from = firstSeq; ;) {
    const read = await bus.read(stream, from, READ_AT_ONCE)
    if (read.length === 0) throw noSnapshot(stream, firstSeq)
    for (const { data } of read) {
      const { snapshot } = decodeJournal(data)
      if (snapshot?.place.lastSeq !== firstSeq - 1) continue
      if (snapshot.no !== no + 1) throw noSnapshot(stream, firstSeq)
      no = snapshot.no
      yield snapshot
      if (snapshot.isLast) return undefined
    }
    from += read.length
  }
}
