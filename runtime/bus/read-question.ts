import { InvariantBroken } from '../../core/assert.js'
import { MalformedMessage } from '../../core/wire/codec.js'
import type { Logger } from '../process/log.js'
import type { Bus } from './bus.js'

/** What a process answers questions by. */
export interface AnswerParts {
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  readonly log: Pick<Logger, 'warn'>
}

/**
 * What a question says; undefined when it is malformed or of a version that this build does not know, so that no client of
 * the bus can end the process that it asks. `onUnreadable` is told then, and the asker gets NoAnswer unless the caller answers.
 */
export function readQuestion<Question>(
  decode: (data: Uint8Array) => Question,
  data: Uint8Array,
  onUnreadable: (error: unknown) => void,
): Question | undefined {
  try {
    return decode(data)
  } catch (error) {
    const isOfMessage = error instanceof MalformedMessage || error instanceof InvariantBroken
    if (!isOfMessage) throw error
    onUnreadable(error)
    return undefined
  }
}

/** Logs a question that cannot be read. */
export const warnOfUnreadable =
  (log: Pick<Logger, 'warn'>) =>
  (error: unknown): void =>
    log.warn({ err: error }, 'a question cannot be read')
