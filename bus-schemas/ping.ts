import { z } from 'zod'
import { WIRE_VERSION, decodeMessage, encodeMessage, wholeNumber } from './wire.js'

/** A process's answer on `ask.ping.<process>`. */
export interface PingAnswer {
  readonly process: string
  /** Whether it does its work now; false while it replays or waits for something it needs. */
  readonly ready: boolean
  /** What it is waiting for, or a few words on how it is. */
  readonly detail: string
  /** Where it stands, by name, for example `{ command_seq: 17, feed_seq: 40 }`. */
  readonly positions: Readonly<Record<string, number>>
}

const pingMessage = z.strictObject({
  v: z.literal(WIRE_VERSION),
  process: z.string(),
  ready: z.boolean(),
  detail: z.string(),
  positions: z.record(z.string(), wholeNumber),
})

export function encodePingAnswer(answer: PingAnswer): Uint8Array {
  const { process, ready, detail, positions } = answer
  return encodeMessage({ process, ready, detail, positions })
}

/** Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodePingAnswer(data: Uint8Array): PingAnswer {
  const { process, ready, detail, positions } = decodeMessage('ping answer', pingMessage, data)
  return { process, ready, detail, positions }
}
