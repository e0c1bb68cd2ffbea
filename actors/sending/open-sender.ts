import type { JournalOwner } from '../../core/transaction-journal.js'
import { JOURNAL_FILES, openJournalFile } from '../../data/journal/journal-file.js'
import {
  observeJournal,
  openPublishedJournal,
  type PublishedJournal,
} from '../../data/journal/published-journal.js'
import { TRIMMING } from '../../data/journal/trim-journal.js'
import { openDatabase, takeLock } from '../../data/open.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { databasePath } from '../../data/places.js'

export interface SenderOptions extends Pick<
  Parameters<typeof openDatabase>[0],
  'migrations' | 'synchronous'
> {
  readonly owner: JournalOwner
  readonly bus: Bus
  /** Directory of the records and of the journal. */
  readonly dataDir: string
  /** File name of the records; the one with the lock. */
  readonly records: string
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

/** What a process that sends transactions holds for itself alone. */
export interface SenderFiles {
  readonly records: ReturnType<typeof openDatabase>
  readonly published: PublishedJournal
}

/**
 * Opens records and journal for this process alone, after standing by while another sends, and starts what works with them; what
 * was opened is closed when that stops, or when it does not start. Throws AlreadyLocked when another process holds the records,
 * and what the start throws.
 */
export async function openSender<Started extends RunningProcess>(
  { owner, bus, dataDir, records: name, migrations, synchronous, log, onFatal }: SenderOptions,
  start: (files: SenderFiles) => Promise<Started>,
): Promise<Started> {
  const path = databasePath(dataDir, name)
  const lock = takeLock(`${path}.lock`)
  const opened: { close(): unknown }[] = [{ close: () => lock.release() }]
  const closeAll = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) await part.close()
  }
  try {
    const records = openDatabase({ path, migrations, synchronous })
    opened.push(records)
    const db = openJournalFile(databasePath(dataDir, JOURNAL_FILES[owner]), {
      onSetAside: (message) => log.warn(message),
    })
    opened.push(db)
    const facts = observeJournal(log)
    const published = await openPublishedJournal({
      db,
      bus,
      owner,
      facts,
      onFatal,
      trimming: TRIMMING,
    })
    opened.push({ close: () => published.stop() })
    const running = await start({ records, published })
    return {
      ...running,
      stop: async () => {
        await running.stop()
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
