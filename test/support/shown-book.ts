import { bookRecordJson } from '../../core/records/order-record.js'
import type { BookRecord } from '../../interface/order.js'

/** The book that the venue shows, read again. */
export const shownBook = (...args: Parameters<typeof bookRecordJson>) =>
  JSON.parse(bookRecordJson(...args)) as BookRecord
