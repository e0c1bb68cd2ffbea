import { createHash } from 'node:crypto'

/** The messages of a checkpoint with other texts in its parts, with the trailer that their writer would have written. */
export function resealed(
  messages: readonly Uint8Array[],
  change: (part: string) => string,
): Uint8Array[] {
  const texts = messages.map((message) => Buffer.from(message).toString('utf8'))
  const [line = ''] = (texts.at(-1) ?? '').split('\n')
  const parts = texts.slice(0, -1).map(change)
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  const trailer = `${line}\n${hash.update(line).digest('hex')}`
  return [...parts, trailer].map((text) => Buffer.from(text))
}
