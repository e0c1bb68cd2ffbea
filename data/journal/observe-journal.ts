import type { Logger } from '../../runtime/process/log.js'
import type { JournalFacts } from './published-journal.js'

/** One log line for each fact of a journal on the bus. */
export function observeJournal(log: Logger): JournalFacts {
  return {
    standingBy: (writer) => log.info({ writer }, 'standing by: another process sends'),
    leads: (term, folded) => log.info({ term, folded }, 'sends from now on'),
    journalDiscarded: () =>
      log.warn('the journal has entries that its stream lacks; rebuilding it from the stream'),
    journalUnclear: (error) => log.warn({ err: error }, 'append to the journal unclear'),
    versionRaised: (message) => log.warn(message),
  }
}
