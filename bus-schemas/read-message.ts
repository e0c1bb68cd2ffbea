import { type Lines, openFrame } from './frame.js'
import { MalformedMessage, assertKnownVersion } from './wire.js'

/**
 * Reads a message on the way of an order: its reader is given the fields of its head and the lines behind it, takes all
 * of both and throws MalformedMessage where one of them does not fit. Throws as decodeMessage.
 */
export function readMessage<T>(
  name: string,
  read: (head: object, lines: Lines) => T,
  data: Uint8Array,
): T {
  try {
    const frame = openFrame(data)
    const head = parsed(frame.head)
    assertKnownVersion(name, head)
    const message = read(head, frame.lines)
    frame.assertTaken()
    return message
  } catch (cause) {
    if (!(cause instanceof MalformedMessage)) throw cause
    throw new MalformedMessage(`${name}: ${cause.message}`, { cause })
  }
}

function parsed(head: string): unknown {
  try {
    return JSON.parse(head)
  } catch (cause) {
    throw new MalformedMessage('not JSON in UTF-8', { cause })
  }
}
