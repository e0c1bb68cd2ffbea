import type { Actor } from '../../../runtime/actor/leadership.js'
import type { MemoryBus } from '../../../runtime/bus/memory-bus.js'

export const SILENCE_MS = 100
export const STREAM = 'TOY'
export const SUBJECT = 'toy'

export const declareToy = (bus: MemoryBus): Promise<void> =>
  bus.declareStream({ stream: STREAM, subject: SUBJECT, description: 'log of a toy' })

/** A message of the toy: `term <n> <who>` begins a term, anything else is an entry. */
export const termMessage = (term: number, id: string): Uint8Array =>
  Buffer.from(`term ${term} ${id}`)

export function termIn(data: Uint8Array): number | undefined {
  const [, term] = /^term (\d+) /.exec(Buffer.from(data).toString()) ?? []
  return term === undefined ? undefined : Number(term)
}

/** A copy of the toy's process. */
export const aCopy = (bus: Actor['bus'], id: string): Actor => ({
  bus,
  id,
  name: 'toy',
  stream: STREAM,
  subject: SUBJECT,
  termOf: termIn,
  onUnknown: () => undefined,
  silenceMs: SILENCE_MS,
})
